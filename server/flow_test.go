package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/wire"
)

// transports are the ways to reach a server that must all behave alike.
var transports = map[string]func(*harness, string) *client.Client{
	"http":      (*harness).client,
	"websocket": (*harness).dial,
}

func TestAskAnswerRedeemReport(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			agent, ann := connect(w, "agent"), connect(w, "person")
			type result struct {
				d   sayso.Decision
				err error
			}
			decided := make(chan result, 1)
			c := call("bash", "c1")
			go func() {
				d, err := agent.Admit(t.Context(), sayso.Admission{Call: c, Patience: time.Minute})
				decided <- result{d, err}
			}()
			r := w.waitForRequest("s1", "c1")
			open, err := ann.Requests(t.Context(), sayso.RowQuery{States: []sayso.State{sayso.StateOpen}})
			if err != nil || len(open) != 1 || open[0].ID != r.ID {
				t.Fatalf("Requests = %v, %v", open, err)
			}
			full, err := ann.Content(t.Context(), r.ID)
			if err != nil || !strings.Contains(string(full.Args), "git push") {
				t.Fatalf("Content = %s, %v", full.Args, err)
			}
			said, err := ann.Answer(t.Context(), r.ID, allow(r))
			if err != nil || !said.Allowed() || said.Who() != "ann" {
				t.Fatalf("Answer = %+v, %v", said, err)
			}
			got := <-decided
			if got.err != nil || !got.d.Allowed() || got.d.Receipt.Request != r.ID {
				t.Fatalf("Admit = %+v, %v", got.d, got.err)
			}
			other := c
			other.Args = sayso.Args(`{"command":"git push -f"}`)
			if err := agent.Redeem(t.Context(), got.d.Receipt, other); !errors.Is(err, sayso.ErrMismatch) {
				t.Errorf("Redeem of another call: %v", err)
			}
			if err := agent.Redeem(t.Context(), got.d.Receipt, c); err != nil {
				t.Errorf("Redeem: %v", err)
			}
			if err := agent.Redeem(t.Context(), got.d.Receipt, c); !errors.Is(err, sayso.ErrSpent) {
				t.Errorf("second Redeem: %v", err)
			}
			if err := agent.Report(t.Context(), sayso.Outcome{Session: "s1", CallID: "c1", Took: time.Second}); err != nil {
				t.Errorf("Report: %v", err)
			}
			events, err := ann.Life(t.Context(), r.ID)
			if err != nil {
				t.Fatal(err)
			}
			var types []sayso.EventType
			for _, e := range events {
				types = append(types, e.Type)
			}
			want := []sayso.EventType{sayso.EventRequested, sayso.EventAnswered, sayso.EventResolved, sayso.EventRedeemed, sayso.EventFinished}
			if diff := cmp.Diff(want, types); diff != "" {
				t.Errorf("life (-want +got):\n%s", diff)
			}
			again, err := ann.Request(t.Context(), r.ID.Short())
			if err != nil || again.Outcome != "finished" || again.Decision == nil {
				t.Errorf("Request = %+v, %v", again, err)
			}
		})
	}
}

func TestSecondApproverIsTold(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			ann, bob := connect(w, "person"), connect(w, "bob")
			r := w.open("s1", "c1")
			if _, err := ann.Answer(t.Context(), r.ID, allow(r)); err != nil {
				t.Fatal(err)
			}
			if d, err := ann.Answer(t.Context(), r.ID, allow(r)); err != nil || !d.Allowed() {
				t.Errorf("the same answer again = %+v, %v", d, err)
			}
			no := allow(r)
			no.Effect = sayso.Deny
			d, err := bob.Answer(t.Context(), r.ID, no)
			var told *sayso.DecidedError
			if !errors.As(err, &told) || told.Decision.Who() != "ann" || !told.Decision.Allowed() || told.Decision.At.IsZero() {
				t.Errorf("second answer: %v", err)
			}
			if d.Allowed() {
				t.Error("an allow came with an error")
			}
		})
	}
}

func TestPatience(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			agent := connect(w, "agent")
			_, err := agent.Admit(t.Context(), sayso.Admission{Call: call("bash", "c1"), Patience: time.Millisecond})
			var pending *sayso.PendingError
			if !errors.As(err, &pending) || pending.Ticket == "" || pending.Deadline.IsZero() {
				t.Fatalf("Admit = %v", err)
			}
			if err := agent.Withdraw(t.Context(), pending.Ticket, "no longer needed"); err != nil {
				t.Fatal(err)
			}
			d, err := agent.Admit(t.Context(), sayso.Admission{Call: call("bash", "c1")})
			if !errors.Is(err, sayso.ErrWithdrawn) || d.Allowed() {
				t.Errorf("Admit after Withdraw = %+v, %v", d, err)
			}
			if !strings.HasPrefix(sayso.Told(d, err), "Withdrawn") {
				t.Errorf("told: %s", sayso.Told(d, err))
			}
		})
	}
}

func TestCancelledContextParks(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			agent := connect(w, "agent")
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan error, 1)
			go func() {
				_, err := agent.Admit(ctx, sayso.Admission{Call: call("bash", "c1")})
				left <- err
			}()
			r := w.waitForRequest("s1", "c1")
			cancel()
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("Admit = %v", err)
			}
			e := w.event(sayso.EventParked)
			if e.RequestID != r.ID || !strings.Contains(string(e.Payload), sayso.ParkedLeft) {
				t.Errorf("parked: %s %s", e.RequestID, e.Payload)
			}
		})
	}
}

// event waits for the first event of a type.
func (w *harness) event(want sayso.EventType) sayso.Event {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	for e, err := range w.b.Inbox(actors["admin"]).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{want}}) {
		if err != nil {
			w.t.Fatalf("no %s: %v", want, err)
		}
		return e
	}
	return sayso.Event{}
}

func TestPresentationIsMadeOnceAndLate(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			agent := connect(w, "agent")
			made := 0
			show := func(context.Context) (*sayso.Presentation, error) {
				made++
				return &sayso.Presentation{Type: sayso.PresentDiff, Content: "-a\n+b\n"}, nil
			}
			d, err := agent.Admit(t.Context(), sayso.Admission{Call: call("file-read", "c0"), Present: show})
			if err != nil || !d.Allowed() || made != 0 {
				t.Fatalf("allowed call: %+v, %v, made %d", d, err, made)
			}
			_, err = agent.Admit(t.Context(), sayso.Admission{Call: call("bash", "c1"), Present: show, Patience: time.Millisecond})
			if !errors.Is(err, sayso.ErrPending) || made != 1 {
				t.Fatalf("asked call: %v, made %d", err, made)
			}
			r := w.waitForRequest("s1", "c1")
			full, err := connect(w, "person").Content(t.Context(), r.ID)
			if err != nil || full.Presentation == nil || full.Presentation.Content != "-a\n+b\n" {
				t.Errorf("Content = %+v, %v", full, err)
			}
			failed := errors.New("no diff")
			_, err = agent.Admit(t.Context(), sayso.Admission{Call: call("bash", "c2"), Present: func(context.Context) (*sayso.Presentation, error) { return nil, failed }})
			if !errors.Is(err, failed) {
				t.Errorf("failing presentation: %v", err)
			}
		})
	}
}

func TestPresentation_ticketIsBoundAndGoodOnce(t *testing.T) {
	w := newHarness(t, nil)
	body := `{"call":{"tool":"bash","args":{"command":"x"},"session":"s1","call_id":"c1"},"presentation":"later","patience_s":0.001}`
	r := w.request("agent", "POST", "/v1/admissions", body)
	p := r.problem(t)
	if r.status != http.StatusPreconditionRequired || p.Code != wire.CodePresentationWanted || p.Ticket == "" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	path := "/v1/requests/" + string(p.Ticket) + "/presentation"
	for _, step := range []struct {
		token, body string
		status      int
	}{
		{"agent2", `{"type":"text","content":"x"}`, 404},
		{"agent", `{"type":"poem","content":"x"}`, 422},
		{"agent", `{"type":"text","content":"x"}`, 202},
		{"agent", `{"type":"text","content":"x"}`, 404},
	} {
		if r := w.request(step.token, "POST", path, step.body); r.status != step.status {
			t.Errorf("%s as %s: %d %s, want %d", step.body, step.token, r.status, r.body, step.status)
		}
	}
}

func TestFollowSeesEverythingOnce(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			agent, ann := connect(w, "agent"), connect(w, "person")
			const calls = 50
			admitted := make(chan struct{})
			go func() {
				defer close(admitted)
				for i := range calls {
					if _, err := agent.Admit(t.Context(), sayso.Admission{Call: call("file-read", fmt.Sprintf("c%d", i))}); err != nil {
						t.Error(err)
					}
				}
			}()
			seen, last := 0, sayso.Seq(0)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			for e, err := range ann.Follow(ctx, 0, sayso.EventQuery{Session: "s1", Types: []sayso.EventType{sayso.EventRequested}}) {
				if err != nil {
					t.Fatalf("after %d events: %v", seen, err)
				}
				if e.Seq <= last {
					t.Fatalf("event %d after %d", e.Seq, last)
				}
				if _, err := sayso.RequestIn(&e); err != nil {
					t.Error(err)
				}
				if last, seen = e.Seq, seen+1; seen == calls {
					break
				}
			}
			if seen != calls {
				t.Errorf("%d events", seen)
			}
			<-admitted
		})
	}
}

func TestRulesOfSessions(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			ann, admin, agent := connect(w, "person"), connect(w, "admin"), connect(w, "agent")
			if err := agent.Begin(t.Context(), "s1", "claude-code"); err != nil {
				t.Fatal(err)
			}
			want := map[string]sayso.Effect{"bash": sayso.Allow, "web-fetch": sayso.Deny}
			if err := ann.SetPolicies(t.Context(), "s1", want); err != nil {
				t.Fatal(err)
			}
			got, err := ann.Policies(t.Context(), "s1")
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("Policies: %v (-want +got):\n%s", err, diff)
			}
			if err := ann.SetMode(t.Context(), "", sayso.ModeStrict, 0); !errors.Is(err, sayso.ErrNotAllowed) {
				t.Errorf("a person sets the mode of all: %v", err)
			}
			if err := admin.SetMode(t.Context(), "", sayso.ModeApproveAll, 0); !errors.Is(err, sayso.ErrInvalid) {
				t.Errorf("approve_all without an end: %v", err)
			}
			if err := ann.SetMode(t.Context(), "s1", sayso.ModeApproveAll, time.Hour); err != nil {
				t.Fatal(err)
			}
			m, err := ann.Mode(t.Context(), "s1")
			if err != nil || m.Mode != sayso.ModeApproveAll || m.Left <= 0 || m.Left > time.Hour {
				t.Errorf("Mode = %+v, %v", m, err)
			}
			if m, err := ann.Mode(t.Context(), ""); err != nil || m.Mode != sayso.ModeInteractive || m.Left != 0 {
				t.Errorf("Mode of all = %+v, %v", m, err)
			}
			v, err := ann.Explain(t.Context(), call("bash", ""), sayso.Facts{})
			if err != nil || v.Effect != sayso.Ask || v.Line != 3 || len(v.Matches) != 1 || v.Deadline.After != time.Hour {
				t.Errorf("Explain = %+v, %v", v, err)
			}
			if err := agent.End(t.Context(), "s1"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestGrants(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			ann, agent := connect(w, "person"), connect(w, "agent")
			r := w.open("s1", "c1")
			yes := allow(r)
			yes.Scope, yes.For, yes.Uses = sayso.ScopeSession, time.Hour, 3
			if _, err := ann.Answer(t.Context(), r.ID, yes); err != nil {
				t.Fatal(err)
			}
			list, err := ann.Grants(t.Context(), "s1", false)
			if err != nil || len(list) != 1 || list[0].MaxUses == 0 {
				t.Fatalf("Grants = %+v, %v", list, err)
			}
			if err := ann.Revoke(t.Context(), list[0].ID); err != nil {
				t.Fatal(err)
			}
			if list, err = ann.Grants(t.Context(), "", false); err != nil || len(list) != 0 {
				t.Errorf("Grants = %+v, %v", list, err)
			}
			if list, err = ann.Grants(t.Context(), "", true); err != nil || len(list) != 1 || list[0].Ended == "" {
				t.Errorf("all Grants = %+v, %v", list, err)
			}
			if _, err := agent.Grants(t.Context(), "", true); !errors.Is(err, sayso.ErrNotAllowed) {
				t.Errorf("an agent lists grants: %v", err)
			}
		})
	}
}

// A cover that the request does not offer is a word that it does not know, over
// every transport; one that it offers is remembered with what it showed.
func TestGR3_coversOverTheWire(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			agent, ann := connect(w, "agent"), connect(w, "person")
			c := call("bash", "c1")
			c.Args = sayso.Args(`{"command":"git add a"}`)
			if _, err := agent.Admit(t.Context(), sayso.Admission{Call: c, Patience: time.Millisecond}); !errors.Is(err, sayso.ErrPending) {
				t.Fatal(err)
			}
			id := w.waitForRequest("s1", "c1").ID
			r, err := ann.Request(t.Context(), string(id))
			if err != nil || len(r.Covers) != 3 || r.Covers[1].Pattern != "bash:git add*" {
				t.Fatalf("offered %+v, %v", r.Covers, err)
			}
			a := allow(r)
			a.Scope = sayso.ScopeSession
			for _, cover := range []sayso.Cover{sayso.CoverHost, sayso.CoverKind, "everything"} {
				a.Cover = cover
				if d, err := ann.Answer(t.Context(), r.ID, a); !errors.Is(err, sayso.ErrInvalid) || d.Allowed() {
					t.Errorf("cover %s: %+v, %v", cover, d, err)
				}
			}
			a.Cover = sayso.CoverPrefix
			if _, err := ann.Answer(t.Context(), r.ID, a); err != nil {
				t.Fatal(err)
			}
			c.CallID, c.Args = "c2", sayso.Args(`{"command":"git add b"}`)
			d, err := agent.Admit(t.Context(), sayso.Admission{Call: c, Patience: time.Millisecond, Immediate: true})
			if err != nil || d.Source != sayso.SourceGrant {
				t.Errorf("the next call: %+v, %v", d, err)
			}
			gs, err := ann.Grants(t.Context(), "s1", false)
			if err != nil || len(gs) != 1 || gs[0].Cover != sayso.CoverPrefix || gs[0].Pattern != "bash:git add*" || gs[0].Uses != 1 {
				t.Errorf("remembered is %+v, %v", gs, err)
			}
		})
	}
}

func TestGroup(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			agent, ann := connect(w, "agent"), connect(w, "person")
			var members []sayso.Member
			for _, id := range []string{"c1", "c2", "late"} {
				c := call("bash", id)
				c.GroupID = "g1"
				_, err := agent.Admit(t.Context(), sayso.Admission{Call: c, Patience: time.Millisecond})
				if !errors.Is(err, sayso.ErrPending) {
					t.Fatal(err)
				}
				r := w.waitForRequest("s1", id)
				if id != "late" {
					members = append(members, sayso.Member{ID: r.ID, Digest: r.Digest, Content: r.Content})
				}
			}
			members[1].Digest = sayso.HashOf("something else")
			results, err := ann.AnswerGroup(t.Context(), "g1", members, sayso.Answer{Effect: sayso.Allow})
			if err != nil || len(results) != 2 {
				t.Fatalf("AnswerGroup = %+v, %v", results, err)
			}
			if results[0].Err != nil || !results[0].Decision.Allowed() {
				t.Errorf("first member: %+v", results[0])
			}
			if !errors.Is(results[1].Err, sayso.ErrMismatch) || results[1].Decision.Allowed() {
				t.Errorf("second member: %+v", results[1])
			}
			open, err := ann.Requests(t.Context(), sayso.RowQuery{States: []sayso.State{sayso.StateOpen, sayso.StateParked}})
			if err != nil || len(open) != 2 {
				t.Errorf("%d open, %v", len(open), err)
			}
		})
	}
}

func TestEditedArguments(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, nil)
			agent, ann := connect(w, "agent"), connect(w, "person")
			got := make(chan sayso.Decision, 1)
			c := call("bash", "c1")
			go func() {
				d, err := agent.Admit(t.Context(), sayso.Admission{Call: c, CanEdit: true})
				if err != nil {
					t.Error(err)
				}
				got <- d
			}()
			r := w.waitForRequest("s1", "c1")
			a := allow(r)
			a.Args = sayso.Args(`{"command":"git push --dry-run"}`)
			said, err := ann.Answer(t.Context(), r.ID, a)
			if err != nil || len(said.Args) > 0 {
				t.Errorf("Answer = %+v, %v", said, err)
			}
			d := <-got
			if !d.Allowed() || string(d.Args) != `{"command":"git push --dry-run"}` {
				t.Fatalf("Admit = %+v", d)
			}
			if err := agent.Redeem(t.Context(), d.Receipt, c); !errors.Is(err, sayso.ErrMismatch) {
				t.Errorf("Redeem of the call as it was: %v", err)
			}
			c.Args = d.Args
			if err := agent.Redeem(t.Context(), d.Receipt, c); err != nil {
				t.Errorf("Redeem: %v", err)
			}
		})
	}
}

func TestUnderAnAgent(t *testing.T) {
	w := newHarness(t, nil)
	r := w.open("s1", "c1")
	c, err := client.New("http://"+w.addr, "person", &client.Options{UnderAgent: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Answer(t.Context(), r.ID, allow(r)); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("an answer from under an agent: %v", err)
	}
	if e := w.event(sayso.EventAnswerRefused); e.RequestID != r.ID || !strings.Contains(string(e.Payload), "agent-process") {
		t.Errorf("recorded: %s", e.Payload)
	}
}
