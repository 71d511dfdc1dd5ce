//go:build unix

package hosts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/hosts"
	"github.com/sayso-dev/sayso/lab/machine"
)

// TestTogether is a person with several agents at work at once, each in a folder of
// its own: all of them ask in the one inbox, by name, and each does what it was
// answered. The first is allowed, the second denied, and of the third nobody
// answers in time. Without -real the third is a second Claude Code.
func TestTogether(t *testing.T) {
	t.Parallel()
	agents := []hosts.Host{hosts.Claude, hosts.Codex, hosts.Claude}
	if *real {
		agents[2] = hosts.Gemini
	}
	m := machine.New(t)
	var gates []*gate
	for i, h := range agents {
		own := *m
		own.Dir = t.TempDir()
		gates = append(gates, &gate{&own, t, h})
		if !slices.ContainsFunc(agents[:i], func(other hosts.Host) bool { return other.Name == h.Name }) {
			gates[i].wire("")
		}
	}
	m.Write(m.Paths().Policy(), "version: 1\ndeadline: {after: 30s, then: expire}\n")
	if status := gates[0].Must("status"); !strings.HasPrefix(status, "protected: each of ") {
		t.Errorf("sayso status says %s", status)
	}
	var ends []func() []modelstub.ToolResult
	for i, g := range gates {
		wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", names[i]))))
		ends = append(ends, wait)
	}
	open := m.Opened(len(gates))
	inbox := strings.Split(m.Must("inbox"), "\n")
	asked := func(i int) sayso.Request {
		at := slices.IndexFunc(open, func(r sayso.Request) bool { return strings.Contains(string(r.Preview), "touch "+names[i]) })
		if at < 0 {
			t.Fatalf("nobody asks to touch %s: %+v", names[i], open)
		}
		r := open[at]
		if r.Caller != agents[i].Name+"/main" || !slices.ContainsFunc(inbox, func(line string) bool {
			return strings.Contains(line, r.ShortID) && strings.Contains(line, agents[i].Name) && strings.Contains(line, "touch "+names[i])
		}) {
			t.Errorf("%s asks as %q, and the inbox is\n%s", agents[i].Title, r.Caller, strings.Join(inbox, "\n"))
		}
		return r
	}
	first, second, third := asked(0), asked(1), asked(2)
	m.Approve(first)
	m.Must("deny", second.ShortID, "--note", "not you")
	results := [][]modelstub.ToolResult{ends[0](), ends[1](), ends[2]()}
	for i, ran := range [][]string{{"approved"}, {}, {}} {
		if got := gates[i].files(); !slices.Equal(got, ran) {
			t.Errorf("%s: %q ran, want %q", agents[i].Title, got, ran)
		}
	}
	gates[1].heard(results[1], "Denied by", "not you")
	gates[2].heard(results[2], "Expired", "not a refusal")
	for i, r := range []sayso.Request{first, second, third} {
		life := []string{"requested answered resolved redeemed", "requested answered resolved", "requested expired"}[i]
		if got := gates[i].life(r); got != life && got != life+" finished" {
			t.Errorf("%s: the life of its request is %q", agents[i].Title, got)
		}
	}
	m.Must("log", "verify")
}

// names are of the files that the agents would leave.
var names = []string{"approved", "denied", "late"}

// life is what became of one request.
func (g *gate) life(r sayso.Request) string {
	g.t.Helper()
	all := g.Requests()
	return g.Lives()[slices.IndexFunc(all, func(other sayso.Request) bool { return other.ID == r.ID })]
}
