package broker_test

import (
	"cmp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
)

// later is the gateway, which a call reaches after the hook.
var later = sayso.Actor{Principal: "mcp", Kind: sayso.PrincipalAgent, Channel: "mcp", Owner: agent.Owner}

// atGateway is the call of atHook, as it comes to the gateway.
func atGateway() sayso.Admission {
	return sayso.Admission{Immediate: true, CanEdit: true, Patience: time.Millisecond, Call: sayso.Call{
		Tool: "add", Server: "my lab", Host: sayso.HostMCP, Args: sayso.Args(`{ "n": 1 }`), Session: "mcp", CallID: "toolu_1", DefinitionDigest: "d",
	}}
}

func atHook() sayso.Admission {
	return sayso.Admission{Immediate: true, CanEdit: true, Call: sayso.Call{
		Tool: "mcp__my_lab__add", Host: "claude-code", Args: sayso.Args(`{"n":1}`), Session: "s1", CallID: "toolu_1",
	}}
}

// A call that a person allowed at the hook a moment ago is not asked about again
// at the gateway, once, and only if it is that call.
func TestLinked(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*sayso.Admission)
		denied bool
		who    sayso.Actor
		after  time.Duration
		linked bool
	}{
		{name: "the same call", linked: true},
		{name: "a while later", after: 3 * time.Minute},
		{name: "denied at the hook", denied: true},
		{name: "other arguments", change: func(a *sayso.Admission) { a.Call.Args = sayso.Args(`{"n":2}`) }},
		{name: "another tool", change: func(a *sayso.Admission) { a.Call.Tool = "sub" }},
		{name: "another server", change: func(a *sayso.Admission) { a.Call.Server = "lab" }},
		{name: "another id", change: func(a *sayso.Admission) { a.Call.CallID = "toolu_2" }},
		{name: "no definition", change: func(a *sayso.Admission) { a.Call.DefinitionDigest = "" }},
		{name: "another owner", who: sayso.Actor{Principal: "mcp", Kind: sayso.PrincipalAgent, Owner: "somebody else"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				hooked := w.ask(t.Context(), atHook())
				r := w.onlyOpen()
				answer := sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}
				if tt.denied {
					answer.Effect = sayso.Deny
				}
				if _, err := w.b.Inbox(dev).Answer(t.Context(), r.ID, answer); err != nil {
					t.Fatal(err)
				}
				_, _ = hooked.result()
				time.Sleep(tt.after)
				a, who := atGateway(), later
				if tt.change != nil {
					tt.change(&a)
				}
				if tt.who.Principal != "" {
					who = tt.who
				}
				d, err := w.b.Gate(who).Admit(t.Context(), a)
				if d.Allowed() != tt.linked || tt.linked && (err != nil || d.Source != sayso.SourcePerson || len(d.By) != 1 || !d.Redeemed || d.Link != r.ID) {
					t.Fatalf("got %+v, %v", d, err)
				}
				if !tt.linked {
					return
				}
				a.Call.Session = "another" // another gateway, with the same id
				if d, err := w.b.Gate(later).Admit(t.Context(), a); d.Allowed() {
					t.Errorf("the answer counted twice: %+v, %v", d, err)
				}
			})
		})
	}
}

// driver is what drives the host of atHook, which the host asks behind its hook.
var driver = sayso.Actor{Principal: "claude-code-driver", Kind: sayso.PrincipalAgent, Channel: "driver", Owner: agent.Owner}

// The host asks its driver about the call that a person allowed at its hook a
// moment ago: it is allowed, once, and only if it is that call in all that the host
// says of it.
func TestLinked_driver(t *testing.T) {
	hooked := func() sayso.Admission {
		return sayso.Admission{Immediate: true, CanEdit: true, Patience: time.Millisecond, Call: sayso.Call{
			Tool: "Bash", Host: "claude-code", Args: sayso.Args(`{"command":"make deploy"}`), Cwd: "/w", Session: "s1", CallID: "toolu_1",
		}}
	}
	for name, tt := range map[string]struct {
		change func(*sayso.Call)
		asker  string
		unused bool
		linked bool
	}{
		"the same call":        {linked: true},
		"a yes not used":       {unused: true},
		"asked by another one": {asker: "claude-code-driver-2"},
		"other arguments":      {change: func(c *sayso.Call) { c.Args = sayso.Args(`{"command":"make destroy"}`) }},
		"another folder":       {change: func(c *sayso.Call) { c.Cwd = "/x" }},
		"another session":      {change: func(c *sayso.Call) { c.Session = "s2" }},
		"another host":         {change: func(c *sayso.Call) { c.Host = "codex" }},
		"another tool":         {change: func(c *sayso.Call) { c.Tool = "PowerShell" }},
		"another id":           {change: func(c *sayso.Call) { c.CallID = "toolu_2" }},
		"no host":              {change: func(c *sayso.Call) { c.Host = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				first := hooked()
				first.Patience, first.Immediate = 0, !tt.unused
				by := agent
				if by.Principal = "claude-code"; tt.asker != "" {
					by.Principal = tt.asker
				}
				done := make(chan error, 1)
				go func() { _, err := w.b.Gate(by).Admit(t.Context(), first); done <- err }()
				synctest.Wait()
				r := w.onlyOpen()
				if _, err := w.b.Inbox(dev).Answer(t.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err != nil {
					t.Fatal(err)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				a := hooked()
				if tt.change != nil {
					tt.change(&a.Call)
				}
				d, err := w.b.Gate(driver).Admit(t.Context(), a)
				if d.Allowed() != tt.linked || tt.linked && (err != nil || d.Source != sayso.SourcePerson || !d.Redeemed) {
					t.Fatalf("got %+v, %v", d, err)
				}
				if !tt.linked {
					return
				}
				other := driver
				other.Principal = "another driver"
				if d, err := w.b.Gate(other).Admit(t.Context(), a); err == nil && d.Allowed() && d.Request == r.ID {
					t.Errorf("the answer counted twice: %+v, %v", d, err)
				}
			})
		})
	}
}

// What a rule allowed at the hook nobody was asked about, and what is denied here
// stays denied.
func TestLinked_rules(t *testing.T) {
	for effect, hook := range map[sayso.Effect]sayso.Effect{sayso.Ask: sayso.Allow, sayso.Deny: sayso.Ask} {
		p := always(effect)
		p.judge = func(c sayso.Call) sayso.Verdict {
			if c.Host == sayso.HostMCP {
				return ruled(rule(effect))
			}
			return ruled(rule(hook))
		}
		bubble(t, p, func(t *testing.T, w *harness) {
			hooked := w.ask(t.Context(), atHook())
			for _, r := range w.open() {
				if _, err := w.b.Inbox(dev).Answer(t.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err != nil {
					t.Fatal(err)
				}
			}
			if d, err := hooked.result(); err != nil || !d.Allowed() {
				t.Fatalf("at the hook: %+v, %v", d, err)
			}
			if d, err := w.b.Gate(later).Admit(t.Context(), atGateway()); d.Allowed() {
				t.Errorf("%s: %+v, %v", effect, d, err)
			}
		})
	}
}

// What a mode or a remembered answer allowed at the hook counts at the gateway
// only where they may answer what is asked there, and is on the record as theirs.
func TestLinked_withoutPerson(t *testing.T) {
	with := func(change func(*sayso.Match)) sayso.Match {
		m := rule(sayso.Ask)
		change(&m)
		return m
	}
	for _, tt := range []struct {
		name        string
		gateway     sayso.Match
		mode, grant bool // whether theirs counts
	}{
		{"a rule", rule(sayso.Ask), true, true},
		{"never remembered", with(func(m *sayso.Match) { m.Remember = sayso.RememberNever }), false, false},
		{"not understood", with(func(m *sayso.Match) { m.Cause = sayso.CauseNotUnderstood }), false, false},
		{"a person", with(func(m *sayso.Match) { m.Person = true }), false, false},
		{"this exact call", with(func(m *sayso.Match) { m.Remember = sayso.RememberExact }), true, false},
	} {
		p := always(sayso.Ask)
		p.judge = func(c sayso.Call) sayso.Verdict {
			if c.Host == sayso.HostMCP {
				return ruled(tt.gateway)
			}
			return ruled(rule(sayso.Ask))
		}
		check := func(t *testing.T, w *harness, by sayso.Source, counts bool) {
			t.Helper()
			if d, err := w.b.Gate(agent).Admit(t.Context(), atHook()); err != nil || !d.Allowed() || d.Source != by {
				t.Errorf("at the hook, by %s: %+v, %v", by, d, err)
			}
			d, err := w.b.Gate(later).Admit(t.Context(), atGateway())
			if d.Allowed() != counts || counts && (err != nil || d.Source != by) {
				t.Errorf("%s, by %s: allowed %t by %s: %v", tt.name, by, d.Allowed(), d.Source, err)
			}
		}
		first := atHook()
		first.Call.CallID, first.Call.Args = "toolu_0", sayso.Args(`{"n":0}`)
		t.Run(tt.name+", remembered", func(t *testing.T) {
			bubble(t, p, func(t *testing.T, w *harness) {
				w.remember(first, func(a *sayso.Answer) { a.Cover = sayso.CoverTool })
				check(t, w, sayso.SourceGrant, tt.grant)
			})
		})
		t.Run(tt.name+", approve_all", func(t *testing.T) {
			bubble(t, p, func(t *testing.T, w *harness) {
				w.ask(t.Context(), first)
				w.answerAsOwner(w.onlyOpen().ID, sayso.Allow)
				if err := w.b.Inbox(dev).SetMode(t.Context(), "s1", sayso.ModeApproveAll, time.Hour); err != nil {
					t.Fatal(err)
				}
				check(t, w, sayso.SourceMode, tt.mode)
			})
		})
	}
}

// The hook of a host is asked about a call that a person allowed a moment ago once
// more, where it stands in for the host's prompt: it is allowed, once, while the call
// runs, and only if the person saw how far it goes.
func TestLinked_again(t *testing.T) {
	const add = "*** Begin Patch\\n*** Add File: a.txt\\n+x\\n*** End Patch"
	hooked := func(tool, args string) sayso.Admission {
		return sayso.Admission{Immediate: true, CanEdit: true, Facts: sayso.Facts{Workspace: "/w"}, Call: sayso.Call{
			Tool: tool, Host: "codex", Args: sayso.Args(args), Cwd: "/w", Session: "s1", Run: "r1", CallID: "call_1",
		}}
	}
	patch, permission := hooked("apply_patch", `{"command":"`+add+`\n"}`), sayso.Args(`{"command":"`+add+`","sandbox_permissions":"require_escalated"}`)
	for name, tt := range map[string]struct {
		first    sayso.Admission
		change   func(*sayso.Admission)
		finished bool
		after    time.Duration
		asker    string
		linked   bool
	}{
		"a patch":              {first: patch, linked: true},
		"another asks":         {first: patch, asker: "codex-driver"},
		"another host":         {first: func() sayso.Admission { a := hooked("mcp__lab__add", `{"n":1}`); a.Call.Host = "claude-code"; return a }(), asker: "claude-code", change: func(a *sayso.Admission) { a.Call.Args = sayso.Args(`{"n":1}`) }},
		"a tool of a server":   {first: hooked("mcp__lab__add", `{"n":1}`), change: func(a *sayso.Admission) { a.Call.Args = sayso.Args(`{ "n": 1 }`) }, linked: true},
		"a command, as it was": {first: hooked("Bash", `{"command":"ls"}`), change: func(a *sayso.Admission) { a.Call.Args = sayso.Args(`{"command":"ls"}`) }, linked: true},
		"a command, and more": {first: hooked("Bash", `{"command":"ls"}`), change: func(a *sayso.Admission) {
			a.Call.Args = sayso.Args(`{"command":"ls","sandbox_permissions":"require_escalated"}`)
		}},
		"a patch, and a reason": {first: patch, change: func(a *sayso.Admission) {
			a.Call.Args = sayso.Args(`{"command":"` + add + `","description":"it is safe","sandbox_permissions":"require_escalated"}`)
		}},
		"a patch, and more": {first: patch, change: func(a *sayso.Admission) {
			a.Call.Args = sayso.Args(`{"command":"` + add + `","sandbox_permissions":"everything"}`)
		}},
		"another patch": {first: patch, change: func(a *sayso.Admission) {
			a.Call.Args = sayso.Args(`{"command":"*** Begin Patch\n*** Delete File: a.txt\n*** End Patch","sandbox_permissions":"require_escalated"}`)
		}},
		"another meaning":  {first: patch, change: func(a *sayso.Admission) { a.Facts.Workspace = "/x" }},
		"another folder":   {first: patch, change: func(a *sayso.Admission) { a.Call.Cwd = "/x" }},
		"another run":      {first: patch, change: func(a *sayso.Admission) { a.Call.Run = "r2" }},
		"another session":  {first: patch, change: func(a *sayso.Admission) { a.Call.Session = "s2" }},
		"another tool":     {first: patch, change: func(a *sayso.Admission) { a.Call.Tool = "Edit" }},
		"under an id":      {first: patch, change: func(a *sayso.Admission) { a.Call.CallID = "call_2" }},
		"after it ended":   {first: patch, finished: true},
		"a while later":    {first: patch, after: 3 * time.Minute},
		"first with no id": {first: func() sayso.Admission { a := patch; a.Call.CallID = ""; return a }()},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				hook := agent
				hook.Principal = cmp.Or(tt.asker, "codex")
				asked := w.askAs(t.Context(), hook, tt.first)
				synctest.Wait()
				r := w.onlyOpen()
				w.answerAsOwner(r.ID, sayso.Allow)
				if d, err := asked.result(); err != nil || !d.Allowed() {
					t.Fatalf("at first: %+v, %v", d, err)
				}
				if tt.finished {
					if err := w.b.Gate(hook).Report(t.Context(), sayso.Outcome{Request: r.ID}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(tt.after)
				again := tt.first
				again.Patience, again.Call.CallID, again.Call.Args = time.Millisecond, "", permission
				if tt.change != nil {
					tt.change(&again)
				}
				d, err := w.b.Gate(hook).Admit(t.Context(), again)
				if d.Allowed() != tt.linked || tt.linked && (err != nil || d.Source != sayso.SourcePerson || len(d.By) != 1) {
					t.Fatalf("got %+v, %v", d, err)
				}
				if d, err := w.b.Gate(hook).Admit(t.Context(), again); d.Allowed() {
					t.Errorf("the answer counted twice: %+v, %v", d, err)
				}
			})
		})
	}
}
