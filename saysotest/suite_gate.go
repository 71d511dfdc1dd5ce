package saysotest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sayso-dev/sayso"
)

var _ = promised(
	promise{"Admit/policy decides", admitPolicy},
	promise{"Admit/a person decides", admitPerson},
	promise{"Admit/runs at once", admitAtOnce},
	promise{"Admit/pending and taken up", admitPending},
	promise{"Admit/a denial is delivered once", admitDenied},
	promise{"Admit/twins", admitTwins},
	promise{"Admit/a call id used for another call", admitUsedID},
	promise{"Admit/expired", admitExpired},
	promise{"Admit/a cancelled context", admitCancelled},
	promise{"Admit/too many", admitTooMany},
	promise{"Admit/what is no call", admitInvalid},
	promise{"Admit/the presentation", admitPresents},
	promise{"Admit/the presentation of a remembered call", admitPresentsNoGrant},
	promise{"Admit/edited arguments", admitEdited},
	promise{"Redeem/once, for this call", redeem},
	promise{"Redeem/at once", redeemRace},
	promise{"Redeem/another policy", redeemPolicy},
	promise{"Report", report},
	promise{"Withdraw", withdraw},
	promise{"Begin and End", beginEnd},
)

func admitPolicy(h *house) {
	d, err := h.now(sayso.Admission{Call: call(toolAllowed, "c1", "a")})
	if err != nil || !d.Allowed() || d.Source != sayso.SourcePolicy || d.Rule != "for tests" || d.File != "saysotest" || d.Line != 1 {
		h.Errorf("allowed: got %+v, %v", d, err)
	}
	if d.Receipt.Request != d.Request || d.Receipt.Digest != d.Digest || d.Redeemed {
		h.Errorf("allowed: the receipt is %+v of %+v", d.Receipt, d)
	}
	h.lived(d.Request, sayso.EventRequested, sayso.EventResolved)
	d, err = h.now(sayso.Admission{Call: call(toolDenied, "c2", "a")})
	if err != nil || d.Effect != sayso.Deny || d.State != sayso.StateDenied || d.Source != sayso.SourcePolicy || d.Rule != "for tests" {
		h.Errorf("denied: got %+v, %v", d, err)
	}
	h.lived(d.Request, sayso.EventRequested, sayso.EventResolved)
}

func admitPerson(h *house) {
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		w, r := h.opened(asks("c-"+e.String(), "make"))
		if r.State != sayso.StateOpen || !w.waits() {
			h.Errorf("%s: the request is %s", e, r.State)
		}
		a := answer(r, e)
		a.Note = "because"
		given, err := h.owner.Answer(h.ctx, r.ID, a)
		h.must(err)
		d, err := w.result()
		if err != nil || d.Effect != e || d.Note != "because" || d.Who() != "owner" || d.Source != sayso.SourcePerson || d.At.IsZero() {
			h.Errorf("%s: the caller got %+v, %v", e, d, err)
		}
		if given.Effect != e || given.Request != r.ID || given.Receipt != (sayso.Receipt{}) {
			h.Errorf("%s: the person got %+v", e, given)
		}
		if (e == sayso.Allow) != (d.Receipt.Digest == r.Digest) {
			h.Errorf("%s: the receipt is %+v", e, d.Receipt)
		}
		h.lived(r.ID, sayso.EventRequested, sayso.EventAnswered, sayso.EventResolved)
	}
}

func admitAtOnce(h *house) {
	w, r := h.opened(atOnce(asks("c1", "make")))
	h.says(r, sayso.Allow)
	d, err := w.result()
	if err != nil || !d.Allowed() || !d.Redeemed {
		h.Errorf("got %+v, %v", d, err)
	}
	h.lived(r.ID, sayso.EventRequested, sayso.EventAnswered, sayso.EventResolved, sayso.EventRedeemed)
	_, err = h.now(atOnce(asks("c1", "make")))
	h.want("the same call again", err, sayso.ErrSpent)
	h.want("its receipt", h.agent.Redeem(h.ctx, d.Receipt, asks("c1", "make").Call), sayso.ErrSpent)
}

func admitPending(h *house) {
	d, err := h.now(impatient(asks("c1", "make")))
	var pending *sayso.PendingError
	if !errors.As(err, &pending) || !errors.Is(err, sayso.ErrPending) {
		h.Fatalf("got %+v, %v", d, err)
	}
	r := h.request(pending.Ticket)
	if r.State != sayso.StateParked || pending.Stop || r.Deadline == nil || !pending.Deadline.Equal(*r.Deadline) {
		h.Errorf("%+v of a request that is %s until %v", pending, r.State, r.Deadline)
	}
	w := h.admit(h.agent, asks("c1", "make")) // the same call id
	h.event(func(e sayso.Event) bool { return e.RequestID == r.ID && e.Type == sayso.EventTaken })
	w.stop()
	w.result()
	h.event(func(e sayso.Event) bool {
		return e.RequestID == r.ID && e.Type == sayso.EventParked && e.Pos > 2
	})
	h.says(r, sayso.Allow)
	d, err = h.now(atOnce(asks("c2", "make"))) // a new one
	if err != nil || !d.Redeemed || d.Request != r.ID {
		h.Errorf("the retry got %+v, %v", d, err)
	}
	p := h.parked(asks("c3", "make"))
	for i := range 3 {
		_, err = h.now(impatient(asks("c3", "make")))
		if !errors.As(err, &pending) || pending.Ticket != p.ID || pending.Stop != (i == 2) {
			h.Errorf("retry %d: got %v, stop is %v", i+1, err, pending.Stop)
		}
	}
}

func admitDenied(h *house) {
	r := h.parked(asks("c1", "make"))
	h.says(r, sayso.Deny)
	d, err := h.now(asks("c2", "make"))
	if err != nil || d.Effect != sayso.Deny || d.Request != r.ID {
		h.Errorf("the retry got %+v, %v", d, err)
	}
	if _, r2 := h.opened(asks("c3", "make")); r2.ID == r.ID || r2.State != sayso.StateOpen {
		h.Errorf("the denial was delivered twice: %+v", r2)
	}
}

func admitTwins(h *house) {
	w1, r1 := h.opened(asks("c1", "make"))
	w2, r2 := h.opened(asks("c2", "make"))
	if r1.ID == r2.ID || r1.Digest != r2.Digest {
		h.Fatalf("twins are %+v and %+v", r1, r2)
	}
	h.says(r2, sayso.Allow)
	if d, err := w2.result(); err != nil || !d.Allowed() || !w1.waits() {
		h.Errorf("got %+v, %v; the other waits: %v", d, err, w1.waits())
	}
}

func admitUsedID(h *house) {
	_, err := h.now(sayso.Admission{Call: call(toolAllowed, "c1", "a")})
	h.must(err)
	_, err = h.now(sayso.Admission{Call: call(toolAllowed, "c1", "b")})
	h.want("another call", err, sayso.ErrConflict)
	if _, err := h.gate(suiteTool).Admit(h.ctx, sayso.Admission{Call: call(toolAllowed, "c1", "b")}); err != nil {
		h.Errorf("at another enforcement point: %v", err)
	}
}

func admitExpired(h *house) {
	d, err := h.now(sayso.Admission{Call: call(toolExpires, "c1", "a")})
	h.want("a deadline", err, sayso.ErrExpired)
	if errors.Is(err, sayso.ErrPending) || d.Allowed() {
		h.Errorf("got %+v, %v", d, err)
	}
	r := h.requestOf("c1")
	if r.State != sayso.StateExpired {
		h.Errorf("the request is %s", r.State)
	}
	_, err = h.owner.Answer(h.ctx, r.ID, answer(r, sayso.Allow))
	h.want("an answer after it", err, sayso.ErrExpired)
	d, err = h.now(sayso.Admission{Call: call(toolDenies, "c2", "a")})
	if err != nil || d.Effect != sayso.Deny || d.Source != sayso.SourceDeadline {
		h.Errorf("a deadline that denies: got %+v, %v", d, err)
	}
}

func admitCancelled(h *house) {
	w, r := h.opened(asks("c1", "make"))
	w.stop()
	_, err := w.result()
	h.want("cancelled", err, context.Canceled)
	h.event(func(e sayso.Event) bool { return e.RequestID == r.ID && e.Type == sayso.EventParked })
	if now := h.request(r.ID); now.State != sayso.StateParked {
		h.Errorf("the request is %s", now.State)
	}
	h.says(r, sayso.Allow)
	if d, err := h.now(atOnce(asks("c2", "make"))); err != nil || d.Request != r.ID || !d.Redeemed {
		h.Errorf("the retry got %+v, %v", d, err)
	}
}

func admitTooMany(h *house) {
	var refused error
	for i := range 130 { // 120 asks a minute
		a := asks(fmt.Sprint("c", i), fmt.Sprint("make ", i))
		a.Patience = time.Nanosecond
		if _, err := h.now(a); !errors.Is(err, sayso.ErrPending) {
			refused = err
			break
		}
	}
	h.want("a flood", refused, sayso.ErrTooMany)
	a := impatient(asks("other", "make"))
	a.Call.Session = "s2"
	_, err := h.now(a)
	h.want("another session", err, sayso.ErrPending)
}

func admitInvalid(h *house) {
	for name, c := range map[string]sayso.Call{
		"no tool":        {Args: sayso.Args(`{}`)},
		"duplicate keys": {Tool: toolAllowed, Args: sayso.Args(`{"path":"a","path":"b"}`)},
		"no object":      {Tool: toolAllowed, Args: sayso.Args(`[1]`)},
		"a control byte": {Tool: "a\x1b", Args: sayso.Args(`{}`)},
		"no kind":        {Tool: toolAllowed, Kind: "spell", Args: sayso.Args(`{}`)},
	} {
		d, err := h.now(sayso.Admission{Call: c})
		h.want(name, err, sayso.ErrInvalid)
		if d.Allowed() {
			h.Errorf("%s: got %+v", name, d)
		}
	}
}

func admitPresents(h *house) {
	var shown atomic.Int64
	present := func(context.Context) (*sayso.Presentation, error) {
		shown.Add(1)
		return &sayso.Presentation{Type: sayso.PresentDiff, Content: "-a\n+b", Language: "go"}, nil
	}
	for tool, want := range map[string]int64{toolAllowed: 0, toolDenied: 0, toolAsks: 1} {
		shown.Store(0)
		a := impatient(sayso.Admission{Call: call(tool, tool, "a"), Present: present})
		h.now(a)
		if got := shown.Load(); got != want {
			h.Errorf("%s: presented %d times, want %d", tool, got, want)
		}
	}
	full, err := h.owner.Content(h.ctx, h.requestOf(toolAsks).ID)
	h.must(err)
	if p := full.Presentation; p == nil || p.Type != sayso.PresentDiff || p.Content != "-a\n+b" || p.Language != "go" {
		h.Errorf("a person is shown %+v", p)
	}
	if string(full.Args) != `{"command":"a"}` {
		h.Errorf("a person is shown %s", full.Args)
	}
}

func admitPresentsNoGrant(h *house) {
	var shown atomic.Int64
	presented := func(id string) sayso.Admission {
		a := asks(id, "make")
		a.Present = func(context.Context) (*sayso.Presentation, error) {
			shown.Add(1)
			return &sayso.Presentation{Type: sayso.PresentText, Content: "much work", Marks: []sayso.Mark{{From: 5, To: 9, Text: "work"}}}, nil
		}
		return a
	}
	w, r := h.opened(atOnce(presented("c1")))
	full, err := h.owner.Content(h.ctx, r.ID)
	h.must(err)
	if p := full.Presentation; p == nil || len(p.Marks) != 1 || p.Content[p.Marks[0].From:p.Marks[0].To] != "work" {
		h.Errorf("a person is shown %+v", p)
	}
	yes := answer(r, sayso.Allow)
	yes.Scope = sayso.ScopeSession
	_, err = h.owner.Answer(h.ctx, r.ID, yes)
	h.must(err)
	_, err = w.result()
	h.must(err)
	d, err := h.now(atOnce(presented("c2")))
	h.must(err)
	if n := shown.Load(); d.Source != sayso.SourceGrant || n != 1 {
		h.Errorf("%s by %s: presented %d times, want once", d.Effect, d.Source, n)
	}
}

func admitEdited(h *house) {
	a := asks("c1", "make")
	_, r := h.opened(a)
	edit := answer(r, sayso.Allow)
	edit.Args = sayso.Args(`{"command":"make -n"}`)
	_, err := h.owner.Answer(h.ctx, r.ID, edit)
	h.want("where the host cannot edit", err, sayso.ErrInvalid)

	a = asks("c2", "make again")
	a.CanEdit = true
	w, r := h.opened(a)
	if !r.CanEdit {
		h.Error("editing is not offered")
	}
	edit.Digest, edit.Content, edit.Args = r.Digest, r.Content, sayso.Args(`{"command":"make --force"}`)
	_, err = h.owner.Answer(h.ctx, r.ID, edit)
	h.want("what policy denies", err, sayso.ErrNotAllowed)
	edit.Args = sayso.Args(`{"command":"make -n"}`)
	_, err = h.owner.Answer(h.ctx, r.ID, edit)
	h.must(err)
	d, err := w.result()
	if err != nil || string(d.Args) != `{"command":"make -n"}` || d.Digest == r.Digest || d.Receipt.Digest != d.Digest {
		h.Fatalf("the caller got %+v, %v", d, err)
	}
	h.want("the original", h.agent.Redeem(h.ctx, d.Receipt, a.Call), sayso.ErrMismatch)
	a.Call.Args = d.Args
	h.must(h.agent.Redeem(h.ctx, d.Receipt, a.Call))
}

// approved returns a call with the receipt for it.
func (h *house) approved(id string) (sayso.Decision, sayso.Call) {
	h.Helper()
	c := call(toolAllowed, id, "a")
	d, err := h.now(sayso.Admission{Call: c})
	if err != nil || !d.Allowed() {
		h.Fatalf("got %+v, %v", d, err)
	}
	return d, c
}

func redeem(h *house) {
	d, c := h.approved("c1")
	for name, change := range map[string]func(*sayso.Call){
		"arguments":  func(c *sayso.Call) { c.Args = sayso.Args(`{"command":"b"}`) },
		"directory":  func(c *sayso.Call) { c.Cwd = "/" },
		"session":    func(c *sayso.Call) { c.Session = "s2" },
		"definition": func(c *sayso.Call) { c.DefinitionDigest = "d" },
	} {
		other := c
		change(&other)
		h.want(name, h.agent.Redeem(h.ctx, d.Receipt, other), sayso.ErrMismatch)
	}
	h.want("a receipt of another call", h.agent.Redeem(h.ctx, sayso.Receipt{Request: d.Request, Digest: sayso.HashOf("x")}, c), sayso.ErrMismatch)
	h.want("another requester", h.gate(suiteForeign).Redeem(h.ctx, d.Receipt, c), sayso.ErrNotAllowed)
	h.want("a person", h.gate(suiteOwner).Redeem(h.ctx, d.Receipt, c), sayso.ErrNotAllowed)
	h.want("an unknown one", h.agent.Redeem(h.ctx, sayso.Receipt{Request: sayso.NewID(time.Now(), [16]byte{1}), Digest: d.Digest}, c), sayso.ErrNotFound)
	spelt := c
	spelt.Args, spelt.CallID, spelt.Description = sayso.Args(` { "command" : "\u0061" } `), "", "other words"
	h.must(h.agent.Redeem(h.ctx, d.Receipt, spelt))
	h.want("again", h.agent.Redeem(h.ctx, d.Receipt, c), sayso.ErrSpent)
	h.lived(d.Request, sayso.EventRequested, sayso.EventResolved, sayso.EventRedeemed)
	r := h.parked(asks("c2", "make"))
	h.want("while it is open", h.agent.Redeem(h.ctx, sayso.Receipt{Request: r.ID, Digest: r.Digest}, asks("c2", "make").Call), sayso.ErrPending)
	h.says(r, sayso.Deny)
	h.want("after a no", h.agent.Redeem(h.ctx, sayso.Receipt{Request: r.ID, Digest: r.Digest}, asks("c2", "make").Call), sayso.ErrNotAllowed)
}

func redeemRace(h *house) {
	d, c := h.approved("c1")
	var won, spent atomic.Int64
	all(8, func(int) {
		switch err := h.agent.Redeem(h.ctx, d.Receipt, c); {
		case err == nil:
			won.Add(1)
		case errors.Is(err, sayso.ErrSpent):
			spent.Add(1)
		default:
			h.Error(err)
		}
	})
	if won.Load() != 1 || spent.Load() != 7 {
		h.Errorf("%d won, %d were told that it is spent", won.Load(), spent.Load())
	}
}

func redeemPolicy(h *house) {
	d, c := h.approved("c1")
	h.policy.setVersion("v2")
	h.want("under another policy", h.agent.Redeem(h.ctx, d.Receipt, c), sayso.ErrVoided)
	h.lived(d.Request, sayso.EventRequested, sayso.EventResolved, sayso.EventVoided)
}

func report(h *house) {
	d, c := h.approved("c1")
	h.want("what did not run", h.agent.Report(h.ctx, sayso.Outcome{Request: d.Request}), sayso.ErrInvalid)
	h.must(h.agent.Redeem(h.ctx, d.Receipt, c))
	if got := h.request(d.Request).Outcome; got != "unknown" {
		h.Errorf("before the report the outcome is %q", got)
	}
	status := 2
	failed := sayso.Outcome{Session: c.Session, CallID: c.CallID, Failed: true, ExitStatus: &status, Took: time.Second}
	h.must(h.agent.Report(h.ctx, failed))
	h.must(h.agent.Report(h.ctx, failed))
	if got := h.request(d.Request).Outcome; got != "failed" {
		h.Errorf("the outcome is %q", got)
	}
	d, c = h.approved("c2")
	h.must(h.agent.Redeem(h.ctx, d.Receipt, c))
	h.want("by another", h.gate(suiteForeign).Report(h.ctx, sayso.Outcome{Request: d.Request}), sayso.ErrNotAllowed)
	h.must(h.agent.Report(h.ctx, sayso.Outcome{Request: d.Request}))
	if got := h.request(d.Request).Outcome; got != "finished" {
		h.Errorf("the outcome is %q", got)
	}
	h.want("an unknown call", h.agent.Report(h.ctx, sayso.Outcome{Session: "s1", CallID: "c9"}), sayso.ErrNotFound)
}

func withdraw(h *house) {
	w, r := h.opened(asks("c1", "make"))
	h.want("by another", h.gate(suiteForeign).Withdraw(h.ctx, r.ID, ""), sayso.ErrNotAllowed)
	h.must(h.agent.Withdraw(h.ctx, r.ID, "the user said stop"))
	h.must(h.agent.Withdraw(h.ctx, r.ID, "the user said stop"))
	_, err := w.result()
	h.want("the caller", err, sayso.ErrWithdrawn)
	_, err = h.owner.Answer(h.ctx, r.ID, answer(r, sayso.Allow))
	h.want("an answer", err, sayso.ErrWithdrawn)
	if now := h.request(r.ID); now.State != sayso.StateWithdrawn || now.Decision == nil || now.Decision.Reason != "the user said stop" {
		h.Errorf("the request is %+v", now)
	}
	d, c := h.approved("c2")
	h.must(h.agent.Withdraw(h.ctx, d.Request, "late"))
	h.want("a receipt after it", h.agent.Redeem(h.ctx, d.Receipt, c), sayso.ErrVoided)
	d, c = h.approved("c3")
	h.must(h.agent.Redeem(h.ctx, d.Receipt, c))
	h.want("after it ran", h.agent.Withdraw(h.ctx, d.Request, ""), sayso.ErrSpent)
	d, err = h.now(sayso.Admission{Call: call(toolDenied, "c4", "a")})
	h.must(err)
	err = h.agent.Withdraw(h.ctx, d.Request, "")
	h.want("after a no", err, sayso.ErrDecided)
	h.want("nothing", h.agent.Withdraw(h.ctx, sayso.NewID(time.Now(), [16]byte{1}), ""), sayso.ErrNotFound)
}

func beginEnd(h *house) {
	h.must(h.agent.Begin(h.ctx, "s1", "claude-code"))
	h.must(h.agent.Begin(h.ctx, "s1", "claude-code"))
	h.approved("c1")
	h.must(h.agent.End(h.ctx, "s1"))
	h.must(h.agent.End(h.ctx, "s1"))
	h.must(h.agent.End(h.ctx, "never begun"))
	h.must(h.agent.Begin(h.ctx, "s1", "claude-code"))
	var got []sayso.EventType
	h.event(func(e sayso.Event) bool {
		if e.Type == sayso.EventSessionStarted || e.Type == sayso.EventSessionEnded {
			got = append(got, e.Type)
		}
		return len(got) == 3
	})
	if fmt.Sprint(got) != "[session.started session.ended session.started]" {
		h.Errorf("recorded %v", got)
	}
	h.want("a person", h.gate(suiteOwner).Begin(h.ctx, "s9", ""), sayso.ErrNotAllowed)
	h.want("a person", h.gate(suiteOwner).End(h.ctx, "s1"), sayso.ErrNotAllowed)
	_, err := h.gate(suiteOwner).Admit(h.ctx, asks("c9", "make"))
	h.want("a person", err, sayso.ErrNotAllowed)
}
