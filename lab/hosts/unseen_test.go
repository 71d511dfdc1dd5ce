//go:build unix

package hosts_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/hosts"
)

// unseen is what a gate may not be asked about, and what came of it.
type unseen struct {
	What string `json:"what"`
	Came string `json:"came"`
}

const (
	nobodyAsked = "happens, and nobody is asked"
	askedAbout  = "asked about"
	doesNot     = "does not happen"
)

// probes are what hosts do that no hook may be told of.
var probes = []struct {
	what string
	run  func(g *gate) (came string)
}{
	{"a file that the prompt names with @ is read", func(g *gate) string {
		const secret = "what only the file says"
		g.wire("default: deny\n")
		g.Write(filepath.Join(g.Dir, "notes.txt"), secret+"\n")
		stub := modelstub.New(modelstub.Say("done"))
		end, _ := g.h.Start(g.t, hosts.Options{Stub: stub, Dir: g.Dir, Home: g.Home, Env: g.Env, Prompt: "Look at @notes.txt"})
		end()
		return g.came(slices.ContainsFunc(stub.Requests(), func(r modelstub.Request) bool { return strings.Contains(string(r.Body), secret) }), 0)
	}},
	{"text is typed into a program that runs", func(g *gate) string {
		start, typed := g.h.Typing()
		if typed == nil {
			return "has no tool for it"
		}
		g.wire("")
		stub := modelstub.New(modelstub.Use(start), modelstub.Then(func(back []modelstub.ToolResult) modelstub.Turn {
			return modelstub.Use(typed(back[len(back)-1].Content, "touch marker; exit\n"))
		}))
		wait, _ := g.start(stub, "SAYSO_PATIENCE=20s")
		g.Approve(g.unanswered())
		wait()
		return g.came(g.Exists("marker"), 1)
	}},
}

// came says whether something happened, and whether the gate was asked about more
// than the calls before it.
func (g *gate) came(happened bool, before int) string {
	g.t.Helper()
	switch {
	case len(g.Lives()) > before:
		return askedAbout
	case happened:
		return nobodyAsked
	}
	return doesNot
}

// TestUnseen has each host do what no hook may be told of, and compares what came
// of it with the record. With -update the record is written.
func TestUnseen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h hosts.Host) {
		t.Parallel()
		got := make([]unseen, len(probes))
		t.Run("all", func(t *testing.T) {
			for i, p := range probes {
				t.Run(p.what, func(t *testing.T) {
					t.Parallel()
					got[i] = unseen{p.what, p.run(bare(t, h))}
				})
			}
		})
		if *update {
			amend(t, h, func(r *record) { r.Unseen = got })
		}
		if diff := cmp.Diff(readRecord(t, recordFile(h)).Unseen, got); diff != "" {
			t.Errorf("the host does otherwise than in the record (-record +seen):\n%s", diff)
		}
	})
}
