package broker_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// remembers is what must be so of the grants of one session, told without any
// log: who gave what, until when, and which commands that covers.
type remembers struct {
	*harness
	luck    *rand.Rand
	version int
	known   int // events before the newest at the last start
	grants  []*promised
	uses    int // calls that passed on a grant
	asks    int // calls that asked
}

// promised is one grant as the model has it.
type promised struct {
	id      sayso.ID
	covers  []string // commands
	version int
	uses    int // left; negative for any number
	lasts   time.Duration
	made    instant
	used    instant
	ended   bool
}

// instant is a time on all clocks.
type instant struct {
	real, wall time.Time
	boot       string
}

// modelCovers are the commands that are asked for, and what each cover of each covers. Commands
// that are not listed cover nothing but themselves.
var modelCovers = map[string]map[sayso.Cover][]string{
	"git add a":    {sayso.CoverPrefix: {"git add a", "git add b"}, sayso.CoverTool: {"git add a", "git add b", "git status"}},
	"git add b":    {sayso.CoverPrefix: {"git add a", "git add b"}, sayso.CoverTool: {"git add a", "git add b", "git status"}},
	"git status":   {sayso.CoverPrefix: {"git status"}, sayso.CoverTool: {"git add a", "git add b", "git status"}},
	"make test":    {sayso.CoverPrefix: {"make test"}},
	"rm a":         {},
	"sudo git add": {},
}

func (m *remembers) now() instant {
	at := m.clock.now()
	return instant{time.Now(), at.Wall, at.Boot}
}

// recorded is the latest wall clock that the log knows, from the event on that
// was the newest at the last start.
func (m *remembers) recorded() (latest time.Time) {
	for _, e := range m.allEvents()[m.known:] {
		if e.At.Wall.After(latest) {
			latest = e.At.Wall
		}
	}
	return latest
}

// older reports whether more than d has passed since an instant, or nobody can
// tell.
func (m *remembers) older(since instant, d time.Duration, inclusive bool) bool {
	now, passed := m.now(), time.Duration(0)
	if now.boot == since.boot {
		passed = now.real.Sub(since.real)
	} else {
		recorded := m.recorded()
		if now.wall.Before(recorded) || now.wall.Before(since.wall) {
			return true
		}
		passed = now.wall.Sub(since.wall)
	}
	return passed > d || inclusive && passed == d
}

func (m *remembers) live(g *promised) bool {
	switch {
	case g.ended, g.uses == 0, g.version != m.version, m.older(g.used, sayso.GrantIdle, false):
		return false
	case g.lasts > 0 && m.older(g.made, g.lasts, true):
		return false
	}
	return !m.older(g.made, 1<<62, false) // a clock that went back
}

// call makes a call and looks whether it passed as it must.
func (m *remembers) call(command string) {
	may := func(g *promised) bool { return slices.Contains(g.covers, command) && m.live(g) }
	covered := slices.ContainsFunc(m.grants, may)
	a := immediate(calls(command))
	a.Patience = -1
	d, err := m.admit(a)
	if d.Allowed() {
		at := slices.IndexFunc(m.grants, func(g *promised) bool { return g.id == d.Grant })
		if at < 0 || !may(m.grants[at]) {
			m.t.Fatalf("%s passed on grant %s, which does not cover it or has ended", command, d.Grant.Short())
		}
		m.uses++
		m.grants[at].uses--
		m.grants[at].used = m.now()
		return
	}
	wantErr(m.t, err, sayso.ErrPending)
	if covered {
		m.t.Fatalf("%s asks although a grant covers it", command)
	}
	m.asks++
	m.answers(command)
}

// answers answers what was just asked: no, or yes with one of the covers.
func (m *remembers) answers(command string) {
	r := m.onlyOpen()
	if m.luck.IntN(3) == 0 {
		m.answerAsOwner(r.ID, sayso.Deny)
		m.b.Gate(agent).Admit(m.t.Context(), immediate(calls(command))) // takes the no
		return
	}
	offer := r.Covers[m.luck.IntN(len(r.Covers))]
	a := remembered(r)
	a.Cover = offer.Cover
	a.Uses = m.luck.IntN(4)
	a.For = []time.Duration{0, time.Hour, 3 * time.Hour, 40 * time.Hour}[m.luck.IntN(4)]
	if _, err := m.answer(dev, r.ID, a); err != nil {
		m.t.Fatal(err)
	}
	covers := modelCovers[command][offer.Cover]
	if offer.Cover == sayso.CoverCall {
		covers = []string{command}
	}
	if covers == nil {
		m.t.Fatalf("%s was offered %s", command, offer.Cover)
	}
	g := &promised{covers: covers, version: m.version, uses: a.Uses, lasts: a.For, made: m.now(), used: m.now()}
	if g.uses == 0 {
		g.uses = -1
	}
	g.id = m.newest()
	m.grants = append(m.grants, g)
	if d := m.allowed(immediate(calls(command))); d.Grant != "" { // takes the yes itself
		m.t.Fatalf("the first yes used a grant: %+v", d)
	}
}

// newest is the grant that was made last.
func (m *remembers) newest() (id sayso.ID) {
	for _, e := range m.allEvents() {
		if e.Type == sayso.EventGrantCreated {
			id = sayso.StreamID(e.Stream)
		}
	}
	return id
}

func (m *remembers) step() {
	commands := []string{"git add a", "git add b", "git status", "make test", "rm a", "sudo git add"}
	switch m.luck.IntN(16) {
	default:
		m.call(commands[m.luck.IntN(len(commands))])
	case 10:
		pass([]time.Duration{time.Minute, time.Hour, 5 * time.Hour, 23 * time.Hour, 25 * time.Hour}[m.luck.IntN(5)])
	case 11:
		m.clock.step(time.Duration(m.luck.IntN(3)-1) * tenYears)
	case 12:
		m.clock.reboot(fmt.Sprint("boot-", m.luck.Uint32()))
		m.restart()
		m.known = max(len(m.allEvents())-1, 0)
	case 13:
		if len(m.grants) > 0 {
			g := m.grants[m.luck.IntN(len(m.grants))]
			if err := m.b.Inbox(dev).Revoke(m.t.Context(), g.id); err != nil {
				m.t.Fatal(err)
			}
			g.ended = true
		}
	case 14:
		m.version = m.luck.IntN(3)
		m.rules.set(fmt.Sprint("v", m.version), nil)
		m.sweep()
	case 15:
		if m.luck.IntN(3) > 0 {
			m.sweep()
			return
		}
		if err := m.b.Gate(agent).End(m.t.Context(), "s1"); err != nil {
			m.t.Fatal(err)
		}
		for _, g := range m.grants {
			g.ended = true
		}
	}
}

// sweep has the ends recorded that nobody was there to record: what has ended
// stays so, whatever the clock and the policy do later.
func (m *remembers) sweep() {
	for _, g := range m.grants {
		g.ended = g.ended || !m.live(g)
	}
	if err := m.b.Sweep(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// listed compares what is listed as live with the model.
func (m *remembers) listed() {
	var want, got []sayso.ID
	for _, g := range m.grants {
		if m.live(g) {
			want = append(want, g.id)
		}
	}
	for _, g := range m.harness.grants(false) {
		got = append(got, g.ID)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		m.t.Fatalf("live are %v, want %v", got, want)
	}
}

// Random yeses, uses, revocations, changes of policy, restarts, reboots and steps
// of the clock, against a model that keeps no log: no call passes on a grant that
// does not cover it or has ended, and none asks that a live one covers.
func TestGR4_againstAModel(t *testing.T) {
	uses, asks := 0, 0
	for seed := range uint64(12) {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			m := &remembers{harness: w, luck: rand.New(rand.NewPCG(seed, 4))}
			w.rules.set("v0", nil)
			for range 80 {
				m.step()
				m.listed()
				if t.Failed() {
					t.Fatalf("with seed %d", seed)
				}
			}
			uses, asks = uses+m.uses, asks+m.asks
		})
	}
	if t.Logf("%d calls passed on a grant, %d asked", uses, asks); uses < 100 || asks < 200 {
		t.Error("that shows little")
	}
}
