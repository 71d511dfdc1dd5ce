package present_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

// drawnSigns are format characters that have a shape: signs before numbers in
// Arabic, Syriac and Kaithi.
var drawnSigns = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"

// Among letters, no code point of a kind that cannot be seen, or that steers,
// stays as it is, and each has a warning. All of Unicode is tried.
func TestVW2_everyCodePointAmongLetters(t *testing.T) {
	unseen := []*unicode.RangeTable{
		unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
		unicode.Bidi_Control, unicode.Noncharacter_Code_Point,
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 || r == '\n' || r == '\t' || strings.ContainsRune(drawnSigns, r) {
			continue
		}
		must := unicode.In(r, unseen...) || r > ' ' && unicode.Is(unicode.Zs, r) || r >= 0xe0000 && r <= 0xe0fff
		shown, kinds := present.Safe("a" + string(r) + "b")
		if must && (strings.ContainsRune(shown, r) || len(kinds) == 0) {
			t.Errorf("%U is shown as %q, with %v", r, shown, kinds)
		}
		if !must && shown != "a"+string(r)+"b" && len(kinds) == 0 {
			t.Errorf("%U is shown as %q without a warning", r, shown)
		}
	}
}

// Letters of any script, in a text of that script alone, have no warning and
// stay as they are.
func TestVW2_anyOneScriptIsOrdinary(t *testing.T) {
	for name, table := range unicode.Scripts {
		if name == "Common" || name == "Inherited" {
			continue
		}
		var letters []rune
		visit(table, func(r rune) {
			if unicode.IsLetter(r) && len(letters) < 400 && styled(r) == 0 {
				letters = append(letters, r)
			}
		})
		var words strings.Builder
		for i, r := range letters {
			if i > 0 && i%5 == 0 {
				words.WriteByte(' ')
			}
			words.WriteRune(r)
		}
		if shown, warnings := present.Inspect(words.String()); shown != words.String() || len(warnings) > 0 {
			t.Errorf("%s: %v", name, warnings)
		}
	}
}

// styled are the letters that are forms of others: wide, letter-like, numerals,
// and fillers that have no shape.
func styled(r rune) rune {
	if r >= 0xff00 && r <= 0xffef || r >= 0x2100 && r <= 0x218f || r >= 0x1d400 && r <= 0x1d7ff || r == 0x115f || r == 0x1160 || r == 0x3164 {
		return r
	}
	return 0
}

func visit(table *unicode.RangeTable, f func(rune)) {
	for _, r16 := range table.R16 {
		for r := rune(r16.Lo); r <= rune(r16.Hi); r += rune(r16.Stride) {
			f(r)
		}
	}
	for _, r32 := range table.R32 {
		for r := rune(r32.Lo); r <= rune(r32.Hi); r += rune(r32.Stride) {
			f(r)
		}
	}
}

func TestVW2_names(t *testing.T) {
	for _, tt := range []struct {
		name, shown string
		want        sayso.Warning
	}{
		{"b\u0430sh", "b\u0430sh", sayso.Warning{Kind: "confusable", Text: "bash"}},
		{"\u0441\u043e\u0440\u0443", "\u0441\u043e\u0440\u0443", sayso.Warning{Kind: "confusable", Text: "copy"}},
		{"ｒｍ", "ｒｍ", sayso.Warning{Kind: "confusable", Text: "rm"}},
		{"git\u200bhub", `git\u{200b}hub`, sayso.Warning{Kind: "invisible", Text: "U+200B"}},
		{"github\u202e", `github\u{202e}`, sayso.Warning{Kind: "bidi", Text: "U+202E"}},
		{"github ", "github ", sayso.Warning{Kind: "whitespace", Text: "blanks at an end of a name"}},
		{"git\u00a0hub", `git\u{a0}hub`, sayso.Warning{Kind: "whitespace", Text: "U+00A0"}},
		{"git\nhub", `git\nhub`, sayso.Warning{Kind: "control", Text: "a line break or a tab in a name"}},
		{"git\x1b[2Jhub", `git\x1b[2Jhub`, sayso.Warning{Kind: "control", Text: "U+001B"}},
	} {
		shown, warnings := present.InspectName(tt.name)
		if shown != tt.shown || len(warnings) != 1 || warnings[0] != tt.want {
			t.Errorf("%q: shown %q, warnings %+v", tt.name, shown, warnings)
		}
	}
	for _, name := range []string{
		"", "bash", "mcp__github__create_issue", "server-1.example", "a b", "поиск", "деплой", "検索", "αναζήτηση", "بحث", "naïve", "çalıştır",
	} {
		if shown, warnings := present.InspectName(name); shown != name || len(warnings) > 0 {
			t.Errorf("%q: shown %q, warnings %+v", name, shown, warnings)
		}
	}
}
