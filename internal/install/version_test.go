package install_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/install"
)

// What a program says of its version is found in what it prints; one that cannot be run
// says why.
func TestVersion(t *testing.T) {
	for text, want := range map[string]string{
		"#!/bin/sh\necho 2.1.330 '(Claude Code)'\n":       "2.1.330",
		"#!/bin/sh\necho 'This is codex, version 0.1.2.'": "0.1.2",
		"#!/bin/sh\necho none\n":                          `says "none"`,
		"#!/bin/sh\nexit 3\n":                             "exit status 3",
		"\x7fnothing that this machine runs":              "--ignore-scripts; install it again",
	} {
		at := t.TempDir() + "/program"
		if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		got, err := install.Version(t.Context(), at)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
