package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	const asked = "sent to bob@example.org\nSend email to eve@example.com: the plan\nallow? [y/N] "
	for typed, want := range map[string]struct{ out, err string }{
		"y\n": {asked + "sent to eve@example.com\n", ""},
		"n\n": {asked, "Denied by ana (ticket "},
		"":    {asked, "Denied by ana (ticket "},
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.NewReader(typed), &out)
		if out.String() != want.out {
			t.Errorf("typed %q: got %q, want %q", typed, out.String(), want.out)
		}
		if (err != nil) != (want.err != "") || err != nil && !strings.HasPrefix(err.Error(), want.err) {
			t.Errorf("typed %q: %v", typed, err)
		}
	}
}
