package jcs_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// body is about one KiB, like the request of a hook.
var body = []byte(`{"tool":"Bash","at":"2026-11-20T15:49:00Z","count":120000,"labels":{"session":"0198f1","cwd":"/home/u/src"},` +
	`"args":{"timeout":1.5,"command":"` + strings.Repeat(`git log --oneline \"main\" | head; `, 25) + `","list":[1,2,3,4.0]}}`)

func BenchmarkUnmarshal(b *testing.B) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var into call
		if err := jcs.Unmarshal(body, &into); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanonicalize(b *testing.B) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jcs.Canonicalize(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := jcs.Check(body); err != nil {
			b.Fatal(err)
		}
	}
}
