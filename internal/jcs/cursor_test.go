package jcs_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// walk takes a value apart with a cursor. Numbers keep their spelling.
func walk(c *jcs.Cursor) any {
	switch c.Peek() {
	case '{':
		members := map[string]any{}
		for c.Step(); c.Peek() != '}'; {
			name := jcs.Unquote(c.Plain())
			members[name] = walk(c)
		}
		c.Step()
		return members
	case '[':
		items := []any{}
		for c.Step(); c.Peek() != ']'; {
			items = append(items, walk(c))
		}
		c.Step()
		return items
	case '"':
		return jcs.Unquote(c.Plain())
	}
	switch plain := c.Plain(); plain {
	case "null":
		return nil
	case "true", "false":
		return plain == "true"
	default:
		return json.Number(plain)
	}
}

func TestCursor(t *testing.T) {
	src := ` { "a" : [1 , -2.5e3,"x\n\u00e9",true, false,null ] ,"":{}, "b\"":[[],{"c":"}"}] } `
	want := map[string]any{
		"a":  []any{json.Number("1"), json.Number("-2.5e3"), "x\né", true, false, nil},
		"":   map[string]any{},
		`b"`: []any{[]any{}, map[string]any{"c": "}"}},
	}
	c := jcs.Walk(src)
	if got := walk(&c); !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if c.Peek() != 0 || c.Offset() != len(src) {
		t.Errorf("the cursor stands at %d of %d", c.Offset(), len(src))
	}
}

func TestCursor_offset(t *testing.T) {
	c := jcs.Walk(`[ 12, "a" ]`)
	var at []int
	for _, pass := range []func(){c.Step, func() { c.Plain() }, func() { c.Plain() }, c.Step} {
		c.Peek()
		at = append(at, c.Offset())
		pass()
		at = append(at, c.Offset())
	}
	if want := []int{0, 1, 2, 4, 6, 9, 10, 11}; !reflect.DeepEqual(at, want) {
		t.Errorf("offsets %v, want %v", at, want)
	}
}

func TestValid(t *testing.T) {
	for src, want := range map[string]bool{
		`{"a":[1e999]}`: true, ` 1 `: true, `{"a":1,"a":2}`: false, "\"\xff\"": false, `{} {}`: false, ``: false, `[1,]`: false,
	} {
		if got := jcs.Valid([]byte(src)); got != want {
			t.Errorf("Valid(%q) = %t", src, got)
		}
	}
}

// What is valid is read as the standard library reads it.
func FuzzCursor(f *testing.F) {
	f.Add([]byte(` {"a":[1,-0.5e+7,"\ud83d\ude00",{}],"b" : null}`))
	f.Add([]byte(`"\\\""`))
	f.Fuzz(func(t *testing.T, src []byte) {
		if !jcs.Valid(src) {
			return
		}
		var want any
		d := json.NewDecoder(bytes.NewReader(src))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			return
		}
		c := jcs.Walk(string(src))
		if got := walk(&c); !reflect.DeepEqual(got, want) {
			t.Errorf("read %v of %q, want %v", got, src, want)
		}
		if c.Peek() != 0 {
			t.Errorf("the cursor did not reach the end of %q", src)
		}
	})
}
