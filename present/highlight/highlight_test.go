package highlight_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
	"github.com/sayso-dev/sayso/present/highlight"
)

func TestCode(t *testing.T) {
	for _, tt := range []struct {
		language, code string
		want           []sayso.Token
	}{
		{"go", "func f() int { return 1 } // one\n", []sayso.Token{
			{Class: "keyword", Text: "func"}, {Text: " "}, {Class: "function", Text: "f"}, {Text: "() "}, {Class: "type", Text: "int"}, {Text: " { "},
			{Class: "keyword", Text: "return"}, {Text: " "}, {Class: "number", Text: "1"}, {Text: " } "}, {Class: "comment", Text: "// one"}, {Text: "\n"},
		}},
		{"json", `{"a": "b"}`, []sayso.Token{
			{Text: "{"}, {Class: "tag", Text: `"a"`}, {Text: ": "}, {Class: "string", Text: `"b"`}, {Text: "}"},
		}},
		{"bash", "echo $X # hi", []sayso.Token{
			{Class: "name", Text: "echo"}, {Text: " "}, {Class: "variable", Text: "$X"}, {Text: " "}, {Class: "comment", Text: "# hi"},
		}},
		{"no such language", "func f()", []sayso.Token{{Text: "func f()"}}},
		{"", "func f()", []sayso.Token{{Text: "func f()"}}},
		{"*", "func f()", []sayso.Token{{Text: "func f()"}}},
		{"go", "", nil},
	} {
		if diff := cmp.Diff(tt.want, eventually(tt.code, tt.language)); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", tt.language, tt.code, diff)
		}
	}
}

// eventually is Code, tried again where this machine had no time for it.
func eventually(code, language string) (tokens []sayso.Token) {
	for range 20 {
		if tokens = highlight.Code(code, language); len(tokens) > 1 {
			break
		}
	}
	return tokens
}

func TestDiff(t *testing.T) {
	shown := "--- a/f.sql\n+++ b/f.sql\n@@ -1,3 +1,3 @@\n a\n--- b\n+++ c\n+d\n"
	want := []sayso.Token{
		{Class: "heading", Text: "--- a/f.sql\n+++ b/f.sql\n"}, {Class: "place", Text: "@@ -1,3 +1,3 @@\n"}, {Text: " a\n"},
		{Class: "removed", Text: "--- b\n"}, {Class: "added", Text: "+++ c\n+d\n"},
	}
	got := highlight.Presentation(sayso.Presentation{Type: sayso.PresentDiff, Content: shown})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Tokens are pairs of class and text, whatever the text holds.
func TestTokensAreNoMarkup(t *testing.T) {
	got, err := jcs.Marshal(eventually("x = \"<b>\"\n", "python"))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"text":"x "},{"class":"operator","text":"="},{"text":" "},{"class":"string","text":"\"<b>\""},{"text":"\n"}]`
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The languages that present names are known.
func TestLanguages(t *testing.T) {
	for _, name := range []string{
		"a.go", "a.py", "a.js", "a.ts", "a.tsx", "a.jsx", "a.rs", "a.c", "a.cpp", "a.java", "a.kt", "a.rb", "a.php", "a.sh", "a.sql",
		"a.json", "a.yaml", "a.toml", "a.md", "a.html", "a.css", "a.svelte", "a.vue", "a.xml", "a.tf", "a.lua", "a.swift", "a.cs",
		"a.proto", "a.ps1", "a.ini", "a.patch", "a.scss", "Dockerfile", "Makefile",
	} {
		p := present.File(name, "")
		if !highlight.Known(p.Language) {
			t.Errorf("%s: nothing knows the language %q", name, p.Language)
		}
	}
}

// What is too long, and what takes too long, is plain.
func TestCode_isBounded(t *testing.T) {
	for name, code := range map[string]struct{ language, text string }{
		"long":       {"go", strings.Repeat("x := 1\n", highlight.MaxBytes/6)},
		"brackets":   {"markdown", strings.Repeat("[", highlight.MaxBytes)},
		"stars":      {"markdown", strings.Repeat("*a ", highlight.MaxBytes/3)},
		"quotes":     {"python", strings.Repeat(`"'`, highlight.MaxBytes/2)},
		"tags":       {"html", strings.Repeat("<a", highlight.MaxBytes/2)},
		"heredocs":   {"bash", strings.Repeat("<<A ", highlight.MaxBytes/4)},
		"one string": {"go", `"` + strings.Repeat(`\`, highlight.MaxBytes-2) + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			got := highlight.Code(code.text, code.language)
			if took := time.Since(begin); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
			if together(got) != code.text {
				t.Error("the tokens are not the text")
			}
			if name == "long" && len(got) != 1 {
				t.Errorf("%d tokens of a text that is too long", len(got))
			}
		})
	}
}

func together(tokens []sayso.Token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.Text)
	}
	return b.String()
}

// FuzzCode: whatever the code and its language, tokens put together are the safe
// text, none is empty, and no two neighbours could have been one.
func FuzzCode(f *testing.F) {
	languages := []string{"go", "python", "bash", "markdown", "html", "yaml", "php", "diff", "svelte", "json", "sql", "css", "rust", "toml", "none"}
	for i := range languages {
		f.Add(byte(i), fmt.Sprintf("a\x1b[%dm = \"b\" # \u202ec\r\n\t<x>\n", i))
	}
	f.Add(byte(0), "\xff\x00`unclosed")
	f.Add(byte(4), "<script>let a = `${'</script>'}`")
	f.Fuzz(func(t *testing.T, n byte, code string) {
		language := languages[int(n)%len(languages)]
		shown, _ := present.Safe(code)
		for _, got := range [][]sayso.Token{highlight.Code(shown, language), highlight.Diff(shown)} {
			if s := together(got); s != shown {
				t.Fatalf("%q as %q became %q", shown, language, s)
			}
			for i, token := range got {
				if token.Text == "" || i > 0 && got[i-1].Class == token.Class {
					t.Fatalf("token %d of %q", i, got)
				}
			}
		}
	})
}
