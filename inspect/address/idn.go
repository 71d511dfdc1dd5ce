package address

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// badLetters says what is wrong with the letters that the labels of a host stand
// for: one that stands for none, or that mixes those of scripts that nobody
// writes together, so that it looks like another name.
func badLetters(host string) string {
	for label := range strings.SplitSeq(host, ".") {
		coded, ok := strings.CutPrefix(label, "xn--")
		if !ok {
			continue
		}
		name, ok := decodeLabel(coded)
		switch {
		case !ok || !norm.NFKC.IsNormalString(name): // which is what a label may stand for
			return "its host holds a label that stands for no name"
		case mixesScripts(name):
			return "its host mixes letters of scripts that are not written together"
		}
	}
	return ""
}

// writtenTogether are the scripts that one label may have beside each other.
var writtenTogether = [][]*unicode.RangeTable{
	{unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana},
	{unicode.Latin, unicode.Han, unicode.Hangul},
	{unicode.Latin, unicode.Han, unicode.Bopomofo},
}

func mixesScripts(name string) bool {
	script := ""
	mixed := false
	for _, r := range name {
		if s := scriptOf(r); s != "" {
			mixed = mixed || script != "" && s != script
			script = s
		}
	}
	if !mixed {
		return false
	}
	for _, together := range writtenTogether {
		if strings.IndexFunc(name, func(r rune) bool { return scriptOf(r) != "" && !unicode.In(r, together...) }) < 0 {
			return false
		}
	}
	return true
}

// scriptOf is the script of a letter, empty for what all scripts share.
func scriptOf(r rune) string {
	if !unicode.IsLetter(r) || unicode.In(r, unicode.Common, unicode.Inherited) {
		return ""
	}
	if r < utf8.RuneSelf {
		return "Latin"
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return "unknown"
}

// The parameters of Punycode, RFC 3492 section 5.
const (
	base, tMin, tMax     = 36, 1, 26
	skew, damp           = 38, 700
	firstBias, firstCode = 72, 0x80
)

// decodeLabel reads what stands behind xn-- in a label, in lower case. It is not
// ok if that stands for nothing, or for what cannot be seen.
func decodeLabel(coded string) (name string, ok bool) {
	var out []rune
	if hyphen := strings.LastIndexByte(coded, '-'); hyphen >= 0 {
		out, coded = []rune(coded[:hyphen]), coded[hyphen+1:]
	}
	code, at, bias := firstCode, 0, firstBias
	for coded != "" {
		var delta int
		if delta, coded, ok = decodeDelta(coded, bias); !ok {
			return "", false
		}
		length := len(out) + 1
		bias = adapt(delta, length, at == 0)
		at += delta
		code, at = code+at/length, at%length
		if code > unicode.MaxRune || !unicode.IsGraphic(rune(code)) || unicode.IsSpace(rune(code)) {
			return "", false
		}
		out = slices.Insert(out, at, rune(code))
		at++
	}
	return string(out), ok
}

// decodeDelta reads one number of variable length.
func decodeDelta(coded string, bias int) (delta int, rest string, ok bool) {
	for weight, k := 1, base; coded != ""; k += base {
		d := strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789", coded[0])
		if d < 0 || d > (math.MaxInt32-delta)/weight {
			break
		}
		delta, coded = delta+d*weight, coded[1:]
		t := min(max(k-bias, tMin), tMax)
		if d < t {
			return delta, coded, true
		}
		if weight > math.MaxInt32/(base-t) {
			break
		}
		weight *= base - t
	}
	return 0, "", false
}

// adapt is the bias for the next number.
func adapt(delta, length int, first bool) int {
	if first {
		delta /= damp
	} else {
		delta /= 2
	}
	delta += delta / length
	k := 0
	for ; delta > (base-tMin)*tMax/2; k += base {
		delta /= base - tMin
	}
	return k + (base-tMin+1)*delta/(delta+skew)
}
