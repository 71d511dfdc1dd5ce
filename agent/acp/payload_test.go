package acp_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/acp"
	"github.com/sayso-dev/sayso/internal/jcs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// heard is what became of a payload.
type heard struct {
	Agent     acp.Peer            `json:"agent"`
	Questions []question          `json:"questions"`
	Errands   []errand            `json:"errands,omitempty"` // what the editor is to do
	Ended     map[string][]string `json:"ended"`             // by call: completed or failed
}

type errand struct {
	Call   sayso.Call         `json:"call"`
	Known  string             `json:"known"` // the canonical tool, and its kind
	Shown  sayso.Presentation `json:"shown"`
	Denied jsontext.Value     `json:"denied"`
}

type question struct {
	Call    sayso.Call         `json:"call"`
	Known   string             `json:"known"` // the canonical tool, and its kind
	Shown   sayso.Presentation `json:"shown"`
	Allowed jsontext.Value     `json:"allowed"`
	Denied  jsontext.Value     `json:"denied"`
}

// What real agents sent is read as it was when a person looked at it last.
func TestPayloads(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil || len(files) < 14 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := jcs.MarshalIndent(hear(t, text))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := strings.TrimSuffix(file, ".jsonl") + ".golden.json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-want +got); if that is right, type: go test ./agent/acp -update\n%s", diff)
			}
		})
	}
}

// hear reads what an agent sent.
func hear(t *testing.T, text []byte) heard {
	t.Helper()
	h := heard{Ended: map[string][]string{}}
	var told acp.Told
	for line := range bytes.Lines(text) {
		m, err := acp.Read(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if a, ok := m.Agent(); ok {
			h.Agent = a
		}
		if m.Errand() {
			h.Errands = append(h.Errands, does(t, &m, h.Agent))
		}
		switch m.Method {
		case acp.Update:
			if _, c, ok := told.Hear(&m); ok && c.Over() {
				h.Ended[c.ID] = append(h.Ended[c.ID], c.Status)
			}
		case acp.Ask:
			h.Questions = append(h.Questions, asked(t, &m, &told, h.Agent))
		}
	}
	return h
}

func asked(t *testing.T, m *acp.Message, told *acp.Told, agent acp.Peer) question {
	t.Helper()
	p, err := m.Permission()
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Call(told.Of(p.Session, p.Tool.ID), acp.Place{Cwd: "/home/dev/app", Caller: "acp/x", CallID: p.Tool.ID, Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	known := c.Known()
	return question{
		Call: c, Known: known.Name + " " + string(known.Kind), Shown: acp.Present(c),
		Allowed: p.Reply(sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}, nil),
		Denied:  p.Reply(sayso.Decision{}, nil),
	}
}

// does is what an agent has the editor do, before a file with one line.
func does(t *testing.T, m *acp.Message, agent acp.Peer) errand {
	t.Helper()
	e, err := m.ReadErrand()
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Call(acp.Place{Cwd: "/home/dev/app", Caller: "acp/x", CallID: "x", Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	known := c.Known()
	f := sayso.Facts{Operands: []sayso.PathFact{{Arg: "path", Resolved: "/home/dev/app/a.txt", State: sayso.PathFile}}}
	return errand{
		Call: c, Known: known.Name + " " + string(known.Kind), Denied: e.Reply(sayso.Decision{}, nil),
		Shown: e.Present(c, f, func(sayso.PathFact) (string, error) { return "one\n", nil }),
	}
}
