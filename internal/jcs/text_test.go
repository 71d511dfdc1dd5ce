package jcs_test

import (
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
)

func TestAppendString(t *testing.T) {
	for s, want := range map[string]string{
		"":                       `""`,
		"git push":               `"git push"`,
		`a "b" \c`:               `"a \"b\" \\c"`,
		"\x00\x1f\b\f\n\r\t\x7f": `"\u0000\u001f\b\f\n\r\t` + "\x7f" + `"`,
		"<&>\u2028é😀\ufffd":      "\"<&>\u2028é😀\ufffd\"",
	} {
		got, err := jcs.AppendString([]byte("x"), s)
		if err != nil || string(got) != "x"+want {
			t.Errorf("AppendString(%q) = %s, %v, want x%s", s, got, err, want)
		}
		if again, err := jcs.Canonicalize(got[1:]); err != nil || string(again) != want {
			t.Errorf("%s is not canonical: %s, %v", want, again, err)
		}
	}
}

func TestAppendStringRefuses(t *testing.T) {
	for _, s := range []string{"\xff", "a\xc0\xafb", "\xed\xa0\x80", "\xe2\x82"} {
		got, err := jcs.AppendString([]byte("x"), s)
		wantRefusal(t, err, jcs.InvalidUTF8)
		if string(got) != "x" {
			t.Errorf("AppendString(%q) = %q", s, got)
		}
	}
}
