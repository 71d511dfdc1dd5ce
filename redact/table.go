package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// partLen is the length from which a part of a hidden value is hidden too.
const partLen = 8

// minShort is the length from which a shorter value is hidden elsewhere, as a
// word of its own and if it is no word of any language: a1b2c, not main.
const minShort = 5

// maxEncoded bounds the secrets whose encoded forms are looked for as well.
const maxEncoded = 4096

// secret is a value found in a call.
type secret struct {
	value string
	key   string
	whole bool // look for the whole value only, not for its parts
	read  bool // the content of a file says it, and nothing else, and it does not look random
}

// table holds every run of partLen bytes of the secrets of a call. Eight bytes
// fit one machine word, so the question whether the bytes at some place are
// part of a secret is one look into a hash table.
type table struct {
	secrets []secret
	short   map[string]string // values too short to have parts, and their keys
	seen    map[string]bool
	told    map[string]bool // the values that more than the content of a file says
	slots   []slot
	shift   int
	place   bool // look for what may be hidden in a place
}

type slot struct {
	word uint64
	id   int32 // of the secret, from 1; 0 marks an empty slot
}

// learn remembers a value so that it is hidden elsewhere too.
func (t *table) learn(value, key string) {
	if t.told == nil {
		t.told = map[string]bool{}
	}
	t.told[withoutScheme(strings.TrimSpace(value))] = true
	t.read(value, key)
}

// read remembers a value that the content of a file says. Unless it looks random, it
// says nothing of where a call works.
func (t *table) read(value, key string) {
	value = withoutScheme(strings.TrimSpace(value))
	if pathLike(value) || placeLike(value) {
		return
	}
	if len(value) < partLen && len(value) >= minShort && noWord(value) {
		if t.short == nil {
			t.short = map[string]string{}
		}
		if _, ok := t.short[value]; !ok {
			t.short[value] = key
		}
	}
	if len(value) < partLen || t.seen[value] || markerEnd(value) == len(value) || commands(value) {
		return
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[value] = true
	t.secrets = append(t.secrets, secret{value: value, key: key, whole: plainWord(value)})
}

// build makes the table ready for find.
func (t *table) build() {
	if len(t.secrets) == 0 {
		return
	}
	all := make([]forms, len(t.secrets))
	runs := 0
	for i := range t.secrets {
		v := t.secrets[i].value
		t.secrets[i].read = !t.told[v] && !looksRandom(v)
		all[i] = t.secrets[i].forms()
		runs += all[i].runs()
	}
	size := 1 << bits.Len(uint(runs+runs/2)) // two thirds full at most
	t.slots = make([]slot, size)
	t.shift = 64 - bits.Len(uint(size-1))
	for _, read := range []bool{false, true} { // where two share a run, the one that is hidden everywhere has it,
		for _, whole := range []bool{false, true} { // and the one whose parts count
			for i, s := range t.secrets {
				if s.whole == whole && s.read == read {
					t.addForms(&all[i], int32(i+1), whole)
				}
			}
		}
	}
}

func (t *table) addForms(f *forms, id int32, whole bool) {
	from := 0
	for _, end := range f.ends {
		t.add(f.text[from:end], id, whole)
		from = end
	}
}

func (t *table) add(form []byte, id int32, whole bool) {
	last := len(form) - partLen
	if whole {
		last = 0
	}
	for i := 0; i <= last; i++ {
		w := binary.LittleEndian.Uint64(form[i:])
		if blankWord(w) {
			continue
		}
		at := t.slot(w)
		for t.slots[at].id != 0 && t.slots[at].word != w {
			at = (at + 1) & (len(t.slots) - 1)
		}
		if t.slots[at].id == 0 {
			t.slots[at] = slot{w, id}
		}
	}
}

func (t *table) slot(w uint64) int {
	return int((w * 0x9E3779B97F4A7C15) >> t.shift)
}

// at returns the secret that the eight bytes of s at i are part of, or 0.
func (t *table) at(s string, i int) int32 {
	w := wordAt(s, i)
	for at := t.slot(w); t.slots[at].id != 0; at = (at + 1) & (len(t.slots) - 1) {
		if t.slots[at].word == w {
			if id := t.slots[at].id; !t.place || !t.secrets[id-1].read {
				return id
			}
			return 0
		}
	}
	return 0
}

// noWord reports whether a short value mixes letters with digits, which words
// and numbers do not.
func noWord(v string) bool {
	digits, letters := 0, 0
	for i := range len(v) {
		if isDigit(v[i]) {
			digits++
		} else if isAlpha(v[i]) {
			letters++
		}
	}
	return digits > 0 && letters > 1
}

// empty reports whether nothing is known that could be found.
func (t *table) empty() bool { return len(t.slots) == 0 && len(t.short) == 0 }

// findIn is find in a text that may say where a call works.
func (t *table) findIn(s string, spans []span, place bool) []span {
	if !place {
		return t.find(s, spans)
	}
	told := table{secrets: t.secrets, slots: t.slots, shift: t.shift, short: map[string]string{}, place: true}
	for v, key := range t.short {
		if t.told[v] {
			told.short[v] = key
		}
	}
	return told.find(s, spans)
}

// findShort appends the places in s where short secrets stand as words.
func (t *table) findShort(s string, spans []span) []span {
	if len(t.short) == 0 {
		return spans
	}
	for i := 0; i+minShort <= len(s); i++ {
		if i > 0 && isAlnum(s[i-1]) && isAlnum(s[i]) {
			continue
		}
		for n := minShort; n < partLen && i+n <= len(s); n++ {
			if i+n < len(s) && isAlnum(s[i+n]) && isAlnum(s[i+n-1]) {
				continue
			}
			if key, ok := t.short[s[i:i+n]]; ok {
				spans = append(spans, span{i, i + n, n, key})
			}
		}
	}
	return spans
}

// find appends the places in s where secrets and parts of them stand.
func (t *table) find(s string, spans []span) []span {
	return t.findParts(s, t.findShort(s, spans))
}

// findParts appends the places in s where parts of secrets stand.
func (t *table) findParts(s string, spans []span) []span {
	if len(t.slots) == 0 || len(s) < partLen {
		return spans
	}
	for i := 0; i+partLen <= len(s); {
		id := t.at(s, i)
		if id == 0 {
			i++
			continue
		}
		sec := t.secrets[id-1]
		end := i + partLen
		if sec.whole {
			if !strings.HasPrefix(s[i:], sec.value) {
				i++
				continue
			}
			end = i + len(sec.value)
		}
		for end < len(s) && !sec.whole && t.at(s, end-partLen+1) != 0 {
			end++
		}
		spans = append(spans, span{i, end, end - i, sec.key})
		i = end - partLen + 1
	}
	return spans
}

func wordAt(s string, i int) uint64 {
	return binary.LittleEndian.Uint64([]byte(s[i : i+partLen]))
}

// blankWord reports whether all eight bytes are the same blank: nobody's
// secret, and everywhere.
func blankWord(w uint64) bool {
	return w == 0x2020202020202020 || w == 0x0909090909090909 || w == 0x0a0a0a0a0a0a0a0a
}

// forms are texts of at least partLen bytes, one behind the other.
type forms struct {
	text []byte
	ends []int
}

// runs is how many runs of partLen bytes there are.
func (f *forms) runs() int { return len(f.text) - len(f.ends)*(partLen-1) }

// end ends a form that was appended to text. A form that is too short to have a
// run is dropped, and so is one that is the first form again.
func (f *forms) end(text []byte) {
	form := text[len(f.text):]
	if len(form) < partLen || len(f.ends) > 0 && string(form) == string(text[:f.ends[0]]) {
		return
	}
	f.text, f.ends = text, append(f.ends, len(text))
}

// forms returns the value and the encodings in which it may also stand.
func (s *secret) forms() forms {
	v := s.value
	if len(v) > maxEncoded || s.whole {
		return forms{[]byte(v), []int{len(v)}}
	}
	f := forms{make([]byte, 0, 12*len(v)+64), make([]int, 0, 12)}
	f.end(append(f.text, v...))
	f.end(append(f.text, url.QueryEscape(v)...))
	f.end(append(f.text, url.PathEscape(v)...))
	quoted := quote(f.text, v)
	f.end(append(f.text, bytes.Trim(quoted[len(f.text):], `"`)...))
	f.end(hex.AppendEncode(f.text, []byte(v)))
	f.end(upper(hex.AppendEncode(f.text, []byte(v)), len(f.text)))
	for shift := range 3 {
		f.base64(v, shift)
	}
	return f
}

// upper turns text to capitals from a place on.
func upper(text []byte, from int) []byte {
	copy(text[from:], bytes.ToUpper(text[from:]))
	return text
}

// base64 adds those base64 digits that are decided by value alone when shift
// bytes stand before it and anything after it, in both alphabets.
func (f *forms) base64(value string, shift int) {
	text := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift, shift+len(value)), value...))
	first := (shift*8 + 5) / 6
	last := (shift + len(value)) * 8 / 6
	std := text[first:min(last, len(text))]
	f.end(append(f.text, std...))
	if strings.ContainsAny(std, "+/") {
		f.end(append(f.text, safeBase64.Replace(std)...))
	}
}

// safeBase64 brings digits to the alphabet for addresses.
var safeBase64 = strings.NewReplacer("+", "-", "/", "_")

// withoutScheme drops the word Bearer, Basic ... before a credential.
func withoutScheme(v string) string {
	if n := schemeLen(v); n > 0 && n < len(v) {
		return strings.TrimLeft(v[n:], " ")
	}
	return v
}

// plainWord reports whether a value is itself made of telling words, such as
// flagPassword. Its parts stand in every other name.
func plainWord(v string) bool {
	return len(v) <= 40 && span0(v, func(c byte) bool { return isAlpha(c) || c == '_' || c == '-' }) == len(v) && names{}.anyTelling(words(v))
}

// commands reports whether a value reads as a command line. It is hidden where
// it stands under a telling name, but a command that somebody also called a
// password is shown where it would run.
func commands(v string) bool {
	if len(v) > maxEncoded {
		return false
	}
	if commandLike(v, true) {
		return true
	}
	for i := range len(v) {
		if strings.IndexByte(";|&\n", v[i]) >= 0 && commandFollows(v[i+1:]) {
			return true
		}
	}
	return false
}

// hostPlace is how the name of a host is written, or an address without anything in it
// that may be a secret.
var hostPlace = regexp.MustCompile(`^(https?://)?([a-z][a-z0-9-]*(\.[a-z0-9-]+)*\.[a-z]{2,}|\d{1,3}(\.\d{1,3}){3})(:\d+)?(/[a-z0-9._-]*)*$`)

// placeLike reports whether a value is the name or the address of a host. Like a
// path it is hidden where it stands, and nowhere else.
func placeLike(value string) bool {
	return len(value) <= 256 && hostPlace.MatchString(value) && !slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == '/' || r == '.' }), looksRandom)
}

// pathLike reports whether a value is a plain file path made of words. Such a
// value is hidden where it stands, and nowhere else: a reader must see where a
// call works, whatever it was also called.
func pathLike(v string) bool {
	if !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "~/") && !strings.HasPrefix(v, "./") && !strings.HasPrefix(v, "../") {
		return false
	}
	parts := strings.Split(strings.TrimLeft(v, "~./"), "/")
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if p == "" || len(p) > 40 || looksRandom(p) || strings.ContainsAny(p, " \t\n+=\\:;") {
			return false
		}
	}
	return true
}
