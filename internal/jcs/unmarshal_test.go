package jcs_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// args is raw JSON with the method names of the standard library.
type args []byte

func (a args) MarshalJSON() ([]byte, error) { return a, nil }

func (a *args) UnmarshalJSON(b []byte) error {
	*a = append((*a)[:0], b...)
	return nil
}

// color is a text with two values.
type color string

var errColor = errors.New("neither red nor blue")

func (c *color) UnmarshalText(b []byte) error {
	if s := string(b); s != "red" && s != "blue" {
		return errColor
	}
	*c = color(b)
	return nil
}

// nested decodes itself strictly, as types with a closed set of members do.
type nested struct{ N int64 }

func (n *nested) UnmarshalJSON(b []byte) error {
	var m struct {
		N int64 `json:"n"`
	}
	if err := jcs.Unmarshal(b, &m); err != nil {
		return err
	}
	n.N = m.N
	return nil
}

type call struct {
	Tool   string            `json:"tool"`
	Args   args              `json:"args,omitzero"`
	At     time.Time         `json:"at,omitzero"`
	Count  int64             `json:"count,omitzero"`
	Labels map[string]string `json:"labels,omitempty"`
	Color  color             `json:"color,omitempty"`
	Nested []nested          `json:"nested,omitempty"`
	Next   *call             `json:"next,omitempty"`
}

func TestUnmarshal(t *testing.T) {
	src := `{"tool":"bash","args":{"b": 1.0,"a":[]},"at":"2026-11-20T15:49:00.5+01:00",
		"count":9223372036854775807,"labels":{"x":"1"},"color":"red","nested":[{"n":3}],"next":{"tool":""}}`
	want := call{
		Tool:   "bash",
		Args:   args(`{"b": 1.0,"a":[]}`),
		At:     time.Date(2026, 11, 20, 14, 49, 0, 5e8, time.UTC),
		Count:  math.MaxInt64,
		Labels: map[string]string{"x": "1"},
		Color:  "red",
		Nested: []nested{{3}},
		Next:   &call{},
	}
	for name, decode := range decoders {
		var got call
		if err := decode([]byte(src), &got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

var decoders = map[string]func([]byte, any) error{
	"Unmarshal":        jcs.Unmarshal,
	"UnmarshalLenient": jcs.UnmarshalLenient,
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, c := range []struct {
		name, src, reason, pointer string
	}{
		{"duplicate", `{"tool":"a","tool":"b"}`, jcs.DuplicateKey, "/tool"},
		{"duplicate by escape", `{"tool":"a","t\u006fol":"b"}`, jcs.DuplicateKey, "/tool"},
		{"duplicate in raw arguments", `{"args":{"a":{"x":1,"x":2}}}`, jcs.DuplicateKey, "/args/a/x"},
		{"duplicate in a map", `{"labels":{"a":"1","a":"2"}}`, jcs.DuplicateKey, "/labels/a"},
		{"duplicate in a self-decoding type", `{"nested":[{"n":1},{"n":1,"n":2}]}`, jcs.DuplicateKey, "/nested/1/n"},
		{"unknown member of a self-decoding type", `{"nested":[{"n":1},{"m":1}]}`, jcs.UnknownMember, "/nested/1/m"},
		{"out of range in raw arguments", `{"args":{"a":1e400}}`, jcs.NumberRange, "/args/a"},
		{"surrogate in raw arguments", `{"args":"\ud800"}`, jcs.LoneSurrogate, "/args"},
		{"text for a number", `{"count":"5"}`, jcs.WrongType, "/count"},
		{"number for a text", `{"tool":5}`, jcs.WrongType, "/tool"},
		{"fraction for an integer", `{"count":1.5}`, jcs.WrongType, "/count"},
		{"integer overflow", `{"count":9223372036854775808}`, jcs.WrongType, "/count"},
		{"no time", `{"at":"yesterday"}`, jcs.WrongType, "/at"},
		{"array for an object", `[]`, jcs.WrongType, ""},
		{"trailing", `{"tool":"a"} {}`, jcs.TrailingData, ""},
		{"unfinished", `{"tool":"a"`, jcs.InvalidSyntax, ""},
		{"too deep in raw arguments", `{"args":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, jcs.TooDeep, "/args" + strings.Repeat("/0", 199)},
		{"refused by its own type", `{"color":"green"}`, jcs.WrongType, "/color"},
	} {
		for name, decode := range decoders {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				var into call
				err := decode([]byte(c.src), &into)
				wantRefusal(t, err, c.reason)
				var bad *jcs.SyntaxError
				if errors.As(err, &bad) && bad.Pointer != c.pointer {
					t.Errorf("pointer = %q, want %q", bad.Pointer, c.pointer)
				}
			})
		}
	}
}

// A reader that ignores case would run "rm" where this one saw "echo".
func TestUnknownMembers(t *testing.T) {
	for _, src := range []string{
		`{"tool":"echo","Tool":"rm"}`,
		`{"tool":"echo","TOOL":"rm"}`,
		`{"tool":"echo","extra":{"deep":[1]}}`,
	} {
		var into call
		wantRefusal(t, jcs.Unmarshal([]byte(src), &into), jcs.UnknownMember)
		into = call{}
		if err := jcs.UnmarshalLenient([]byte(src), &into); err != nil || into.Tool != "echo" {
			t.Errorf("UnmarshalLenient(%s) = %q, %v, want echo", src, into.Tool, err)
		}
	}
	// What is skipped must be strict as well.
	for src, reason := range map[string]string{
		`{"extra":{"a":1,"a":2}}`: jcs.DuplicateKey,
		`{"extra":["\udc00"]}`:    jcs.LoneSurrogate,
		"{\"extra\":\"\xff\"}":    jcs.InvalidUTF8,
		`{"extra":1e999}`:         jcs.NumberRange,
		`{"extra":nul}`:           jcs.InvalidSyntax,
		`{"extra":1,"extra":2}`:   jcs.DuplicateKey,
	} {
		var into call
		wantRefusal(t, jcs.UnmarshalLenient([]byte(src), &into), reason)
	}
}

func TestUnwrap(t *testing.T) {
	var into call
	err := jcs.Unmarshal([]byte(`{"next":{"color":"hunter2"}}`), &into)
	if !errors.Is(err, errColor) {
		t.Errorf("errors.Is(%v, errColor) = false", err)
	}
}

// Error texts go to logs, and inputs hold secrets.
func TestErrorsKeepSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, src := range []string{
		`{"count":"hunter2"}`, `{"at":"hunter2"}`, `{"color":"hunter2"}`, `{"next":"hunter2"}`,
		`{"nested":[{"n":"hunter2"}]}`, `{"tool":"hunter2","tool":"x"}`, `{"tool":"hunter2\ud800"}`,
		`{"tool":"hunter2`, `{"tool":hunter2}`, `hunter2`, `{"tool":""} hunter2`, "\"hunter2\xff\"",
		`{"labels":{"a":["hunter2"]}}`, `{"tool":"\hunter2"}`,
	} {
		for name, decode := range decoders {
			var into call
			err := decode([]byte(src), &into)
			if err == nil {
				t.Errorf("%s(%s) was taken", name, src)
			} else if strings.Contains(err.Error(), secret) {
				t.Errorf("%s(%s) repeats the value: %v", name, src, err)
			}
		}
	}
	for src, number := range map[string]string{`{"count":31337.5}`: "31337", `{"count":31337e400}`: "31337"} {
		var into call
		if err := jcs.Unmarshal([]byte(src), &into); err == nil || strings.Contains(err.Error(), number) {
			t.Errorf("Unmarshal(%s) repeats the value: %v", src, err)
		}
	}
}

func TestErrorTextIsBounded(t *testing.T) {
	name := strings.Repeat("é\n", 100_000)
	src, err := jcs.Marshal(map[string]any{name: map[string]int{"b": 1}})
	if err != nil {
		t.Fatal(err)
	}
	var into call
	err = jcs.Unmarshal(src, &into)
	wantRefusal(t, err, jcs.UnknownMember)
	if text := err.Error(); len(text) > 1000 || strings.Contains(text, "\n") {
		t.Errorf("error text has %d bytes, or a line end", len(text))
	}
}

func TestMarshal(t *testing.T) {
	v := call{
		Tool: "<a href='x'>&\u2028",
		Args: args(`{"z": 1.50, "a":"\u0041"}`),
		At:   time.Date(2026, 11, 20, 15, 49, 0, 0, time.UTC),
		Labels: map[string]string{
			"z": "1", "a": "2", "m": "3", "b": "4", "y": "5", "c": "6",
		},
	}
	want := `{"tool":"<a href='x'>&` + "\u2028" + `","args":{"z":1.50,"a":"A"},"at":"2026-11-20T15:49:00Z",` +
		`"labels":{"a":"2","b":"4","c":"6","m":"3","y":"5","z":"1"}}`
	for range 20 { // map order is random
		got, err := jcs.Marshal(v)
		if err != nil || string(got) != want {
			t.Fatalf("Marshal\n got %s, %v\nwant %s", got, err, want)
		}
	}
	var back call
	if err := jcs.Unmarshal([]byte(want), &back); err != nil {
		t.Error(err)
	}
}

func TestMarshalIndent(t *testing.T) {
	got, err := jcs.MarshalIndent(map[string]any{"b": "<", "a": []int{1}, "c": []int{}})
	want := "{\n  \"a\": [\n    1\n  ],\n  \"b\": \"<\",\n  \"c\": []\n}"
	if err != nil || string(got) != want {
		t.Errorf("MarshalIndent = %s, %v, want %s", got, err, want)
	}
}

func TestMarshalRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		v      any
		reason string
	}{
		{"not UTF-8", map[string]string{"a": "x\xff"}, jcs.InvalidUTF8},
		{"a function", []any{func() {}}, jcs.WrongType},
		{"not a number", math.NaN(), jcs.WrongType},
		{"raw duplicate", call{Args: args(`{"a":1,"a":2}`)}, jcs.DuplicateKey},
		{"raw rubbish", call{Args: args(`{"hunter2`)}, jcs.InvalidSyntax},
		{"raw second value", call{Args: args(`1 "hunter2"`)}, jcs.InvalidSyntax},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := jcs.Marshal(c.v)
			wantRefusal(t, err, c.reason)
			if got != nil || err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("Marshal = %q, %v", got, err)
			}
		})
	}
}

// json.RawMessage of the standard library is such a type too.
func TestStandardRawMessage(t *testing.T) {
	var v struct {
		Raw json.RawMessage `json:"raw"`
	}
	if err := jcs.Unmarshal([]byte(`{"raw":{"a":1}}`), &v); err != nil || string(v.Raw) != `{"a":1}` {
		t.Errorf("raw = %s, %v", v.Raw, err)
	}
	if got, err := jcs.Marshal(v); err != nil || string(got) != `{"raw":{"a":1}}` {
		t.Errorf("Marshal = %s, %v", got, err)
	}
}
