package jcs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// vector is one line of the shared vectors: Out is the canonical form of In, or
// Error the reason for which it is refused.
type vector struct {
	Name  string `json:"name"`
	In    string `json:"in"`
	Out   string `json:"out"`
	Error string `json:"error"`
}

func vectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile("../../testdata/vectors/jcs.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d vectors", len(all))
	}
	return all
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			src := []byte(v.In)
			out, err := jcs.Canonicalize(src)
			if string(src) != v.In {
				t.Error("the input was changed")
			}
			if v.Error != "" {
				wantRefusal(t, err, v.Error)
				wantRefusal(t, jcs.Check(src), v.Error)
				var into any
				wantRefusal(t, jcs.Unmarshal(src, &into), v.Error)
				wantRefusal(t, jcs.UnmarshalLenient(src, &into), v.Error)
				if out != nil {
					t.Errorf("a refusal came with the result %q", out)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(out) != v.Out {
				t.Errorf("Canonicalize(%s)\n got %s\nwant %s", v.In, out, v.Out)
			}
			if err := jcs.Check(src); err != nil {
				t.Errorf("Check refuses what Canonicalize takes: %v", err)
			}
			again, err := jcs.Canonicalize(out)
			if err != nil || !bytes.Equal(again, out) {
				t.Errorf("canonical form of the canonical form = %s, %v", again, err)
			}
		})
	}
}

func wantRefusal(t *testing.T, err error, reason string) {
	t.Helper()
	var bad *jcs.SyntaxError
	if !errors.As(err, &bad) {
		t.Errorf("error = %v, want a SyntaxError", err)
		return
	}
	if bad.Reason != reason {
		t.Errorf("reason = %q (%v), want %q", bad.Reason, err, reason)
	}
}

// RFC 8785, appendix B, from the bits of each double. A whole number is given in
// its shortest spelling, for longer ones are other numbers to us.
func TestAppendixB(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		f := math.Float64frombits(bits)
		spellings := []string{
			strconv.FormatFloat(f, 'e', -1, 64),
			strconv.FormatFloat(f, 'E', -1, 64),
			strconv.FormatFloat(f, 'f', -1, 64),
		}
		if f != math.Trunc(f) {
			spellings = append(spellings,
				strconv.FormatFloat(f, 'e', 17, 64),
				strconv.FormatFloat(f, 'e', 60, 64))
		}
		for _, s := range spellings {
			if got, err := jcs.Canonicalize([]byte(s)); err != nil || string(got) != want {
				t.Errorf("%016x as %s = %s, %v, want %s", bits, s, got, err, want)
			}
		}
	}
}

// What no vector file can hold, since it is itself UTF-8.
func TestNotUTF8(t *testing.T) {
	for name, src := range map[string]string{
		"lone byte":              "\"\xff\"",
		"in a name":              "{\"a\xc0\":1}",
		"overlong":               "[\"\xc0\xaf\"]",
		"surrogate in bytes":     "\"\xed\xa0\x80\"",
		"beyond unicode":         "\"\xf4\x90\x80\x80\"",
		"cut short":              "\"\xe2\x82\"",
		"after escapes":          "\"\\n\\u0041\xfe\"",
		"in depth, after others": "{\"a\":[1,\"x\",{\"b\":\"\x80\"}]}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := jcs.Canonicalize([]byte(src))
			wantRefusal(t, err, jcs.InvalidUTF8)
			wantRefusal(t, jcs.Check([]byte(src)), jcs.InvalidUTF8)
			var into any
			wantRefusal(t, jcs.UnmarshalLenient([]byte(src), &into), jcs.InvalidUTF8)
		})
	}
}

func TestObject(t *testing.T) {
	got, err := jcs.Object([]byte(` {"b":1.0, "a":{}} `))
	if want := `{"a":{},"b":1}`; err != nil || string(got) != want {
		t.Errorf("Object = %s, %v, want %s", got, err, want)
	}
	for _, src := range []string{`[]`, `"{}"`, `1`, `null`, `true`, ` [{"a":1}]`} {
		got, err := jcs.Object([]byte(src))
		wantRefusal(t, err, jcs.NotObject)
		if got != nil {
			t.Errorf("Object(%s) = %s with an error", src, got)
		}
	}
	_, err = jcs.Object([]byte(`[1,`))
	wantRefusal(t, err, jcs.InvalidSyntax)
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		src     string
		pointer string
		offset  int64
	}{
		{`{"a":[1,{"b":1e400}]}`, "/a/1/b", 13},
		{`{"a":[1,{"b":2,"b":3}]}`, "/a/1/b", 15},
		{`{"a/b~":"\ud800"}`, "/a~1b~0", 9},
		{`[0,0,"ab` + "\xff" + `"]`, "/2", 8},
		{`{} {}`, "", 3},
		{`{"a":tru}`, "/a", 8},
	} {
		err := jcs.Check([]byte(c.src))
		var bad *jcs.SyntaxError
		if !errors.As(err, &bad) || bad.Pointer != c.pointer || bad.Offset != c.offset {
			t.Errorf("Check(%q) = %v, want pointer %q and offset %d", c.src, err, c.pointer, c.offset)
		}
	}
}
