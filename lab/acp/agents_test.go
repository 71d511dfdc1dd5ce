//go:build unix

package acp_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/acp"
	"github.com/sayso-dev/sayso/lab/machine"
)

var real = flag.Bool("real", false, "fetch and run the agents that are left out otherwise")

func TestMain(m *testing.M) {
	flag.Parse()
	machine.Main(m)
}

// each runs a test for each agent that is to be run. What is seldom is for when all
// are run.
func each(t *testing.T, seldom bool, run func(t *testing.T, a acp.Agent)) {
	for _, a := range acp.All {
		t.Run(a.Name, func(t *testing.T) {
			if (seldom || !a.Often) && !*real {
				t.Skipf("%s is run so by a flag; type: go test ./lab/acp -args -real", a.Name)
			}
			t.Parallel()
			run(t, a)
		})
	}
}

// desk is a machine with an agent behind the relay, and an editor that talks to it.
type desk struct {
	*machine.Machine
	*acp.Editor
}

// open has a model make calls of the agent's shell, all of a turn at once, before an editor
// that does nothing for the agent.
func open(t *testing.T, a acp.Agent, rules string, turns ...[]string) desk {
	t.Helper()
	var script [][]modelstub.Call
	n := 0
	for _, lines := range turns {
		var calls []modelstub.Call
		for _, line := range lines {
			n++
			calls = append(calls, a.Run(n, line))
		}
		script = append(script, calls)
	}
	return begin(t, machine.New(t), a, rules, false, script...)
}

// begin has a model make calls, all of a turn at once, before an editor that does for the
// agent what it can.
func begin(t *testing.T, m *machine.Machine, a acp.Agent, rules string, can bool, turns ...[]modelstub.Call) desk {
	t.Helper()
	var script []modelstub.Turn
	for _, calls := range turns {
		script = append(script, modelstub.Use(calls...))
	}
	url, stop, err := modelstub.New(script...).Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	for name, text := range a.Files(t, m.Home, url) {
		m.Write(name, text)
	}
	if rules != "" {
		m.Write(m.Paths().Policy(), rules)
	}
	cmd := m.Command(append([]string{"acp", "--"}, a.Command(t)...)...)
	cmd.Env = append(m.Environ("CI="), a.Environ(url)...)
	return desk{m, acp.Open(t, cmd, can)}
}

// ran checks which files calls left.
func (d desk) ran(t *testing.T, want map[string]bool) {
	t.Helper()
	for name, there := range want {
		if d.Exists(name) != there {
			t.Errorf("%s is there: %v, want %v", name, !there, there)
		}
	}
	if len(d.Asked) > 0 {
		t.Errorf("the editor was asked: %s", d.Asked)
	}
}

// lives checks what the log says became of each request.
func (d desk) lives(t *testing.T, want ...string) {
	t.Helper()
	if got := d.Lives(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("the log says %q, want %q", got, want)
	}
}

// withdrawn checks that the one request was taken back, and nobody's yes counted.
func (d desk) withdrawn(t *testing.T) {
	t.Helper()
	lives := d.Lives()
	if len(lives) != 1 || !strings.Contains(lives[0], "withdrawn") || strings.Contains(lives[0], "resolved") {
		t.Errorf("the log says %q", lives)
	}
}

// What a person allows runs, what they deny does not, and the editor sees neither
// question.
func TestAgents_answered(t *testing.T) {
	each(t, false, func(t *testing.T, a acp.Agent) {
		d := open(t, a, "", []string{"touch yes"}, []string{"touch no"})
		turn := d.Say("go")
		r := d.Opened(1)[0]
		if r.Caller != "acp/"+a.Name || r.Tool != "bash" || r.Cwd != d.Dir {
			t.Errorf("asked: %s of %s in %s", r.Tool, r.Caller, r.Cwd)
		}
		if why := r.Cause == sayso.CauseNotUnderstood; why != a.Unseen {
			t.Errorf("asked because of %s", r.Cause)
		}
		d.Approve(r)
		d.Event(sayso.EventFinished)
		r = d.Opened(1)[0]
		d.Must("deny", r.ShortID, "--note", "use make")
		if stop := d.Turn(turn); stop == "" {
			t.Error("the turn has no end")
		}
		d.ran(t, map[string]bool{"yes": true, "no": false})
		d.lives(t, "requested answered resolved redeemed finished", "requested answered resolved")
		if status := d.Leave(); status != 0 {
			t.Errorf("exit status %d", status)
		}
		if text := d.Errors(); !strings.Contains(text, "use make") {
			t.Errorf("the note is not in the log of the agent: %s", text)
		}
	})
}

// Rules answer without a person, where the agent shows what it would run.
func TestAgents_rules(t *testing.T) {
	each(t, true, func(t *testing.T, a acp.Agent) {
		if a.Unseen {
			t.Skip("it shows no command, so that a person is asked about each; type: go test ./lab/acp -run answered -args -real")
		}
		d := open(t, a, "version: 1\nrules:\n  - allow: bash:touch yes\n  - deny: bash:touch no\n", []string{"touch yes"}, []string{"touch no"})
		d.Turn(d.Say("go"))
		d.ran(t, map[string]bool{"yes": true, "no": false})
		d.Leave()
	})
}

// A turn that is cancelled in the editor takes back what was asked.
func TestAgents_cancelled(t *testing.T) {
	each(t, false, func(t *testing.T, a acp.Agent) {
		d := open(t, a, "", []string{"touch x"})
		turn := d.Say("go")
		r := d.Opened(1)[0]
		d.Cancel()
		if stop := d.Turn(turn); stop != "cancelled" {
			t.Errorf("the turn ended with %q", stop)
		}
		d.Leave()
		if late := d.Sayso("approve", r.ShortID, "--yes", "--digest", r.Digest.String()); late.Exit == 0 {
			t.Errorf("a request that was taken back was approved: %s", late.Both())
		}
		d.ran(t, map[string]bool{"x": false})
		d.withdrawn(t)
	})
}

// An editor that goes away while a question is open has nothing run.
func TestAgents_editorGone(t *testing.T) {
	each(t, true, func(t *testing.T, a acp.Agent) {
		d := open(t, a, "", []string{"touch x"})
		d.Say("go")
		d.Opened(1)
		d.Leave()
		_ = d.Errors() // nothing is alive any more
		d.ran(t, map[string]bool{"x": false})
		d.withdrawn(t)
	})
}

// A relay that is killed takes its agent with it, and nothing runs.
func TestAgents_relayKilled(t *testing.T) {
	each(t, false, func(t *testing.T, a acp.Agent) {
		d := open(t, a, "", []string{"touch x"})
		d.Say("go")
		r := d.Opened(1)[0]
		d.Kill()
		_ = d.Errors() // nothing is alive any more
		d.Approve(r)
		d.ran(t, map[string]bool{"x": false})
	})
}

// Twenty calls at once are each asked about, and run when they were answered.
func TestAgents_twenty(t *testing.T) {
	each(t, true, func(t *testing.T, a acp.Agent) {
		var lines []string
		want := map[string]bool{}
		for i := range 20 {
			name := fmt.Sprintf("n%d", i)
			lines, want[name] = append(lines, "touch "+name), true
		}
		d := open(t, a, "", lines)
		turn := d.Say("go")
		for range 20 {
			d.Approve(d.Opened(1)[0])
		}
		d.Turn(turn)
		d.ran(t, want)
		d.Leave()
	})
}

// An edit that a person allowed is not asked about again where the agent has the editor
// write it, and what it has the editor do is on the record.
func TestAgents_editorWrites(t *testing.T) {
	each(t, false, func(t *testing.T, a acp.Agent) {
		m := machine.New(t)
		name := filepath.Join(m.Dir, "a.txt")
		m.Write(name, "one\ntwo\n")
		d := begin(t, m, a, "version: 1\nrules:\n  - allow: file-read:**\n", true,
			[]modelstub.Call{a.Edit(1, name, "two", "TWO")})
		turn := d.turns(d.Say("go")) // the agent reads through the editor before it asks
		d.Approve(d.Opened(1)[0])
		<-turn
		if a.Writes {
			d.Awaits("fs/write_text_file") // which no agent needs to wait for
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != "one\nTWO\n" {
			t.Errorf("the file holds %q, %v", text, err)
		}
		did := strings.Join(d.Did, ", ")
		for method, wants := range map[string]bool{"fs/write_text_file": a.Writes, "fs/read_text_file": a.Reads, "terminal/": false} {
			if strings.Contains(did, method) != wants {
				t.Errorf("the editor was told %s; %s: want %v", did, method, wants)
			}
		}
		d.Leave()
		people, linked := d.people()
		if people != 1 || linked != 0 && !a.Writes || linked == 0 && a.Writes {
			t.Errorf("people answered %d requests, and %d more were answered by that", people, linked)
		}
	})
}

// turns has the editor do what the agent would have it do, until the turn is over.
func (d desk) turns(id int) (over chan struct{}) {
	over = make(chan struct{})
	go func() { // ends with the agent
		defer close(over)
		d.Turn(id)
	}()
	return over
}

// people is how many requests people answered, and how many others passed with their
// answers.
func (d desk) people() (answered, linked int) {
	d.Inbox(func(ctx context.Context, in sayso.Inbox) {
		all, err := in.Requests(ctx, sayso.RowQuery{Limit: 100})
		if err != nil {
			panic(err)
		}
		for _, r := range all {
			switch {
			case r.Decision == nil || r.Decision.Source != sayso.SourcePerson:
			case strings.Contains(r.Decision.Reason, "a moment ago"):
				linked++
			default:
				answered++
			}
		}
	})
	return answered, linked
}

// What the editor is not to write it is not told, whatever the agent was allowed before.
func TestAgents_editorMayNot(t *testing.T) {
	each(t, true, func(t *testing.T, a acp.Agent) {
		if !a.Writes {
			t.Skip("it writes by itself; type: go test ./lab/acp -run answered -args -real")
		}
		m := machine.New(t)
		name := filepath.Join(m.Dir, "a.txt")
		m.Write(name, "one\ntwo\n")
		d := begin(t, m, a, "version: 1\nrules:\n  - allow: file-read:**\n  - deny: file-write:**\n    note: ask the owner\n", true,
			[]modelstub.Call{a.Edit(1, name, "two", "TWO")})
		turn := d.turns(d.Say("go")) // the agent reads through the editor before it asks
		d.Approve(d.Opened(1)[0])
		<-turn
		d.Leave()
		if did := strings.Join(d.Did, ", "); strings.Contains(did, "write") {
			t.Errorf("the editor was told %s", did)
		}
		if text := d.Errors(); !strings.Contains(text, "ask the owner") {
			t.Errorf("the note is not in the log of the agent: %s", text)
		}
	})
}

// An agent whose own hook asks about a call, and then its editor, and then has the editor
// do it, has people asked once.
func TestAgents_ownHook(t *testing.T) {
	each(t, true, func(t *testing.T, a acp.Agent) {
		if a.Hook == "" {
			t.Skip("it does not show its editor what it tells its hook; type: go test ./lab/acp -run answered -args -real")
		}
		m := machine.New(t)
		m.Must("init", a.Hook, "--yes")
		name := filepath.Join(m.Dir, "a.txt")
		m.Write(name, "one\ntwo\n")
		d := begin(t, m, a, "version: 1\nrules:\n  - allow: file-read:**\n", true, []modelstub.Call{a.Run(1, "touch yes")}, []modelstub.Call{a.Edit(2, name, "two", "TWO")})
		turn := d.turns(d.Say("go"))
		for range 2 {
			r := d.Opened(1)[0]
			if r.Host != a.Hook {
				t.Errorf("people are asked about %s of %s", r.HostTool, r.Host)
			}
			d.Approve(r)
		}
		<-turn
		d.ran(t, map[string]bool{"yes": true})
		if text, err := os.ReadFile(name); err != nil || string(text) != "one\nTWO\n" {
			t.Errorf("the file holds %q, %v", text, err)
		}
		d.Leave()
		if people, linked := d.people(); people != 2 || linked == 0 && a.Writes {
			t.Errorf("people answered %d requests, and %d more were answered by that", people, linked)
		}
	})
}
