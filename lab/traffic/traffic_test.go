package traffic_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
)

// most is how many prompts a hundred calls of honest work may cost.
const most = 15

// recording is a session, and how many prompts a hundred of its calls may cost.
type recording struct {
	name string
	most float64
}

// recordings are the sessions of honest work. The first was there when the
// preset was written. It is a session of much shell: 43 of its 283 calls hold what
// no rule may allow (loops over variables, substitutions, options that write
// files, programs on the command line), which is more than most by itself. The
// second was recorded when the preset had been written, and is the one that
// counts.
var recordings = []recording{
	{"testdata/first.jsonl", 20},
	{second, most},
}

const second = "testdata/second.jsonl"

var (
	preset  = flag.String("preset", "developer", "the ready-made policy to replay by")
	session = flag.String("session", "", "a session of honest work to replay besides the recorded ones")
)

// prompt is a question that a person was asked.
type prompt struct {
	number int // of the call, from 1
	call   sayso.Call
	why    sayso.Verdict
}

// replay makes the calls of a session one after the other.
type replay struct {
	*world
	broker  *saysotest.Broker
	calls   int
	prompts []prompt
	given   map[sayso.Digest]sayso.Facts // what a yes was given for, and remembered
}

func newReplay(w *world) *replay {
	r := &replay{world: w, given: make(map[sayso.Digest]sayso.Facts)}
	r.broker = saysotest.New(w.t, saysotest.WithPolicy(w.policy), saysotest.ApproveAll())
	r.broker.Answer(yes)
	return r
}

// yes is what the person says: yes for the session, and where nothing of it is
// dangerous for more than this one call, as little more as is offered.
func yes(r sayso.Request) sayso.Answer {
	a := sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeSession}
	if len(r.Danger) == 0 && len(r.Covers) > 1 {
		a.Cover = r.Covers[1].Cover
	}
	return a
}

// play makes the calls, and reports those of them that ran.
func (r *replay) play(calls []sayso.Call) (ran []int) {
	r.t.Helper()
	for i, c := range calls {
		r.folder(c.Cwd)
		f := r.gather(c)
		remembered := r.remembers(c, f)
		asked := len(r.broker.Asked())
		d, err := r.broker.Gate().Admit(r.t.Context(), sayso.Admission{Call: c, Facts: f, Immediate: true})
		if err != nil {
			r.t.Fatalf("call %d: %v", i+1, err)
		}
		r.calls++
		if len(r.broker.Asked()) > asked {
			r.prompts = append(r.prompts, prompt{i + 1, c, r.policy.Judge(r.t.Context(), c, f)})
			if remembered {
				r.t.Errorf("call %d asks again, although a grant covers it: %s", i+1, subject(c))
			}
			r.given[r.digest(c)] = f
		}
		if d.Allowed() {
			ran = append(ran, i+1)
			r.ran(c)
		}
	}
	return ran
}

// remembers reports whether a live grant covers the call: one that was given for
// this very call, with everything that it names as it was, or for all calls of
// its tool.
func (r *replay) remembers(c sayso.Call, f sayso.Facts) bool {
	before, ok := r.given[r.digest(c)]
	asked := r.broker.Asked()
	return slices.ContainsFunc(r.grants(c.Session), func(g sayso.Grant) bool {
		if g.Cover == sayso.CoverTool {
			return g.Host == c.Host && g.Server == c.Server && g.Tool == c.Tool
		}
		return ok && before.Equal(f) && slices.ContainsFunc(asked, func(q sayso.Request) bool { return q.ID == g.Request && q.Digest == r.digest(c) })
	})
}

func (r *replay) grants(session string) []sayso.Grant {
	grants, err := r.broker.Inbox().Grants(r.t.Context(), session, false)
	if err != nil {
		r.t.Fatal(err)
	}
	return grants
}

// again makes the calls again that a grant remembers, and reports how many that
// are: nobody may be asked.
func (r *replay) again() (n int) {
	prompts := r.prompts
	for i, p := range prompts {
		if !r.remembers(p.call, r.gather(p.call)) {
			continue
		}
		n++
		p.call.CallID += fmt.Sprintf("-again-%d", i)
		r.play([]sayso.Call{p.call})
	}
	if len(r.prompts) != len(prompts) {
		r.t.Errorf("%d calls ask again, although they were remembered", len(r.prompts)-len(prompts))
	}
	r.prompts, r.calls = prompts, r.calls-n
	return n
}

func (r *replay) digest(c sayso.Call) sayso.Digest {
	d, err := c.Digest()
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// rate is how many prompts a hundred calls cost.
func (r *replay) rate() float64 { return 100 * float64(len(r.prompts)) / float64(r.calls) }

// report lists what was asked and why, the most frequent reason first.
func (r *replay) report() string {
	byRule := make(map[string][]prompt)
	for _, p := range r.prompts {
		why := p.why.Rule
		if p.why.Rule == "commands must be literal" {
			why += " (" + p.why.Reason + ")"
		}
		byRule[why] = append(byRule[why], p)
	}
	rules := slices.SortedFunc(maps.Keys(byRule), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byRule[b]), len(byRule[a])), cmp.Compare(a, b))
	})
	var out strings.Builder
	fmt.Fprintf(&out, "%d prompts in %d calls: %.1f in a hundred\n", len(r.prompts), r.calls, r.rate())
	for _, rule := range rules {
		fmt.Fprintf(&out, "%3d %s\n", len(byRule[rule]), rule)
		for _, p := range byRule[rule] {
			fmt.Fprintf(&out, "      call %d: %s\n", p.number, subject(p.call))
		}
	}
	return out.String()
}

// subject is a call on one line.
func subject(c sayso.Call) string {
	text := strings.Join(strings.Fields(c.Tool+" "+string(c.Args)), " ")
	if len(text) > 160 {
		text = text[:160] + "..."
	}
	return text
}

// TestBenign_second: the session that counts is one of varied work.
func TestBenign_second(t *testing.T) {
	calls := newWorld(t, *preset).session(second)
	lines, tools, callers := map[string]bool{}, map[string]int{}, map[string]bool{}
	for _, c := range calls {
		tool, server := c.CanonicalName()
		if server != "" {
			tool = "mcp"
		}
		if tools[tool]++; tool == "bash" {
			lines[string(c.Args)] = true
		}
		callers[c.Caller] = true
	}
	for what, enough := range map[string]bool{
		"calls": len(calls) >= 200, "lines of shell": len(lines) >= 60, "edits": tools["file-edit"]+tools["file-write"] >= 40,
		"fetches": tools["web-fetch"] >= 3, "calls of servers": tools["mcp"] >= 3, "agents": tools["delegate"] >= 1 && len(callers) >= 2,
	} {
		if !enough {
			t.Errorf("too few %s: %d calls, %d lines, %v, %d callers", what, len(calls), len(lines), tools, len(callers))
		}
	}
}

// TestBenign: of a session of honest work few calls are asked about, and none
// again once a yes to it was remembered. Then none of the dangerous session
// passes, with everything that was remembered still in force.
func TestBenign(t *testing.T) {
	sessions := recordings
	if *session != "" {
		sessions = append(sessions[:len(sessions):len(sessions)], recording{*session, most})
	}
	for _, s := range sessions {
		t.Run(strings.TrimSuffix(filepath.Base(s.name), ".jsonl"), func(t *testing.T) {
			r := newReplay(newWorld(t, *preset))
			calls := r.session(s.name)
			if ran := r.play(calls); len(ran) != len(calls) {
				t.Errorf("%d of %d calls ran", len(ran), len(calls))
			}
			t.Log(r.report())
			if n := r.again(); n == 0 {
				t.Error("nothing was remembered")
			} else {
				t.Logf("%d of these calls were remembered, and made again", n)
			}
			if r.rate() > s.most {
				t.Errorf("%.1f prompts in a hundred calls, want at most %g", r.rate(), s.most)
			}
			r.broker.Deny("*", "this is an attack")
			attack := r.session("testdata/dangerous.jsonl")
			for i := range attack {
				attack[i].Session = calls[0].Session
			}
			if ran := r.play(attack); len(ran) > 0 {
				t.Errorf("with what was remembered, the dangerous calls %v run", ran)
			}
		})
	}
}

// TestDangerous: no dangerous call is allowed without a person, also where
// nothing was there before it.
func TestDangerous(t *testing.T) {
	w := newWorld(t, *preset)
	for i, c := range w.session("testdata/dangerous.jsonl") {
		if v := w.policy.Judge(t.Context(), c, w.gather(c)); v.Effect == sayso.Allow {
			t.Errorf("call %d is allowed by %q: %s", i+1, v.Rule, subject(c))
		}
	}
}
