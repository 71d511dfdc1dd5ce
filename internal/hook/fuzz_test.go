package hook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// FuzzHosts finds input that makes the adapter of a host panic, and a call that
// has no digest, or another one in canonical form.
func FuzzHosts(f *testing.F) {
	files, err := filepath.Glob("../../agent/*/testdata/payloads/*/*.json")
	if err != nil || len(files) < 50 {
		f.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, h := range Hosts() {
			fuzzHost(t, h, text)
		}
	})
}

func fuzzHost(t *testing.T, h Host, text []byte) {
	read, err := h.Parse(text)
	if err != nil || read.Told().Moment != agent.Before {
		return
	}
	d, err := read.Told().Call.Digest()
	if err != nil || d.IsZero() {
		t.Fatalf("%s: read, and has no digest: %v", h.Name, err)
	}
	canonical, err := jcs.Canonicalize(text)
	if err != nil {
		t.Fatalf("%s: read, and is not strict JSON: %v", h.Name, err)
	}
	again, err := h.Parse(canonical)
	if err != nil {
		t.Fatalf("%s: not read in canonical form: %v", h.Name, err)
	}
	if e, _ := again.Told().Call.Digest(); e != d {
		t.Fatalf("%s: another digest in canonical form", h.Name)
	}
}
