package present

import (
	"strings"
	"unicode"

	"github.com/sayso-dev/sayso"
)

// lookAlikeWords warns of words in which letters of another script pass for
// Latin ones. A word of one script is ordinary; only where a text is otherwise
// Latin, and all its foreign words could be read as Latin, are they suspect.
func lookAlikeWords(s string, f *findings) {
	ws, t := splitWords(s)
	for _, w := range ws {
		switch {
		case w.foreign+w.odd == 0:
		case w.foreign > 0 && w.plainLatin > 0 && w.alike == w.foreign,
			w.foreign > 0 && w.plainLatin == 0 && w.alike == w.foreign && w.letters >= 2 && t.latin && !t.clearlyForeign,
			w.styled > 0 && !t.cjk && (w.letters >= 2 || w.plainLatin > 0),
			w.odd > 0 && w.plainLatin >= 2 && w.odd+w.plainLatin == w.letters:
			f.add(sayso.WarnConfusable, skeleton(w.text))
		}
	}
	for _, w := range signWords(s) {
		f.add(sayso.WarnConfusable, w)
	}
}

// textWord is a run of letters, marks, digits and underscores.
type textWord struct {
	text       string
	letters    int
	plainLatin int // ASCII
	foreign    int // of scripts with look-alikes, and styled forms
	alike      int // those of them that look like ASCII
	styled     int // wide, mathematical and numeral forms
	odd        int // Latin letters of phonetics that look like ASCII
}

// textTraits are what the words of a text say about it as a whole.
type textTraits struct {
	latin          bool // holds ASCII letters
	clearlyForeign bool // holds letters of a script with look-alikes that look like none
	cjk            bool
}

func splitWords(s string) (ws []textWord, t textTraits) {
	start := -1
	var w textWord
	end := func(i int) {
		if start >= 0 {
			w.text = s[start:i]
			ws = append(ws, w)
		}
		start, w = -1, textWord{}
	}
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.In(r, unicode.Mn, unicode.Mc) && !unicode.IsDigit(r) && r != '_' && styledASCII(r) == 0 {
			end(i)
			continue
		}
		if start < 0 {
			start = i
		}
		w.count(r, &t)
	}
	end(len(s))
	return ws, t
}

func (w *textWord) count(r rune, t *textTraits) {
	switch {
	case r < 0x80:
		if unicode.IsLetter(r) {
			w.letters++
			w.plainLatin++
			t.latin = true
		}
	case styledASCII(r) != 0:
		w.letters++
		w.foreign++
		w.alike++
		w.styled++
	case unicode.In(r, alikeScripts...):
		w.letters++
		w.foreign++
		if _, ok := latinTwins[r]; ok {
			w.alike++
		} else {
			t.clearlyForeign = true
		}
	case cjk(r):
		t.cjk = true
	case latinTwins[r] != 0:
		w.letters++
		w.odd++
	case unicode.IsLetter(r):
		w.letters++
	}
}

// alikeScripts are those with letters that look Latin.
var alikeScripts = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Deseret}

// skeleton returns a word with its look-alikes replaced by what they look like.
func skeleton(w string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return r
		}
		if a := styledASCII(r); a != 0 {
			return a
		}
		if a, ok := latinTwins[r]; ok {
			return a
		}
		return r
	}, w)
}

// styledASCII returns the ASCII character of which r is a wide, mathematical or
// numeral form, or 0.
func styledASCII(r rune) rune {
	switch {
	case r >= 0xff10 && r <= 0xff19, r >= 0xff21 && r <= 0xff3a, r >= 0xff41 && r <= 0xff5a:
		return r - 0xff00 + 0x20
	case r >= 0x1d400 && r <= 0x1d6a3:
		n := (r - 0x1d400) % 52
		if n < 26 {
			return 'A' + n
		}
		return 'a' + n - 26
	case r >= 0x1d7ce && r <= 0x1d7ff:
		return '0' + (r-0x1d7ce)%10
	}
	return numerals[r]
}

var numerals = map[rune]rune{0x2170: 'i', 0x2174: 'v', 0x2179: 'x', 0x217c: 'l', 0x217d: 'c', 0x217e: 'd', 0x217f: 'm', 0x212a: 'K', 0x210e: 'h', 0x2113: 'l', 0x212f: 'e', 0x210a: 'g', 0x2134: 'o'}

// latinTwins are the letters that can be read as an ASCII one.
var latinTwins = twins(
	"аaеeоoрpсcуyхxѕsіiјjкkһhԁdԛqԝwӏlѵvАAВBЕEЅSІIЈJКKМMНHОOРPСCТTУYХXҮYӀIѴVԚQԜWԌGҺh",
	"οoαaνvρpυuιiκkχxγyϲcϳjΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϹCͿJ",
	"օoսuոnհhցgզqլlՕOՍUՏSԼL",
	"ᎪAᏴBᏟCᎠDᎬEᏀGᎻHᎥiᎫJᏦKᏞLᎷMᏢPᏒRᏚSᎢTᏙVᎳWᏃZᎩY",
	"ⲟoⲣpⲥcⲁaⲓiⲔKⲘMⲚNⲞOⲢPⲤCⲦTⲨYⲬX",
	"ꓮAꓐBꓚCꓓDꓰEꓝFꓖGꓧHꓲIꓙJꓗKꓡLꓟMꓠNꓳOꓑPꓣRꓢSꓔTꓴUꓦVꓪWꓫXꓬYꓜZ",
	"ɑaɡgɩi",
)

func twins(lists ...string) map[rune]rune {
	m := map[rune]rune{}
	for _, list := range lists {
		rs := []rune(list)
		for i := 0; i+1 < len(rs); i += 2 {
			m[rs[i]] = rs[i+1]
		}
	}
	return m
}

// signs can be read as the separators of paths and addresses.
var signs = map[rune]rune{0x2044: '/', 0x2215: '/', 0x29f8: '/', 0x2571: '/', 0x2024: '.', 0xa789: ':', 0x2236: ':', 0x01c3: '!', 0x037e: ';', 0xfe52: '.', 0x29f5: '\\', 0x2216: '\\'}

// signWords returns the ASCII forms of those words in which such a sign stands
// beside a Latin letter.
func signWords(s string) []string {
	if !strings.ContainsFunc(s, func(r rune) bool { return signs[r] != 0 }) {
		return nil
	}
	var out []string
	for _, w := range strings.Fields(s) {
		if rs := []rune(w); signBesideLetter(rs) && len(out) < maxNamed {
			out = append(out, strings.Map(func(r rune) rune {
				if a := signs[r]; a != 0 {
					return a
				}
				return r
			}, w))
		}
	}
	return out
}

func signBesideLetter(rs []rune) bool {
	for i, r := range rs {
		if signs[r] == 0 {
			continue
		}
		if i > 0 && asciiLetter(rs[i-1]) || i+1 < len(rs) && asciiLetter(rs[i+1]) {
			return true
		}
	}
	return false
}

func asciiLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' && r < 0x80 }
