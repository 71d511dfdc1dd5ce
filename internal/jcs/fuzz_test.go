package jcs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// The canonical form is a fixpoint, means what the input meant to an
// independent reader, and does not depend on how the input was spelled.
func FuzzCanonicalize(f *testing.F) {
	for _, v := range vectors(f) {
		if len(v.In) < 2000 {
			f.Add([]byte(v.In))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		kept := bytes.Clone(src)
		out, err := jcs.Canonicalize(src)
		if !bytes.Equal(src, kept) {
			t.Fatal("the input was changed")
		}
		if checked := jcs.Check(src); fmt.Sprint(checked) != fmt.Sprint(err) {
			t.Fatalf("Check says %v, Canonicalize %v", checked, err)
		}
		var into any
		if strict := jcs.Unmarshal(src, &into); (strict == nil) != (err == nil) {
			t.Fatalf("Unmarshal says %v, Canonicalize %v", strict, err)
		}
		if err != nil {
			if out != nil {
				t.Fatalf("result %q came with %v", out, err)
			}
			return
		}
		if again, err := jcs.Canonicalize(out); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("canonical form of %s = %s, %v", out, again, err)
		}
		tree := read(t, src)
		if canonical := read(t, out); !sameValue(tree, canonical) {
			t.Fatalf("%s became %s, which is another value", src, out)
		}
		respelled := respell(nil, tree, seeded(src))
		if other, err := jcs.Canonicalize(respelled); err != nil || !bytes.Equal(other, out) {
			t.Fatalf("%s and %s have the forms %s and %s, %v", src, respelled, out, other, err)
		}
	})
}

// Two numbers have one form exactly if they are equal, or both are fractions
// whose double is one and the same fraction.
func FuzzNumbers(f *testing.F) {
	for _, pair := range [][2]string{
		{"1", "1.0"}, {"9007199254740993", "9007199254740992"}, {"1e25", "10000000000000000000000000"},
		{"1e25", "10000000000000000000000001"}, {"0.99999999999999999999", "1"}, {"0.1", "0.10000000000000000001"},
		{"9007199254740992.5", "9007199254740992"}, {"-0", "0.0e7"}, {"5e-324", "4e-324"}, {"1e400", "1e401"},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 2000 || !isNumber(a) || !isNumber(b) {
			return
		}
		formA, errA := jcs.Canonicalize([]byte(a))
		formB, errB := jcs.Canonicalize([]byte(b))
		if errA != nil || errB != nil {
			return
		}
		if got, want := bytes.Equal(formA, formB), sameNumber(a, b); got != want {
			t.Errorf("%s and %s have the forms %s and %s; same number: %v", a, b, formA, formB, want)
		}
	})
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789+-.eE") == ""
}

func sameNumber(a, b string) bool {
	x, y := rational(a), rational(b)
	if x == nil || y == nil {
		return false
	}
	if x.Cmp(y) == 0 {
		return true
	}
	fx, _ := strconv.ParseFloat(a, 64)
	fy, _ := strconv.ParseFloat(b, 64)
	return !x.IsInt() && !y.IsInt() && fx == fy && fx != math.Trunc(fx)
}

// rational is the exact value of s, nil if it has none.
func rational(s string) *big.Rat {
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	if !strings.ContainsAny(mantissa, "123456789") {
		return new(big.Rat) // a zero, whose exponent may be too large for Rat
	}
	r, _ := new(big.Rat).SetString(s)
	return r
}

// member is a member of an object that is read in order.
type member struct {
	name  string
	value any
}

// read decodes with the standard library, which knows nothing of ours, keeping
// the digits of numbers.
func read(t *testing.T, src []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("the standard library refuses %s: %v", src, err)
	}
	return v
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(string(a), string(b))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameValue(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name := range a {
			if other, ok := b[name]; !ok || !sameValue(a[name], other) {
				return false
			}
		}
		return true
	}
	return a == b
}

func seeded(src []byte) *rand.Rand {
	h := fnv.New64a()
	h.Write(src)
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// respell writes v with its members in random order, every character escaped,
// space everywhere, and numbers with another exponent.
func respell(dst []byte, v any, rnd *rand.Rand) []byte {
	dst = append(dst, " \n"[:rnd.IntN(3)]...)
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return escape(dst, v)
	case json.Number:
		return append(dst, respellNumber(string(v), rnd)...)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			dst = respell(separate(dst, i), e, rnd)
		}
		return append(dst, '\t', ']')
	case map[string]any:
		var members []member
		for name, value := range v {
			members = append(members, member{name, value})
		}
		rnd.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		dst = append(dst, '{')
		for i, m := range members {
			dst = respell(append(escape(separate(dst, i), m.name), ' ', ':'), m.value, rnd)
		}
		return append(dst, '\r', '}')
	}
	panic("not a JSON value")
}

func separate(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ' ', ',')
	}
	return dst
}

func escape(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, unit := range utf16.Encode([]rune(s)) {
		dst = fmt.Appendf(dst, `\u%04x`, unit)
	}
	return append(dst, '"')
}

func respellNumber(s string, rnd *rand.Rand) string {
	if strings.ContainsAny(s, "eE") {
		return s
	}
	if !strings.Contains(s, ".") {
		s += "." + strings.Repeat("0", 1+rnd.IntN(4))
	}
	return s + []string{"", "e0", "E+00", "0e-0"}[rnd.IntN(4)]
}

// Whatever the strict decoder takes, the lenient one takes as well and sees the
// same; and what either takes, Check takes.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"tool":"bash","args":{"command":"ls"},"count":3,"nested":[{"n":1}]}`))
	f.Add([]byte(`{"tool":"echo","Tool":"rm"}`))
	f.Add([]byte(`{"labels":{"a":"b"},"at":"2026-11-20T15:49:00Z","next":{"color":"red"}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		var strict, lenient call
		errStrict := jcs.Unmarshal(src, &strict)
		errLenient := jcs.UnmarshalLenient(src, &lenient)
		if errLenient == nil {
			if err := jcs.Check(src); err != nil {
				t.Fatalf("UnmarshalLenient takes what Check refuses: %v", err)
			}
		}
		if errStrict != nil {
			return
		}
		if errLenient != nil {
			t.Fatalf("Unmarshal takes what UnmarshalLenient refuses: %v", errLenient)
		}
		a, errA := jcs.Marshal(strict)
		b, errB := jcs.Marshal(lenient)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Fatalf("strict saw %s, %v; lenient saw %s, %v", a, errA, b, errB)
		}
	})
}
