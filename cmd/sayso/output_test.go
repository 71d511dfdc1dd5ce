package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Escaping changes how JSON looks, and nothing of what it says.
func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"plain, <b> & \u001b"}`: `{"a":"plain, <b> & \u001b"}`,
		`"Grüße, мир, 世界, 😀"`:         `"Grüße, мир, 世界, 😀"`,
		"\"\u202e\u009b\u200b\"":      `"\u202e\u009b\u200b"`,
		"\"a\U000e0041\u00adb\"":      `"a\udb40\udc41\u00adb"`,
		"\"\x7f\"":                    `"\u007f"`,
		"{\n  \"x\u2066\": 1\n}":      "{\n  \"x\\u2066\": 1\n}",
	} {
		got := escaped([]byte(text))
		if string(got) != want {
			t.Errorf("%q is written as %s, want %s", text, got, want)
		}
		var before, after any
		if err := errors.Join(jcs.Unmarshal([]byte(text), &before), jcs.Unmarshal(got, &after)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%q says something else: %s", text, diff)
		}
	}
}

// What is put into a line is safe to look at, whatever its type; numbers stay
// numbers.
func TestPrint_isSafe(t *testing.T) {
	var out, errs bytes.Buffer
	a := &app{out: &out, err: &errs}
	a.print("%s %v %6d %s", "a\x1b[2J", sayso.State("b\u202e"), 7, errors.New("c\u009b"))
	a.note("%v %s", errors.New("d\u2066"), grade("e\x07"))
	if got, want := out.String(), "a\\x1b[2J b\\u{202e}      7 c\\x9b\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if got, want := errs.String(), "sayso: d\\u{2066} e\\x07\n"; got != want {
		t.Errorf("noted %q, want %q", got, want)
	}
}
