package tool_test

import (
	"errors"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// TestFiles_policy: the tools and the policy judge by the same folders, and the
// stricter of the two counts.
func TestFiles_policy(t *testing.T) {
	file, err := policy.Parse("policy.yaml", []byte(`version: 1
sandbox:
  paths:
    output: {root: output, mode: rw, write_approval: false}
    notes: {root: notes, mode: rw, suffixes: [.txt]}
rules:
  - deny: "file-delete:output/keep*"
`))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: file})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		call  sayso.Call
		roots []string
		asks  int
		err   error
	}{
		{"free by both", calls(t, tool.WriteFile, obj{"path": "output/text", "content": "x"}), rules.Roots(), 0, nil},
		{"a folder that nobody looked up", calls(t, tool.WriteFile, obj{"path": "output/text", "content": "x"}), nil, 1, nil},
		{"asked about by both", calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"}), rules.Roots(), 1, nil},
		{"an ending that the policy does not want", calls(t, tool.WriteFile, obj{"path": "notes/x.log", "content": "x"}), rules.Roots(), 0, sayso.ErrNotAllowed},
		{"a folder that the policy does not have", calls(t, tool.ReadFile, obj{"path": "src/main.go"}), rules.Roots(), 0, sayso.ErrNotAllowed},
		{"a rule about one end of a move", calls(t, tool.MoveFile, obj{"from": "output/keep.txt", "to": "notes/keep.txt"}), rules.Roots(), 0, sayso.ErrNotAllowed},
		{"a move", calls(t, tool.MoveFile, obj{"from": "output/text", "to": "notes/text.txt"}), rules.Roots(), 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			work, f := sandbox(t)
			write(t, work, "output/keep.txt", "keep\n")
			b := saysotest.New(t, saysotest.WithPolicy(rules), saysotest.ApproveAll())
			w := tool.Wrap(b.Gate(), f, &tool.Terms{Workspace: work, Roots: tt.roots, Call: sayso.Call{Session: "s"}})
			_, err := w.Call(t.Context(), tt.call)
			if !errors.Is(err, tt.err) || tt.err == nil && err != nil {
				t.Errorf("got %v, want %v", err, tt.err)
			}
			if n := len(b.Asked()); n != tt.asks {
				t.Errorf("asked %d times, want %d: %+v", n, tt.asks, b.Asked())
			}
		})
	}
}
