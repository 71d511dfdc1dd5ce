package tool_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

type email struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body,omitempty"`
	hidden  string
}

type sent struct {
	ID int `json:"id"`
}

func send(_ context.Context, e email) (sent, error) {
	if e.hidden != "" {
		return sent{}, errors.New("something came in beside the arguments")
	}
	if e.To == "" {
		return sent{}, errBroken
	}
	return sent{7}, nil
}

// TestGuard_defaults: the title is made of the preview, what is remembered is
// the call as a whole, and asking is required.
func TestGuard_defaults(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	mail := tool.Guard(b.Gate(), "send_email", send, &tool.Options[email]{Terms: tool.Terms{Call: sayso.Call{Session: "s", Caller: "agent/main"}}})
	out, err := mail.Do(t.Context(), email{To: "ana@example.org", Subject: "hi", Body: strings.Repeat("long ", 100), hidden: "x"})
	if err != nil || out.ID != 7 {
		t.Fatalf("got %+v, %v", out, err)
	}
	r := b.Asked()[0]
	if !strings.HasPrefix(r.Description, `send_email(body="long long`) || !strings.HasSuffix(r.Description, `, subject="hi", to="ana@example.org")`) || len(r.Description) > 300 {
		t.Errorf("the title is %q", r.Description)
	}
	if r.Fingerprint != r.Digest || len(r.Ignores) != 0 || r.Cause != sayso.CauseRule || r.Caller != "agent/main" || r.Tool != "send_email" {
		t.Errorf("asked %+v", r)
	}
	types := eventTypes(b)
	want := []sayso.EventType{sayso.EventSessionStarted, sayso.EventRequested, sayso.EventAnswered, sayso.EventResolved, sayso.EventRedeemed, sayso.EventFinished}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}

// TestGuard_secrets: a title says no more than a preview.
func TestGuard_secrets(t *testing.T) {
	g := &fake{}
	f := tool.Guard(g, "login", func(context.Context, map[string]string) (string, error) { return "", nil }, nil)
	if _, err := f.Do(t.Context(), map[string]string{"password": "hunter2hunter2", "user": "ana"}); err != nil {
		t.Fatal(err)
	}
	if d := g.admitted[0].Ask.Description; strings.Contains(d, "hunter2") || !strings.Contains(d, `user="ana"`) {
		t.Errorf("the title is %q", d)
	}
}

func TestGuard_options(t *testing.T) {
	g := &fake{}
	shown := 0
	o := &tool.Options[email]{
		Kind: sayso.KindDelete, Risk: sayso.RiskDestructive,
		Description: func(e email) string { return "Send email to " + e.To },
		Payload:     func(e email) any { return obj{"to": e.To, "subject": "any"} },
		Display:     func(e email) any { return obj{"to": e.To} },
		Group:       func(email) string { return "batch" },
		Present: func(_ context.Context, e email) (*sayso.Presentation, error) {
			shown++
			return &sayso.Presentation{Type: sayso.PresentText, Content: e.Body}, nil
		},
	}
	mail := tool.Guard(g, "send_email", send, o)
	if _, err := mail.Do(t.Context(), email{To: "ana", Subject: "hi", Body: "text"}); err != nil {
		t.Fatal(err)
	}
	a := g.admitted[0]
	want := &sayso.ToolAsk{
		Required: true, Description: "Send email to ana", Payload: sayso.Args(`{"subject":"any","to":"ana"}`), Ignores: []string{"body", "subject"},
		Risk: sayso.RiskDestructive, GroupID: "batch", Display: sayso.Args(`{"to":"ana"}`),
	}
	if diff := cmp.Diff(want, a.Ask); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	if a.Call.Kind != sayso.KindDelete || shown != 0 {
		t.Errorf("kind %s, presented %d times", a.Call.Kind, shown)
	}
	if p, err := a.Present(t.Context()); err != nil || p.Content != "text" || shown != 1 {
		t.Errorf("presents %+v, %v", p, err)
	}
}

// TestWhen: only the calls for which the check is true are asked about; the
// others still go through the gate.
func TestWhen(t *testing.T) {
	g := &fake{}
	abroad := func(e email) bool { return !strings.HasSuffix(e.To, "@example.org") }
	mail := tool.Guard(g, "send_email", send, &tool.Options[email]{Ask: tool.When(abroad)})
	for _, to := range []string{"ana@example.org", "eve@example.com"} {
		if _, err := mail.Do(t.Context(), email{To: to}); err != nil {
			t.Fatal(err)
		}
	}
	if a := g.admitted[0]; !a.Asking || a.Ask != nil {
		t.Errorf("at home it asks %+v", a.Ask)
	}
	if a := g.admitted[1]; !a.Asking || a.Ask == nil || !a.Ask.Required || a.Ask.Description == "" {
		t.Errorf("abroad it asks %+v", a.Ask)
	}
	g.did(t, "admit send_email", "redeem send_email", "report", "admit send_email", "redeem send_email", "report")
}

func TestGuard_call(t *testing.T) {
	g := &fake{}
	mail := tool.Guard(g, "send_email", send, &tool.Options[email]{About: "Send mail.", Kind: sayso.KindOther, Schema: sayso.Args(`{"type":"object"}`)})
	for _, tt := range []struct{ tool, args, text, err string }{
		{"send_email", `{"to":"ana","subject":"hi"}`, `{"id":7}`, ""},
		{"send_email", `{"to":"","subject":"hi"}`, "", "broken"},
		{"send_email", `{"to":"ana","to":"eve","subject":"hi"}`, "", "duplicate key"},
		{"send_email", `{"To":"ana","subject":"hi"}`, "", "send_email"},
		{"send_email", `{"to":"ana","cc":"eve"}`, "", "send_email"},
		{"send_email", `[]`, "", "send_email"},
		{"send_mail", `{}`, "", "there is no tool"},
	} {
		r, err := mail.Call(t.Context(), sayso.Call{Tool: tt.tool, Args: sayso.Args(tt.args)})
		if r.Text != tt.text || !has(err, tt.err) {
			t.Errorf("%s %s: got %q, %v", tt.tool, tt.args, r.Text, err)
		}
	}
	if len(g.admitted) != 2 {
		t.Errorf("%d calls were admitted; what cannot be read strictly must not be", len(g.admitted))
	}
	if d := mail.Tools()[0]; d.Name != "send_email" || d.Description != "Send mail." || string(d.Schema) != `{"type":"object"}` {
		t.Errorf("described as %+v", d)
	}
}

// TestGuard_asking: an error of what asks stops the call before the gate.
func TestGuard_asking(t *testing.T) {
	g := &fake{}
	for name, o := range map[string]*tool.Options[email]{
		"the ask fails":            {Ask: func(context.Context, email) (*tool.Ask, error) { return nil, errBroken }},
		"the payload is no object": {Payload: func(email) any { return "x" }},
		"the display is no JSON":   {Display: func(email) any { return func() {} }},
	} {
		if _, err := tool.Guard(g, "send_email", send, o).Do(t.Context(), email{To: "ana"}); err == nil {
			t.Errorf("%s: it ran", name)
		}
	}
	if _, err := tool.Guard(g, "shout", func(context.Context, string) (string, error) { return "", nil }, nil).Do(t.Context(), "x"); err == nil {
		t.Error("arguments that are no object: it ran")
	}
	if len(g.log) != 0 {
		t.Errorf("at the gate: %v", g.log)
	}
}

// TestGuard_edited: the function runs on the edited arguments, and an edit that
// it cannot take stops the call.
func TestGuard_edited(t *testing.T) {
	for _, tt := range []struct{ args, to, err string }{
		{`{"to":"bob","subject":"hi"}`, "bob", ""},
		{`{"to":"bob","cc":"eve"}`, "", "with the edited arguments"},
	} {
		b := saysotest.New(t)
		b.Answer(func(sayso.Request) sayso.Answer { return sayso.Answer{Effect: sayso.Allow, Args: sayso.Args(tt.args)} })
		to := ""
		mail := tool.Guard(b.Gate(), "send_email", func(_ context.Context, e email) (string, error) { to = e.To; return "", nil },
			&tool.Options[email]{Terms: tool.Terms{Call: sayso.Call{Session: "s"}}})
		if _, err := mail.Do(t.Context(), email{To: "ana", Subject: "hi"}); to != tt.to || !has(err, tt.err) {
			t.Errorf("%s: sent to %q, %v", tt.args, to, err)
		}
	}
}

// TestGuard_asks: what asked about the arguments cannot change what runs.
func TestGuard_argumentsStay(t *testing.T) {
	g := &fake{}
	var ran string
	f := tool.Guard(g, "send", func(_ context.Context, m map[string]string) (string, error) { ran = m["to"]; return "", nil },
		&tool.Options[map[string]string]{Description: func(m map[string]string) string { m["to"] = "eve"; return "Send" }})
	if _, err := f.Do(t.Context(), map[string]string{"to": "ana"}); err != nil || ran != "ana" {
		t.Errorf("ran with %q, %v", ran, err)
	}
}

// TestFunc_With: a framework says what it knows of one call; the rest is that of
// the options.
func TestFunc_With(t *testing.T) {
	g := &fake{}
	mail := tool.Guard(g, "send_email", send, &tool.Options[email]{Terms: tool.Terms{Call: sayso.Call{Session: "s", Caller: "main"}}})
	one := mail.With(sayso.Call{Session: "other", CallID: "c1", Tool: "not looked at", Args: sayso.Args(`{"to":"eve"}`)})
	for _, f := range []*tool.Func[email, sent]{one, mail} {
		if _, err := f.Do(t.Context(), email{To: "ana"}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []sayso.Call{{Session: "other", CallID: "c1"}, {Session: "s"}} {
		c := g.admitted[i].Call
		if c.Session != want.Session || c.CallID != want.CallID || c.Caller != "main" || c.Tool != "send_email" || string(c.Args) != `{"to":"ana","subject":""}` {
			t.Errorf("admitted %+v", c)
		}
	}
}
