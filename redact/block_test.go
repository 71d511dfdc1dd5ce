package redact_test

import (
	"testing"

	"github.com/sayso-dev/sayso/redact"
)

// What stands in brackets under a telling name keeps its names and its form.
func TestVW5_valuesInBrackets(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"tokens: {a: bcd, c: \"d, e\"}\nhost: h\n", "tokens: {a: [hidden 3 bytes], c: \"[hidden 4 bytes]\"}\nhost: h\n"},
		{"secrets: [ab, 'c d']\n", "secrets: [[hidden 2 bytes], '[hidden 3 bytes]']\n"},
		{"secrets:\n  - {name: a, file: ./db.txt}\n  - b\n", "secrets:\n  - {name: [hidden 1 bytes], file: [hidden 8 bytes]}\n  - [hidden 1 bytes]\n"},
		{"x: {secret: {a: {b: cde}}, host: h}\n", "x: {secret: {a: {b: [hidden 3 bytes]}}, host: h}\n"},
		{"x: {secret: !vault abc, host: h}\n", "x: {secret: !vault [hidden 3 bytes], host: h}\n"},
		{"session: {timeout: 5}\n", "session: {timeout: 5}\n"},
		{"x = {'session': {'id': 'abc', 'n': 5}, 'y': 1}\n", "x = {'session': {'id': '[hidden 3 bytes]', 'n': 5}, 'y': 1}\n"},
		{"token: [hidden 5 bytes]\n", "token: [hidden 5 bytes]\n"},
		{"tokens: {a: $A, b: ${B}}\n", "tokens: {a: $A, b: ${B}}\n"},
	} {
		if got, _ := redact.New(nil).Text(tt.in); got != tt.want {
			t.Errorf("%q\nis shown as %q\nwant        %q", tt.in, got, tt.want)
		}
	}
}
