//go:build unix

package hosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/hosts"
	"github.com/sayso-dev/sayso/lab/machine"
)

// labCase is one thing that every host is driven through, with the real hook as
// sayso init installs it, the real gate, and a model that plays a script.
type labCase struct {
	name string
	run  func(g *gate) []modelstub.ToolResult // what reached the model
	// rules are the policy, and hook what stands in the place of our hook; both
	// may be missing.
	rules string
	hook  func(g *gate) (flag string)
	// ran are the files that must be there at the end, and told the words that
	// must have reached the model last.
	ran  []string
	told []string
	// open says that a host may let the call run: nothing of ours can turn it
	// round. The record says which do.
	open bool
	// blind says that there is no log to be read at the end.
	blind bool
}

const (
	allowTouch = "rules:\n  - allow: \"bash:touch*\"\n"
	denyMarker = "rules:\n  - deny: \"bash:touch marker\"\n    name: no markers\n"
)

// labCases are the cases, in the order of the table.
var labCases = []labCase{
	{name: "a rule allows", rules: allowTouch, run: alone, ran: []string{"marker"}},
	{name: "a rule denies", rules: denyMarker, run: alone, told: []string{"Denied by policy", "no markers"}},
	{name: "a person allows", ran: []string{"marker"}, run: func(g *gate) []modelstub.ToolResult {
		wait, _ := g.start(g.one())
		g.Approve(g.unanswered())
		return wait()
	}},
	{name: "a person denies, with a note", told: []string{"Denied by", "use make marker"}, run: func(g *gate) []modelstub.ToolResult {
		wait, _ := g.start(g.one())
		g.Must("deny", g.unanswered().ShortID, "--note", "use make marker")
		return wait()
	}},
	{name: "a person edits", ran: []string{"edited"}, run: func(g *gate) []modelstub.ToolResult {
		wait, _ := g.start(g.one())
		edit := filepath.Join(g.Home, "edit.json")
		g.Write(edit, `{"command":"touch edited"}`)
		g.Approve(g.unanswered(), "--edit="+edit)
		return wait()
	}},
	{name: "nobody answers in time", rules: "deadline: {after: 1s, then: expire}\n", run: alone, told: []string{"Expired", "not a refusal"}},
	{name: "answered after the hook gave up, and taken up", ran: []string{"marker"}, run: func(g *gate) []modelstub.ToolResult {
		wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker")), modelstub.Then(func(back []modelstub.ToolResult) modelstub.Turn {
			g.heard(back, "Not decided yet, ticket")
			g.Approve(g.unanswered())
			return modelstub.Use(g.touch("toolu_2", "marker"))
		})), "SAYSO_PATIENCE=1s")
		return wait()
	}},
	{name: "the hook crashes", rules: allowTouch, told: []string{"Could not find out"},
		hook: func(g *gate) string { return "--hook=" + machine.Crashing(g.t) },
		run: func(g *gate) []modelstub.ToolResult {
			wait, _ := g.start(g.one(), "SAYSO_HOOK_PANIC=the lab")
			return wait()
		}},
	{name: "the hook is killed, and the call made again", ran: []string{"marker"}, run: func(g *gate) []modelstub.ToolResult {
		wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker")), modelstub.Then(func([]modelstub.ToolResult) modelstub.Turn {
			g.unanswered() // and nothing ran
			return modelstub.Use(g.touch("toolu_2", "marker"))
		})))
		r := g.unanswered()
		g.killHooks()
		g.Event(sayso.EventTaken)
		g.Approve(r)
		return wait()
	}},
	{name: "the host is killed", run: func(g *gate) []modelstub.ToolResult {
		_, kill := g.start(g.one())
		r := g.unanswered()
		kill()
		g.Event(sayso.EventParked)
		g.Approve(r)
		return nil
	}},
	{name: "the hook prints garbage", rules: denyMarker, run: alone, open: true,
		hook: func(g *gate) string { return g.hook("cat >/dev/null; echo garbage") }},
	{name: "the hook prints half a JSON object", rules: denyMarker, run: alone, open: true,
		hook: func(g *gate) string { return g.hook("cat >/dev/null; printf '%s' '" + half(g.h) + "'") }},
	{name: "the hook is missing", rules: allowTouch,
		hook: func(g *gate) string { return g.hook("exit 0") },
		run: func(g *gate) []modelstub.ToolResult {
			if err := os.RemoveAll(filepath.Join(g.Home, "other")); err != nil {
				g.t.Fatal(err)
			}
			return alone(g)
		}},
	{name: "the database is broken", rules: allowTouch, told: []string{"Could not find out"}, blind: true, run: func(g *gate) []modelstub.ToolResult {
		g.Write(g.Paths().Database(), "this is no database, and never was one, however long one looks at it")
		return alone(g)
	}},
	{name: "the policy is broken", rules: "rules: 7\n", told: []string{"Could not find out"}, run: alone},
	{name: "the server is slow", rules: allowTouch, ran: []string{"marker"}, run: func(g *gate) []modelstub.ToolResult {
		server := g.Serve("none")
		wait, _ := g.start(modelstub.New(modelstub.Then(func([]modelstub.ToolResult) modelstub.Turn {
			server.Signal(syscall.SIGSTOP)
			go func() { // ends when the hook says that it runs
				g.heardHook()
				server.Signal(syscall.SIGCONT)
			}()
			return modelstub.Use(g.touch("toolu_1", "marker"))
		})))
		return wait()
	}, hook: func(g *gate) string { return g.announced() }},
	{name: "the server hangs", rules: allowTouch, told: []string{"Could not find out"}, run: func(g *gate) []modelstub.ToolResult {
		server := g.Serve("none")
		wait, _ := g.start(modelstub.New(
			modelstub.Then(func([]modelstub.ToolResult) modelstub.Turn {
				server.Signal(syscall.SIGSTOP)
				return modelstub.Use(g.touch("toolu_1", "marker"))
			}),
			modelstub.Then(func([]modelstub.ToolResult) modelstub.Turn {
				server.Kill() // else it would answer now, and nobody listens
				return modelstub.Say("done")
			}),
		), "SAYSO_PATIENCE=1s")
		return wait()
	}},
	{name: "twenty calls at once", rules: allowTouch + denyMarker[len("rules:\n"):], ran: markers(19), run: func(g *gate) []modelstub.ToolResult {
		lines := []string{"touch marker"}
		for _, name := range markers(19) {
			lines = append(lines, "touch "+name)
		}
		wait, _ := g.start(modelstub.New(modelstub.Use(g.h.Many(lines)...)))
		return wait()
	}},
	{name: "a tool of an MCP server", told: []string{"Denied by", "no deployments"}, run: func(g *gate) []modelstub.ToolResult {
		wait, _ := g.start(modelstub.New(modelstub.Use(g.h.Deploy("toolu_1"))))
		g.Must("deny", g.unanswered().ShortID, "--note", "no deployments")
		return wait()
	}},
	{name: "an agent of the host's own makes the call", rules: "rules:\n  - allow: delegate\n" + denyMarker[len("rules:\n"):], run: func(g *gate) []modelstub.ToolResult {
		wait, _ := g.start(g.h.InAgent(g.touch("toolu_1", "marker")).Stub())
		return slices.DeleteFunc(wait(), func(r modelstub.ToolResult) bool { return r.ID != "toolu_1" })
	}, told: []string{"Denied by policy", "no markers"}},
}

func alone(g *gate) []modelstub.ToolResult {
	wait, _ := g.start(g.one())
	return wait()
}

func markers(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("m%02d", i))
	}
	return names
}

// unanswered waits for the one request that is open, before which nothing runs.
func (g *gate) unanswered() sayso.Request {
	g.t.Helper()
	r := g.Opened(1)[0]
	if files := g.files(); len(files) > 0 {
		g.t.Errorf("%q ran before it was answered", files)
	}
	return r
}

// heard checks what the model was told last.
func (g *gate) heard(results []modelstub.ToolResult, words ...string) {
	g.t.Helper()
	if len(results) == 0 {
		g.t.Fatal("the model was told nothing")
	}
	last := results[len(results)-1]
	for _, w := range words {
		if !strings.Contains(last.Content, w) {
			g.t.Errorf("the model was told %q, without %q", last.Content, w)
		}
	}
}

// TestCases drives each host through the cases, and compares what was seen with
// the record. With -update the record is written.
func TestCases(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h hosts.Host) {
		t.Parallel()
		for _, c := range labCases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				got := c.seen(t, h)
				if t.Failed() {
					return
				}
				if *update {
					amend(t, h, func(r *record) { r.put(got) })
				}
				want, ok := readRecord(t, recordFile(h)).of(c.name)
				if !ok {
					t.Fatalf("the record of %s %s has no such case; type: make lab HOST=%s", h.Title, h.Version, h.Name)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the host does otherwise than in the record (-record +seen):\n%s", diff)
				}
			})
		}
	})
}

// seen runs a case and says what came of it. What a case must come to, whatever
// the record says, is checked here.
func (c labCase) seen(t *testing.T, h hosts.Host) seen {
	g := bare(t, h)
	var flags []string
	if c.hook != nil {
		flags = append(flags, c.hook(g))
	}
	g.wire(c.rules, flags...)
	results := c.run(g)
	s := seen{Case: c.name, Ran: g.files(), Told: ours(results), Log: []string{}}
	if !c.blind {
		s.Log = g.log()
	}
	s.Held = slices.Equal(s.Ran, append([]string{}, c.ran...))
	if !s.Held && !c.open {
		t.Errorf("ran %q, want %q; the model was told %+v", s.Ran, c.ran, results)
	}
	if len(c.told) > 0 {
		g.heard(results, c.told...)
	}
	if s.Held && len(c.ran) > 0 && !slices.ContainsFunc(s.Log, func(l string) bool { return strings.Contains(l, "redeemed") }) {
		t.Errorf("the call ran, and nothing in the log says so: %q", s.Log)
	}
	return s
}

// ourWords are how what we tell a model begins, or where it can be known by; see
// docs/texts.md.
var ourWords = []string{
	"Expired", "Not decided yet", "Could not find out", "the hook failed", "Denied by policy", "Denied by",
}

// ours are which of them reached the model last.
func ours(results []modelstub.ToolResult) string {
	if len(results) == 0 {
		return ""
	}
	for _, w := range ourWords {
		if strings.Contains(results[len(results)-1].Content, w) {
			return w
		}
	}
	return ""
}

// log says which calls the gate saw, and what became of each. Those that are
// alike are counted.
func (g *gate) log() []string {
	g.t.Helper()
	lives := g.Lives()
	var lines []string
	for i, r := range g.Requests() {
		lines = append(lines, fmt.Sprintf("%s by %s: %s", tool(r), r.Caller, lives[i]))
	}
	slices.Sort(lines)
	counted := []string{}
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n] == lines[0] {
			n++
		}
		if n > 1 {
			lines[0] = fmt.Sprintf("%d x %s", n, lines[0])
		}
		counted, lines = append(counted, lines[0]), lines[n:]
	}
	return counted
}

// tool is the tool of a request, with its server.
func tool(r sayso.Request) string {
	if r.Server != "" {
		return r.Tool + " of " + r.Server
	}
	return r.Tool
}
