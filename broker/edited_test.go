package broker_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

const (
	lost = `{"command":"mkdir aaa"}`
	kept = `{"command":"mkdir bbb"}`
)

// atEdit is a call at the hook of a host.
func atEdit() sayso.Admission {
	return sayso.Admission{Immediate: true, CanEdit: true, Call: sayso.Call{
		Tool: "Bash", Host: "claude-code", Args: sayso.Args(lost), Cwd: "/w", Session: "s1", CallID: "toolu_1",
	}}
}

// edit has a person answer the hook's call with other arguments, and returns the
// request.
func edit(t *testing.T, w *harness, first sayso.Admission, args string) sayso.Request {
	t.Helper()
	hook := agent
	hook.Principal = first.Call.Host
	asked := w.askAs(t.Context(), hook, first)
	synctest.Wait()
	r := w.onlyOpen()
	if _, err := w.answer(dev, r.ID, edited(r, args)); err != nil {
		t.Fatal(err)
	}
	if d, err := asked.result(); err != nil || string(d.Args) != args {
		t.Fatalf("at the hook: %+v, %v", d, err)
	}
	return r
}

// What people made of a call at the hook is what runs, whatever the host, which may
// have forgotten it, puts to its driver: in any mode, and whatever rules say.
func TestEdited_driver(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*sayso.Admission)
		policy  *sayso.Effect // at the driver; nil for ask
		mode    sayso.Mode
		grant   bool
		after   time.Duration
		ended   bool
		another bool   // that the driver is of another owner
		args    string // with which it runs; empty if it does not
		own     bool   // that these are the arguments that it came with
	}{
		"as it was":               {args: kept},
		"as it was, approve_all":  {mode: sayso.ModeApproveAll, args: kept},
		"as it was, strict":       {mode: sayso.ModeStrict, args: kept},
		"as it was, by a rule":    {policy: new(sayso.Allow), args: kept},
		"as it was, remembered":   {grant: true, args: kept},
		"as it was, denied":       {policy: new(sayso.Deny)},
		"as it was, spelled":      {change: func(a *sayso.Admission) { a.Call.Args = sayso.Args(`{ "command" : "mkdir aaa" }`) }, args: kept},
		"as it was made":          {change: func(a *sayso.Admission) { a.Call.Args = sayso.Args(kept) }, args: kept, own: true},
		"neither":                 {mode: sayso.ModeApproveAll, change: func(a *sayso.Admission) { a.Call.Args = sayso.Args(`{"command":"mkdir ccc"}`) }},
		"in another folder":       {mode: sayso.ModeApproveAll, change: func(a *sayso.Admission) { a.Call.Cwd = "/x" }},
		"another tool":            {mode: sayso.ModeApproveAll, change: func(a *sayso.Admission) { a.Call.Tool = "PowerShell" }},
		"where none can be made":  {mode: sayso.ModeApproveAll, change: func(a *sayso.Admission) { a.CanEdit = false }},
		"a while later":           {mode: sayso.ModeApproveAll, after: 3 * time.Minute},
		"after it ended":          {mode: sayso.ModeApproveAll, ended: true},
		"another call":            {change: func(a *sayso.Admission) { a.Call.CallID = "toolu_2" }, mode: sayso.ModeApproveAll, args: lost, own: true},
		"the call of another one": {change: func(a *sayso.Admission) { a.Call.Session = "s2" }, another: true, mode: sayso.ModeApproveAll, args: lost, own: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, later := always(sayso.Ask), false
			p.judge = func(sayso.Call) sayso.Verdict {
				if later && tt.policy != nil {
					return ruled(rule(*tt.policy))
				}
				return ruled(rule(sayso.Ask))
			}
			bubble(t, p, func(t *testing.T, w *harness) {
				r := edit(t, w, atEdit(), kept)
				if tt.grant {
					first := atEdit()
					first.Call.CallID = "toolu_0"
					w.remember(first)
				}
				if tt.ended {
					hook := agent
					hook.Principal = "claude-code"
					if err := w.b.Gate(hook).Report(t.Context(), sayso.Outcome{Request: r.ID}); err != nil {
						t.Fatal(err)
					}
				}
				if tt.mode != "" {
					if err := w.b.Inbox(admin).SetMode(t.Context(), "", tt.mode, time.Hour); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(tt.after)
				later = true
				a, by := atEdit(), driver
				a.Patience = time.Millisecond
				if tt.change != nil {
					tt.change(&a)
				}
				if tt.another {
					by.Owner = "somebody else"
				}
				d, err := w.b.Gate(by).Admit(t.Context(), a)
				runs := string(d.Args)
				if runs == "" && d.Allowed() {
					runs = string(a.Call.Args)
				}
				if !d.Allowed() {
					runs = ""
				}
				if runs != tt.args || tt.args != "" && (err != nil || !d.Redeemed || tt.own != (len(d.Args) == 0)) {
					t.Fatalf("ran %q, want %q: %+v, %v", runs, tt.args, d, err)
				}
				if len(w.open()) > 0 {
					t.Errorf("people are asked again: %+v", w.open())
				}
				if tt.args != kept || tt.own {
					return
				}
				if want := digest(t, withArgs(a.Call, kept)); d.Digest != want || d.Receipt.Digest != want || d.Source != sayso.SourcePerson || len(d.By) != 1 {
					t.Errorf("got %+v", d)
				}
				by.Principal = "another driver"
				if d, err := w.b.Gate(by).Admit(t.Context(), a); d.Allowed() {
					t.Errorf("it counted twice: %+v, %v", d, err)
				}
			})
		})
	}
}

// The same holds where the call comes to the gateway behind the hook, also when the
// hook took the request up under another id than it was asked with.
func TestEdited_gateway(t *testing.T) {
	hooked := atHook()
	hooked.Call.Args = sayso.Args(`{"n":1}`)
	for name, tt := range map[string]struct {
		change func(*sayso.Admission)
		taken  bool
		args   string
	}{
		"as it was":           {args: `{"n":2}`},
		"taken up":            {taken: true, args: `{"n":2}`},
		"neither":             {change: func(a *sayso.Admission) { a.Call.Args = sayso.Args(`{"n":3}`) }},
		"another tool":        {change: func(a *sayso.Admission) { a.Call.Tool = "sub" }, args: `{ "n": 1 }`},
		"no definition of it": {change: func(a *sayso.Admission) { a.Call.DefinitionDigest = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				hook, first := agent, hooked
				hook.Principal = "claude-code"
				if tt.taken {
					parked := first
					parked.Call.CallID, parked.Patience = "toolu_0", time.Second
					_, err := w.b.Gate(hook).Admit(t.Context(), parked)
					wantErr(t, err, sayso.ErrPending)
					r := w.onlyOpen()
					if _, err := w.answer(dev, r.ID, edited(r, `{"n":2}`)); err != nil {
						t.Fatal(err)
					}
					if d, err := w.b.Gate(hook).Admit(t.Context(), first); err != nil || d.Request != r.ID || len(d.Args) == 0 {
						t.Fatalf("taken up: %+v, %v", d, err)
					}
				} else {
					edit(t, w, first, `{"n":2}`)
				}
				if err := w.b.Inbox(admin).SetMode(t.Context(), "", sayso.ModeApproveAll, time.Hour); err != nil {
					t.Fatal(err)
				}
				a := atGateway()
				if tt.change != nil {
					tt.change(&a)
				}
				d, err := w.b.Gate(later).Admit(t.Context(), a)
				runs := string(d.Args)
				switch {
				case !d.Allowed():
					runs = ""
				case runs == "":
					runs = string(a.Call.Args)
				}
				if runs != tt.args || err != nil {
					t.Errorf("ran %q, want %q: %+v, %v", runs, tt.args, d, err)
				}
			})
		})
	}
}

// However often an agent asks while people think, what they made of a call is what runs.
func TestEdited_flood(t *testing.T) {
	for name, who := range map[string]struct {
		at   sayso.Actor
		call func() sayso.Admission
	}{
		"gateway": {later, atGateway},
		"driver":  {sayso.Actor{Principal: "driver", Kind: sayso.PrincipalAgent, Channel: "drive", Owner: agent.Owner}, atHook},
	} {
		t.Run(name, func(t *testing.T) {
			asks := &rules{version: "v1", judge: func(c sayso.Call) sayso.Verdict {
				if c.CallID == "toolu_1" && c.Host != sayso.HostMCP || c.CallID == "before" {
					return ruled(rule(sayso.Ask))
				}
				return ruled(rule(sayso.Allow))
			}}
			bubble(t, asks, func(t *testing.T, w *harness) {
				_, err := w.b.Gate(who.at).Admit(t.Context(), sayso.Admission{Immediate: true, Patience: -1, Call: bash("before", "true")})
				wantErr(t, err, sayso.ErrPending) // it knows who asks
				hook, first := agent, atHook()
				hook.Principal = "claude-code"
				asked := w.askAs(t.Context(), hook, first)
				synctest.Wait()
				open, err := w.b.Inbox(dev).Requests(t.Context(), sayso.RowQuery{CallID: first.Call.CallID, States: sayso.OpenStates()})
				if err != nil || len(open) != 1 {
					t.Fatal(len(open), err)
				}
				flood := func() {
					for n := range 300 {
						a := atHook()
						a.Call.Session, a.Call.CallID, a.Call.Args = "s2", rand.Text(), sayso.Args(fmt.Sprintf(`{"n":%d}`, n+10))
						if d, err := w.b.Gate(hook).Admit(t.Context(), a); err != nil || !d.Allowed() {
							t.Fatal(d, err)
						}
					}
				}
				flood()
				if _, err := w.answer(dev, open[0].ID, edited(open[0], `{"n":2}`)); err != nil {
					t.Fatal(err)
				}
				if d, err := asked.result(); err != nil || string(d.Args) != `{"n":2}` {
					t.Fatalf("at the hook: %+v, %v", d, err)
				}
				flood()
				at := who.call()
				at.Patience = -1
				if d, err := w.b.Gate(who.at).Admit(t.Context(), at); err != nil || string(d.Args) != `{"n":2}` {
					t.Errorf("at the later point: %+v, %v", d, err)
				}
			}, func(w *harness) { w.opts.MaxAsks, w.opts.MaxOpen = 1<<30, 1<<30 })
		})
	}
}

// A process that asked before knows of an edit that another process recorded since,
// whether the log grew by little or by much.
func TestEdited_elsewhere(t *testing.T) {
	for name, between := range map[string]int{"little": 0, "much": 600} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				second, err := broker.New(w.log.Join(), w.rules, &w.opts)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { second.Close() })
				for range 2 { // the second time it knows who asks
					before := atGateway()
					before.Call.CallID, before.Call.Args = "toolu_0", sayso.Args(`{"n":7}`)
					_, err = second.Gate(later).Admit(t.Context(), before)
					wantErr(t, err, sayso.ErrPending)
				}
				other := agent
				other.Principal = "other"
				for n := range between {
					a := sayso.Admission{Immediate: true, Patience: -1, Call: bash(fmt.Sprint(n), fmt.Sprint("echo ", n))}
					a.Call.Session, a.Call.Host = "s2", ""
					_, err = w.b.Gate(other).Admit(t.Context(), a)
					wantErr(t, err, sayso.ErrPending)
				}
				hook, first := agent, atHook()
				hook.Principal, first.Call.Args, first.Call.Session = "claude-code", sayso.Args(`{"n":1}`), "s3"
				asked := w.askAs(t.Context(), hook, first)
				synctest.Wait()
				open, err := w.b.Inbox(dev).Requests(t.Context(), sayso.RowQuery{Session: "s3", States: sayso.OpenStates()})
				if err != nil || len(open) != 1 {
					t.Fatal(len(open), err)
				}
				if _, err := w.answer(dev, open[0].ID, edited(open[0], `{"n":2}`)); err != nil {
					t.Fatal(err)
				}
				if d, err := asked.result(); err != nil || string(d.Args) != `{"n":2}` {
					t.Fatalf("at the hook: %+v, %v", d, err)
				}
				if d, err := second.Gate(later).Admit(t.Context(), atGateway()); err != nil || string(d.Args) != `{"n":2}` {
					t.Errorf("at the gateway: %+v, %v", d, err)
				}
			}, func(w *harness) { w.opts.MaxAsks, w.opts.MaxOpen = 1<<30, 1<<30 })
		})
	}
}
