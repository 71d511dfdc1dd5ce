package present_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

// words highlights every other word.
func words(code, _ string) (tokens []sayso.Token) {
	for i, w := range strings.SplitAfter(code, " ") {
		tokens = append(tokens, sayso.Token{Class: []sayso.Class{sayso.ClassKeyword, ""}[i%2], Text: w})
	}
	return tokens
}

var ownSequence = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33|34|35|36)m")

func TestVW1_presentations(t *testing.T) {
	edit := present.Diff("/w/a.go", "one\ntwo\n", "one\n2\n")
	file := present.Noted(present.File("a.go", "x := 1\n"), "a new file")
	command := present.Command("sudo rm x", "/w",
		sayso.Mark{From: 0, To: 4, Kind: sayso.MarkWrapper}, sayso.Mark{From: 5, To: 7, Kind: sayso.MarkProgram, Text: "rm x, run by sudo"})
	for _, tt := range []struct {
		name  string
		p     sayso.Presentation
		plain string
		color string
	}{
		{"diff", edit, `
the change:
  shown by   agent
  path       /w/a.go
  | --- a/w/a.go
  | +++ b/w/a.go
  | @@ -1,2 +1,2 @@
  |  one
  | -two
  | +2
`, "\x1b[32m  | +2\x1b[0m\n"},
		{"file", file, `
the file:
  shown by   agent
  path       a.go
  note       a new file
  | x := 1
`, "  | \x1b[35mx \x1b[0m:= \x1b[35m1\x1b[0m\n"},
		{"command", command, `
the command:
  shown by   agent
  | sudo rm x
  - program: rm x, run by sudo
`, "  | \x1b[35msudo\x1b[0m \x1b[1mrm\x1b[0m x\n"},
		{"text", present.PlainText("hi\nthere"), `
shown as text:
  shown by   agent
  | hi
  | there
`, "  | hi\n"},
		{"data", present.Structured([]byte(`{"a":1}`)), `
the data:
  shown by   agent
  | {
  |   "a": 1
  | }
`, "  | \x1b[35m}\x1b[0m"[:4]},
		{"only a note", present.Noted(sayso.Presentation{Type: sayso.PresentDiff}, "why"), `
the change:
  shown by   agent
  note       why
`, "why"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := present.View{Cwd: "/w", Presentation: &tt.p, ShownBy: "agent"}
			text, whole := present.Draw(v, present.Style{})
			want := "a call waits for an answer\n" + tt.plain + "\n  directory  /w\n"
			if diff := cmp.Diff(want, text); diff != "" || !whole {
				t.Errorf("whole %v (-want +got):\n%s", whole, diff)
			}
			colored, _ := present.Draw(v, present.Style{Color: true, Highlight: words})
			if !strings.Contains(colored, tt.color) {
				t.Errorf("no %q in\n%q", tt.color, colored)
			}
			if plain := ownSequence.ReplaceAllString(colored, ""); plain != text {
				t.Errorf("without colours (-plain +colored):\n%s", cmp.Diff(text, plain))
			}
		})
	}
}

// A highlighter that makes another text of the code is not believed.
func TestVW1_highlightersAreNotBelieved(t *testing.T) {
	p := present.File("a.go", "rm -rf /\n")
	for _, lie := range []string{"ls\n", "", "rm -rf /", "rm -rf /\nx", "\x1b[2J"} {
		got, _ := present.Draw(present.View{Presentation: &p}, present.Style{Color: true, Highlight: func(string, string) []sayso.Token {
			return []sayso.Token{{Class: sayso.ClassKeyword, Text: lie}}
		}})
		if !strings.Contains(ownSequence.ReplaceAllString(got, ""), "  | rm -rf /\n") {
			t.Errorf("%q: %q", lie, got)
		}
	}
}

// What a highlighter sees is safe already.
func TestVW2_highlightersSeeSafeText(t *testing.T) {
	p := present.File("a.go", "a\x1b[2J\u202eb\r\n")
	present.Draw(present.View{Presentation: &p}, present.Style{Color: true, Highlight: func(code, _ string) []sayso.Token {
		if code != `a\x1b[2J\u{202e}b\r` {
			t.Errorf("got %q", code)
		}
		return nil
	}})
}

func TestVW3_tooLittleRoom(t *testing.T) {
	var content strings.Builder
	for i := range 100 {
		fmt.Fprintf(&content, "line %d\n", i)
	}
	p := present.File("a.txt", content.String())
	v := present.View{Presentation: &p, Preview: []byte(`{"command":"a\nb"}`), Tool: "bash"}
	whole, all := present.Draw(v, present.Style{})
	if n := strings.Count(whole, "\n"); !all || n < 105 {
		t.Fatalf("%d lines, whole %v", n, all)
	}
	if text, all := present.Draw(v, present.Style{Lines: 200}); text != whole || !all {
		t.Errorf("with room for all, whole %v:\n%s", all, text)
	}
	text, all := present.Draw(v, present.Style{Lines: 24})
	want := `a call waits for an answer

the file:
  path       a.txt
  | line 0
  | line 1
  | line 2
  | line 3
  | line 4
  | line 5
  | line 6
  | line 7
  | line 8
  … 89 lines left out
  | line 98
  | line 99

arguments:
  command:
  | a
  | b

  tool       bash
`
	if diff := cmp.Diff(want, text); diff != "" || all {
		t.Errorf("whole %v (-want +got):\n%s", all, diff)
	}
	text, all = present.Draw(v, present.Style{Lines: 5})
	if want := "a call waits for an answer\n\nthe file:\n  path       a.txt\n… 10 more lines\n"; text != want || all {
		t.Errorf("whole %v, got\n%s", all, text)
	}
}

// FuzzDraw: whatever the texts, the width and the room, every line begins with
// words of ours or a bar, no sequence but ours gets through, every colour ends on
// its line, and no line is wider than there is room.
func FuzzDraw(f *testing.F) {
	f.Add("git push", "harmless\nhidden:", 80, 10, 0, 3)
	f.Add("\x1b[2J\rallow \u202e", "| x", 10, 0, 1, 2)
	f.Add(strings.Repeat("long ", 60), strings.Repeat("\n", 40), 30, 7, 2, 60)
	f.Add("a\tb\tc 界界界 +\n-\n@@", "  tool  x", 33, 3, 0, 1)
	f.Fuzz(func(t *testing.T, a, b string, columns, lines, from, to int) {
		p := present.Command(a, b, sayso.Mark{From: from, To: to, Kind: sayso.MarkProgram, Text: b}, sayso.Mark{From: 0, To: len(a), Kind: "x", Text: a})
		q := present.Noted(present.Diff(b, a, b), a)
		r := present.File(b+".go", a)
		for _, p := range []*sayso.Presentation{&p, &q, &r} {
			v := present.View{
				Tool: a, Cwd: b, Description: b, Said: map[string]string{"note": a}, Presentation: p, ShownBy: a,
				Warnings: []sayso.Warning{{Kind: "bidi", Path: b, Text: a}}, Redactions: []sayso.Redaction{{Path: a, Key: b, Length: 3}},
			}
			s := present.Style{Columns: columns % 200, Lines: lines % 60, Color: true, Highlight: words}
			text, whole := present.Draw(v, s)
			checkDrawn(t, text, max(columns%200, 32))
			if s.Lines > 2 && strings.Count(text, "\n") > s.Lines {
				t.Fatalf("%d lines where there is room for %d:\n%s", strings.Count(text, "\n"), s.Lines, text)
			}
			if all, _ := present.Draw(v, present.Style{Columns: s.Columns, Color: true, Highlight: words}); whole != (all == text) {
				t.Fatalf("whole is %v, of\n%s\nand this is drawn:\n%s", whole, all, text)
			}
		}
	})
}

// wide is how many runes of a text take a column: those that are put on others,
// or are never drawn, take none.
func wide(text string) (n int) {
	for _, r := range text {
		if !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			n++
		}
	}
	return n
}

func checkDrawn(t *testing.T, text string, columns int) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		open := false
		for _, seq := range ownSequence.FindAllString(line, -1) {
			open = seq != "\x1b[0m"
		}
		plain := ownSequence.ReplaceAllString(line, "")
		if open {
			t.Fatalf("a colour reaches over the end of %q", line)
		}
		if !ours(plain) {
			t.Fatalf("a line that is not ours begins at the edge: %q in\n%s", plain, text)
		}
		if columns > 0 && wide(plain) > max(columns, 80) && columns >= 32 {
			t.Fatalf("%q is wider than %d", plain, columns)
		}
		for _, r := range plain {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("raw %U in\n%q", r, text)
			}
		}
	}
}
