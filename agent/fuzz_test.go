package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/antigravity"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/agent/copilot"
	"github.com/sayso-dev/sayso/agent/cursor"
	"github.com/sayso-dev/sayso/agent/gemini"
	"github.com/sayso-dev/sayso/agent/opencode"
	"github.com/sayso-dev/sayso/agent/vscode"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// parsers read what a host's hook is told, by the folder of the host.
var parsers = map[string]func([]byte) (agent.Hook, error){
	"antigravity": func(text []byte) (agent.Hook, error) { return antigravity.Parse(text) },
	"claudecode":  func(text []byte) (agent.Hook, error) { return claudecode.Parse(text) },
	"codex":       func(text []byte) (agent.Hook, error) { return codex.Parse(text) },
	"copilot":     func(text []byte) (agent.Hook, error) { return copilot.Parse(text) },
	"cursor":      func(text []byte) (agent.Hook, error) { return cursor.Parse(text) },
	"gemini":      func(text []byte) (agent.Hook, error) { return gemini.Parse(text) },
	"opencode":    func(text []byte) (agent.Hook, error) { return opencode.Parse(text) },
	"vscode":      func(text []byte) (agent.Hook, error) { return vscode.Parse(text) },
}

// FuzzHosts finds input that makes the adapter of a host panic, and a call that
// has no digest, or another one in canonical form.
func FuzzHosts(f *testing.F) {
	files, err := filepath.Glob("*/testdata/payloads/*/*.json")
	if err != nil || len(files) < 50 {
		f.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		if host, _, _ := strings.Cut(filepath.ToSlash(file), "/"); parsers[host] == nil {
			f.Fatalf("no parser is tried for %s", host)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for host, parse := range parsers {
			fuzzHost(t, host, parse, text)
		}
	})
}

func fuzzHost(t *testing.T, host string, parse func([]byte) (agent.Hook, error), text []byte) {
	read, err := parse(text)
	if err != nil || read.Told().Moment != agent.Before {
		return
	}
	d, err := read.Told().Call.Digest()
	if err != nil || d.IsZero() {
		t.Fatalf("%s: read, and has no digest: %v", host, err)
	}
	canonical, err := jcs.Canonicalize(text)
	if err != nil {
		t.Fatalf("%s: read, and is not strict JSON: %v", host, err)
	}
	again, err := parse(canonical)
	if err != nil {
		t.Fatalf("%s: not read in canonical form: %v", host, err)
	}
	if e, _ := again.Told().Call.Digest(); e != d {
		t.Fatalf("%s: another digest in canonical form", host)
	}
}
