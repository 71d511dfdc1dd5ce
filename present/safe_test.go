package present_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

type kinds []sayso.WarningKind

func TestVW2_safe(t *testing.T) {
	blanks := strings.Repeat(" ", 200)
	tests := []struct {
		name, in, want string
		kinds          kinds
	}{
		{"colour", "a\x1b[31mred", `a\x1b[31mred`, kinds{"control"}},
		{"window title", "\x1b]0;ok\x07ls", `\x1b]0;ok\x07ls`, kinds{"control"}},
		{"backspace", "rm\b\bls", `rm\x08\x08ls`, kinds{"control"}},
		{"nul and delete", "a\x00b\x7f", `a\x00b\x7f`, kinds{"control"}},
		{"eight-bit control", "a\u009b31m", `a\x9b31m`, kinds{"control"}},
		{"next line", "a\u0085b", `a\x85b`, kinds{"control"}},
		{"stray byte", "a\xffb", `a\xffb`, kinds{"control"}},
		{"return redraws the line", "rm -rf /\rls", `rm -rf /\rls`, kinds{"control"}},
		{"lines of another system", "a\r\nb", "a\\r\nb", kinds{"control"}},
		{"override", "a\u202egnp.sh", `a\u{202e}gnp.sh`, kinds{"bidi"}},
		{"isolate", "a\u2066b\u2069", `a\u{2066}b\u{2069}`, kinds{"bidi"}},
		{"marks of direction", "\u200ea\u200fb\u061c", `\u{200e}a\u{200f}b\u{61c}`, kinds{"bidi"}},
		{"zero width", "r\u200bm", `r\u{200b}m`, kinds{"invisible"}},
		{"joiners among letters", "r\u200cm\u200d", `r\u{200c}m\u{200d}`, kinds{"invisible"}},
		{"byte order mark", "\ufeffls", `\u{feff}ls`, kinds{"invisible"}},
		{"soft hyphen", "r\u00adm", `r\u{ad}m`, kinds{"invisible"}},
		{"word joiner", "a\u2060b\u2064", `a\u{2060}b\u{2064}`, kinds{"invisible"}},
		{"fillers", "a\u3164b\u115f\uffa0", `a\u{3164}b\u{115f}\u{ffa0}`, kinds{"invisible"}},
		{"tags", "hi\U000e0072\U000e006d", `hi\u{e0072}\u{e006d}`, kinds{"invisible"}},
		{"selectors carry bytes", "a\ufe01\U000e0101", `a\u{fe01}\u{e0101}`, kinds{"invisible"}},
		{"selector on a letter", "a\ufe0f", `a\u{fe0f}`, kinds{"invisible"}},
		{"two selectors on a sign", "❤\ufe0f\ufe0f", "❤\ufe0f\\u{fe0f}", kinds{"invisible"}},
		{"pile of marks", "a" + strings.Repeat("\u0301", 8), "a" + strings.Repeat("\u0301", 6) + `\u{301}\u{301}`, kinds{"invisible"}},
		{"unbreakable blank", "ls\u00a0-la", `ls\u{a0}-la`, kinds{"whitespace"}},
		{"wide blank", "rm\u3000x", `rm\u{3000}x`, kinds{"whitespace"}},
		{"thin blanks", "a\u2003b\u200ac\u205fd\u1680e", `a\u{2003}b\u{200a}c\u{205f}d\u{1680}e`, kinds{"whitespace"}},
		{"line separator", "a\u2028b", `a\u{2028}b`, kinds{"whitespace"}},
		{"braille blank", "rm\u2800x", `rm\u{2800}x`, kinds{"whitespace"}},
		{"Cyrillic in a Latin word", "\u0441url x", "\u0441url x", kinds{"confusable"}},
		{"Greek in a Latin word", "g\u03bf\u03bfgle.com", "g\u03bf\u03bfgle.com", kinds{"confusable"}},
		{"all of a name in another script", "https://\u0430\u0440\u0440\u04cf\u0435.com/", "https://\u0430\u0440\u0440\u04cf\u0435.com/", kinds{"confusable"}},
		{"command in another script", "\u0441\u0440 a b", "\u0441\u0440 a b", kinds{"confusable"}},
		{"wide letters", "ｒｍ -rf x", "ｒｍ -rf x", kinds{"confusable"}},
		{"mathematical letters", "𝐫𝐦 x", "𝐫𝐦 x", kinds{"confusable"}},
		{"phonetic letter", "\u0261it push", "\u0261it push", kinds{"confusable"}},
		{"blanks before all", strings.Repeat(" ", 50) + "rm", " [50 blanks left out] rm", kinds{"padding"}},
		{"slash that is none", "github.com\u2044x", "github.com\u2044x", kinds{"confusable"}},
		{"blanks push text away", "ls" + blanks + "; rm -rf /", "ls [200 blanks left out] ; rm -rf /", kinds{"padding"}},
		{"tabs push text away", "ls" + strings.Repeat("\t", 30) + "; rm", "ls [240 blanks left out] ; rm", kinds{"padding"}},
		{"lines push text away", "ls" + strings.Repeat("\n", 60) + "rm", "ls\n[59 empty lines left out]\nrm", kinds{"padding"}},
		{"lines of blanks", "ls" + strings.Repeat("  \n", 60) + "rm", "ls\n[59 empty lines left out]\nrm", kinds{"padding"}},
		{"blanks at the end", "ls" + blanks + "\nrm", "ls [200 blanks left out] \nrm", kinds{"padding"}},
		{"script", "hi <script>alert(1)</script>", "hi <script>alert(1)</script>", kinds{"markup"}},
		{"image", `<img src=x onerror="x">`, `<img src=x onerror="x">`, kinds{"markup"}},
		{"script address", "[ok](javascript:alert(1))", "[ok](javascript:alert(1))", kinds{"markup"}},
		{"loaded image", "![x](https://evil.example/?q=1)", "![x](https://evil.example/?q=1)", kinds{"markup"}},
		{"two kinds", "\x1b[2J\u202e", `\x1b[2J\u{202e}`, kinds{"control", "bidi"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ks := present.Safe(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.kinds, kinds(ks)); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
			if again, _ := present.Safe(got); again != got {
				t.Errorf("made safe again it is %q", again)
			}
		})
	}
}

func TestVW2_ordinaryTextIsNotWarnedAbout(t *testing.T) {
	tests := []string{
		"", "ls -la | grep x > out\n\tindented\n", "git commit -m \"don't\" && make -j8",
		"Привет, мир! Добавил тест в README.md", "обновить Makefile и go.mod", "commit: добавил тест для API",
		"Γειά σου Κόσμε", "α + β = γ, Δx = 3 kΩ, 5 µs, 5 μm, π·r²",
		"שלום עולם", "مرحبا بالعالم", "می\u200cخواهم", "नमस्ते दुनिया", "क्\u200dष", "ශ්\u200dරී ලංකා", "สวัสดีชาวโลก", "வணக்கம்",
		"你好，世界。这是一个测试", "こんにちは　世界", "Tシャツを買う", "안녕하세요 세계", "Webアプリ",
		"naïve café, Ærøskøbing, İstanbul ışık, Việt Nam, Đà Nẵng", "décomposé: e\u0301a\u0300",
		"Bonjour\u00a0! 12\u202f000\u00a0€ «\u00a0oui\u00a0»",
		"👍🏽 👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 ❤️ 1️⃣ 🇩🇪 ✅ ©️", "葛󠄀城", "№ 5, 1º, 2ª, x² ≤ ½", "“quotes” – dash — ellipsis… • bullet",
		"┌──┐ │ ok │ └──┘ ▶ ■", "⠓⠑⠇⠇⠕⠀⠺", "[ɡæt] ɑː", "Հայաստան", "ქართული", "ᏣᎳᎩ", "ⲁⲃⲅ",
		"if a < b && c > d { return <-ch }", "x := map[string]int{\"a\": 1}", "see https://example.com/a?b=c#d", "cat <<EOF\nhi\nEOF",
		strings.Repeat("deep ", 3) + "\n" + strings.Repeat(" ", 48) + "indented code", "a\n\n\n\nb",
	}
	for _, in := range tests {
		got, warnings := present.Inspect(in)
		if len(warnings) > 0 {
			t.Errorf("%q is warned about: %v", in, warnings)
		}
		if got != in {
			t.Errorf("%q is shown as %q", in, got)
		}
	}
}

func TestVW2_saysWhatItReallyIs(t *testing.T) {
	tests := []struct{ in, want string }{
		{"\u0441url http://g\u03bf\u03bfgle.com", "curl, google"},
		{"ｒｍ x", "rm"},
		{"a\u202eb\u2066", "U+202E, U+2066"},
		{"a" + strings.Repeat(" ", 50) + "b", "50 blanks left out"},
	}
	for _, tt := range tests {
		_, ws := present.Inspect(tt.in)
		if len(ws) != 1 || ws[0].Text != tt.want {
			t.Errorf("Inspect(%q) warns %v, want text %q", tt.in, ws, tt.want)
		}
	}
}

func TestVW2_safeJSON(t *testing.T) {
	in := `{"command":"a\u202eb","n\u200bm":[1.50,"\u001b[2J",{"x/y":"ok"}],"content":"<script>x</script>","big":12345678901234567890}`
	shown, warnings, err := present.SafeJSON([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"command":"a\\u{202e}b","n\\u{200b}m":[1.50,"\\x1b[2J",{"x/y":"ok"}],"content":"<script>x</script>","big":12345678901234567890}`
	if diff := cmp.Diff(want, string(shown)); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	wantWarnings := []sayso.Warning{
		{Kind: "bidi", Path: "/command", Text: "U+202E"},
		{Kind: "invisible", Path: `/n\u{200b}m`, Text: "U+200B"},
		{Kind: "control", Path: `/n\u{200b}m/1`, Text: "U+001B"},
	}
	if diff := cmp.Diff(wantWarnings, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestVW2_safeJSONKeepsNamesApart(t *testing.T) {
	shown, _, err := present.SafeJSON([]byte(`{"a\u200b":1,"a\\u{200b}":2}`))
	if want := `{"a\\u{200b}":1,"a\\u{200b} #2":2}`; err != nil || string(shown) != want {
		t.Errorf("got %s, %v; want %s", shown, err, want)
	}
}

func TestSafeJSONRefusesWhatIsNotStrict(t *testing.T) {
	for _, in := range []string{``, `{`, `{"a":1,"a":2}`, `{} {}`, `nope`, "\"\xff\""} {
		if shown, _, err := present.SafeJSON([]byte(in)); err == nil || shown != nil {
			t.Errorf("SafeJSON(%q) = %s, %v; want an error", in, shown, err)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, s := range []string{"a\x1b[31m", "\u202e\u200b", "ls" + strings.Repeat(" ", 99) + "x", "👩\u200d👩\u200d👧\u200d👦", "\r\n\xff", "a\u0441b", "می\u200cخواهم"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, kinds := present.Safe(s)
		for i, r := range got {
			switch {
			case r < ' ' && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0, r == 0xfffd && got[i] == 0xff,
				r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c,
				r == 0x200b, r == 0xfeff, r == 0xad, r >= 0xe0000 && r <= 0xe007f, r == 0x2028, r == 0x2029, r >= 0x2060 && r <= 0x2064:
				t.Fatalf("%q is shown as %q, which holds %U", s, got, r)
			}
		}
		if again, _ := present.Safe(got); again != got {
			t.Fatalf("%q is shown as %q, and that as %q", s, got, again)
		}
		if got != s && len(kinds) == 0 {
			t.Fatalf("%q is shown as %q without a warning", s, got)
		}
	})
}
