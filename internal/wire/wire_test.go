package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/wire"
)

const id = sayso.ID("01m7wyf0nnpx5134avv40bmx4g3chvqgbe44")

// over sends a problem over the wire.
func over(t *testing.T, p wire.Problem) wire.Problem {
	t.Helper()
	text, err := jcs.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got wire.Problem
	if err := jcs.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return got
}

func TestErrorsArriveAsThemselves(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   wire.Code
	}{
		{sayso.ErrInvalid, 422, "invalid"}, {sayso.ErrNotFound, 404, "not-found"}, {sayso.ErrNotAllowed, 403, "not-allowed"},
		{sayso.ErrConflict, 409, "conflict"}, {sayso.ErrMismatch, 412, "mismatch"}, {sayso.ErrSpent, 410, "spent"},
		{sayso.ErrVoided, 410, "voided"}, {sayso.ErrExpired, 410, "expired"}, {sayso.ErrWithdrawn, 410, "withdrawn"},
		{sayso.ErrTooMany, 429, "too-many"}, {sayso.ErrPresentationWanted, 428, "presentation-wanted"},
		{sayso.ErrUnavailable, 503, "unavailable"}, {sayso.ErrPending, 202, "pending"}, {sayso.ErrDecided, 409, "decided"},
		{wire.ErrUnauthenticated, 401, "unauthenticated"}, {wire.ErrForbidden, 403, "forbidden"}, {wire.ErrMethod, 405, "method-not-allowed"},
		{wire.ErrTooLarge, 413, "too-large"}, {wire.ErrNotJSON, 415, "not-json"}, {wire.ErrSkew, 400, "version-skew"},
		{wire.ErrPlain, 403, "forbidden"},
	} {
		wrapped := fmt.Errorf("where it happened: %w", c.err)
		p, known := wire.ProblemOf(wrapped)
		if !known || p.Status != c.status || p.Code != c.code || p.Title == "" {
			t.Errorf("%v: %+v", c.err, p)
		}
		p = over(t, p)
		if got := p.Err(); !errors.Is(got, c.err) && !(c.err == wire.ErrPlain && errors.Is(got, wire.ErrForbidden)) || got.Error() == "" {
			t.Errorf("%v arrives as %v", c.err, got)
		}
	}
}

func TestErrorsCarryWhatTheyTell(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 47, 28, 0, time.UTC)
	pending := &sayso.PendingError{Ticket: id, Deadline: at, Stop: true}
	p, _ := wire.ProblemOf(fmt.Errorf("waiting: %w", pending))
	p = over(t, p)
	var gotPending *sayso.PendingError
	if !errors.As(p.Err(), &gotPending) || !cmp.Equal(pending, gotPending) {
		t.Errorf("pending arrives as %+v", gotPending)
	}
	decided := &sayso.DecidedError{Decision: sayso.Decision{
		Effect: sayso.Deny, State: sayso.StateDenied, Request: id, Source: sayso.SourcePerson, At: at, Note: "no",
		By:   []sayso.Actor{{Principal: "ann", Kind: sayso.PrincipalPerson, Channel: "web"}},
		Args: sayso.Args(`{"token":"hidden"}`), Receipt: sayso.Receipt{Request: id, Digest: sayso.HashOf("x")},
	}}
	p, _ = wire.ProblemOf(decided)
	p = over(t, p)
	var gotDecided *sayso.DecidedError
	if !errors.As(p.Err(), &gotDecided) || gotDecided.Error() != decided.Error() || gotDecided.Decision.Note != "no" {
		t.Fatalf("decided arrives as %v", p.Err())
	}
	if len(gotDecided.Decision.Args) > 0 || gotDecided.Decision.Receipt != (sayso.Receipt{}) {
		t.Error("the second approver gets the receipt or the edit")
	}
	if decided.Decision.Args == nil {
		t.Error("the decision itself was changed")
	}
}

// Nothing that an error quotes may leave the server, unless it is a text of
// ours.
func TestErrorsSayNothingMore(t *testing.T) {
	const canary = "CANARY"
	for _, err := range []error{
		errors.New(canary), fmt.Errorf("%s: %w", canary, sayso.ErrNotFound), fmt.Errorf("%s: %w", canary, sayso.ErrNotAllowed),
		fmt.Errorf("%s: %w", canary, sayso.ErrConflict), fmt.Errorf("%s: %w", canary, sayso.ErrMismatch),
		fmt.Errorf("%s: %w", canary, sayso.ErrUnavailable), fmt.Errorf("%s: %w", canary, sayso.ErrExpired), fmt.Errorf("%s: %w", canary, sayso.ErrVoided),
		fmt.Errorf("%s: %w", canary, wire.ErrUnauthenticated), fmt.Errorf("%s: %w", canary, sayso.ErrSpent),
	} {
		p, _ := wire.ProblemOf(err)
		text, merr := jcs.Marshal(p)
		if merr != nil || strings.Contains(string(text), canary) {
			t.Errorf("%v leaves as %s (%v)", err, text, merr)
		}
	}
	var b wire.AnswerBody
	for _, body := range []string{
		`{"effect":"CANARY"}`, `{"digest":"CANARY"}`, `{"effect":1234567}`, `{"effect":"allow","effect":"CANARY"}`, `{"note":"CANARY`, `CANARY`,
		`{"effect":"allow","uses":"CANARY"}`,
	} {
		p, known := wire.ProblemOf(fmt.Errorf("%w: body: %w", sayso.ErrInvalid, jcs.Unmarshal([]byte(body), &b)))
		if !known || strings.Contains(p.Detail, canary) || (p.Status != 400 && p.Status != 422) {
			t.Errorf("%s leaves as %+v", body, p)
		}
	}
	p, _ := wire.ProblemOf(fmt.Errorf("%w: body: %w", sayso.ErrInvalid, jcs.Unmarshal([]byte(`{"effect":"allow_once"}`), &b)))
	if !strings.Contains(p.Detail, "deny, ask or allow") || !strings.Contains(p.Detail, "/effect") {
		t.Errorf("an unknown word is not explained: %q", p.Detail)
	}
}

func TestUnknownErrorsAreInternal(t *testing.T) {
	p, known := wire.ProblemOf(errors.New("x"))
	if known || p.Status != 500 || p.Code != wire.CodeInternal {
		t.Errorf("%+v", p)
	}
	if err := p.Err(); !errors.Is(err, sayso.ErrUnavailable) {
		t.Errorf("arrives as %v", err)
	}
	for _, code := range []wire.Code{"", "made-up"} {
		if err := (&wire.Problem{Code: code}).Err(); !errors.Is(err, sayso.ErrUnavailable) {
			t.Errorf("%q arrives as %v", code, err)
		}
	}
}

func TestAdmissionArrives(t *testing.T) {
	want := sayso.Admission{
		Call:   sayso.Call{Tool: "bash", Args: sayso.Args(`{"n":9007199254740993}`), Session: "s", CallID: "c", Said: map[string]string{"description": "x"}},
		Facts:  sayso.Facts{Workspace: "/w", Operands: []sayso.PathFact{{Arg: "path", Path: "a", State: sayso.PathMissing}}},
		Asking: true, Ask: &sayso.ToolAsk{Required: true, Payload: sayso.Args(`{"a":1}`)}, Patience: 1500 * time.Millisecond, Immediate: true, CanEdit: true, Strict: true,
	}
	text, err := jcs.Marshal(wire.AdmitOf(want))
	if err != nil {
		t.Fatal(err)
	}
	var b wire.Admit
	if err := jcs.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	got, err := b.Admission()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, silent := range []sayso.Admission{{Asking: true, Call: want.Call}, {Call: want.Call}} {
		text, err := jcs.Marshal(wire.AdmitOf(silent))
		if err != nil {
			t.Fatal(err)
		}
		var b wire.Admit
		if err := jcs.Unmarshal(text, &b); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Admission(); err != nil || got.Asking != silent.Asking || got.Ask != nil {
			t.Errorf("asking %v arrives as %v, %v", silent.Asking, got.Asking, err)
		}
	}
}

func TestAdmissionRefuses(t *testing.T) {
	for _, body := range []string{
		`{"call":{"tool":"bash"}}`, `{"call":{"args":{}}}`, `{"call":{"tool":"bash","args":{}},"presentation":"now"}`,
		`{"call":{"tool":"bash","args":{}},"patience_s":-1}`, `{"call":{"tool":"bash","args":{}},"patience_s":1e300}`,
		`{"call":{"tool":"bash","args":{},"kind":"nothing"}}`,
		`{"call":{"tool":"bash","args":{}},"ask":{"required":true,"presentation":{"type":"poem","content":""}}}`,
	} {
		var b wire.Admit
		err := jcs.Unmarshal([]byte(body), &b)
		if err == nil {
			_, err = b.Admission()
		}
		if !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestAnswerArrives(t *testing.T) {
	for _, want := range []sayso.Answer{
		{Effect: sayso.Deny, Note: "no"},
		{Digest: sayso.HashOf("d"), Content: sayso.HashOf("c"), Effect: sayso.Allow, Scope: sayso.ScopeSession, Cover: sayso.CoverCall, For: 90 * time.Second, Uses: 3},
		{Effect: sayso.Allow, Args: sayso.Args(`{}`)}, // edited to nothing is not the same as not edited
	} {
		text, err := jcs.Marshal(wire.AnswerOf(want))
		if err != nil {
			t.Fatal(err)
		}
		var b wire.AnswerBody
		if err := jcs.Unmarshal(text, &b); err != nil {
			t.Fatal(err)
		}
		got, err := b.Answer()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestAnswerRefuses(t *testing.T) {
	for _, body := range []string{
		`{}`, `{"effect":"ask"}`, `{"effect":null}`, `{"effect":"allow","scope":"ever"}`, `{"effect":"allow","uses":-1}`,
		`{"effect":"allow","for":"soon"}`, `{"effect":"allow","for":"-1h"}`, `{"effect":"allow","for":"0s"}`, `{"effect":"allow","for":"99999h"}`,
		`{"effect":"allow","note":"` + strings.Repeat("x", 9000) + `"}`,
	} {
		var b wire.AnswerBody
		if err := jcs.Unmarshal([]byte(body), &b); err != nil {
			t.Fatal(err)
		}
		if a, err := b.Answer(); !errors.Is(err, sayso.ErrInvalid) || a.Effect != sayso.Deny {
			t.Errorf("%.60s: %+v, %v", body, a, err)
		}
	}
}

func TestQueryArrives(t *testing.T) {
	for _, want := range []sayso.RowQuery{
		{},
		{Session: "s/1 ä", States: []sayso.State{sayso.StateOpen}, Oldest: true},
		{Sessions: []string{"a", "b"}, States: []sayso.State{sayso.StateParked, sayso.StateAllowed}, Limit: 7},
		{Group: "g", CallID: "toolu/1", Digest: sayso.HashOf("d"), Tool: "bash", Host: "h", Asked: true, Unspent: true, Since: time.Unix(1, 5).UTC(), Until: time.Unix(9, 0).UTC(), Before: 12},
	} {
		b := wire.QueryOf(want)
		p := wire.ParseParams(b.Values().Encode())
		q := p.Query()
		if err := p.Done(); err != nil {
			t.Fatal(err)
		}
		got, err := q.RowQuery()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for _, raw := range []string{"state=closed", "limit=100000", "limit=-1", "asked=yes", "digest=sha256:1", "since=today", "x=1", "tool=a&tool=b", "%zz", "before=1.5"} {
		p := wire.ParseParams(raw)
		q := p.Query()
		err := p.Done()
		if err == nil {
			_, err = q.RowQuery()
		}
		if !errors.Is(err, sayso.ErrInvalid) || strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v", raw, err)
		}
	}
	q := wire.Query{State: []wire.QueryState{"open"}}
	if got, _ := q.RowQuery(); len(got.States) != 2 {
		t.Errorf("open means %v", got.States)
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		server, client string
		ok             bool
		hint           string
	}{
		{"", "", true, ""}, {"1.4.0", "", true, ""}, {"", "1.4.0", true, ""}, {"(devel)", "1.4.0", true, ""}, {"1.4.0", "abc", true, ""},
		{"1.4.0", "1.4.9", true, ""}, {"v1.4.0", "1.3.0", true, ""}, {"1.4.0", "1.5.0", true, ""},
		{"1.4.0", "1.2.0", false, "where the client is"}, {"1.4.0", "1.6.0", false, "sayso serve"}, {"1.4.0", "2.4.0", false, "sayso serve"},
		{"2.0.0", "1.9.0", false, "where the client is"}, {"1.4.0", "1.-1.0", true, ""},
	} {
		err := wire.CheckVersions(c.server, c.client)
		if (err == nil) != c.ok || (err != nil && !strings.Contains(err.Error(), c.hint)) {
			t.Errorf("server %q, client %q: %v", c.server, c.client, err)
		}
	}
}

func TestOutbox(t *testing.T) {
	o := wire.NewOutbox(true)
	for i := range uint64(3) {
		o.Add(i, "", 200, []byte(`{}`))
	}
	o.Add(9, wire.OpEvent, 0, nil)
	<-o.Ready()
	free := o.Room(4)
	if free == nil || o.Room(5) != nil {
		t.Error("four frames wait")
	}
	chunks := o.Take()
	<-free
	var frames []wire.Frame
	for _, m := range chunks {
		for part := range wire.Frames(m, true) {
			f, err := wire.ParseFrame(part)
			if err != nil {
				t.Fatalf("%s: %v", part, err)
			}
			frames = append(frames, f)
		}
	}
	want := []wire.Frame{{Status: 200, Body: sayso.Args("{}")}, {ID: 1, Status: 200, Body: sayso.Args("{}")}, {ID: 2, Status: 200, Body: sayso.Args("{}")}, {ID: 9, Op: "event"}}
	if diff := cmp.Diff(want, frames); diff != "" || len(chunks) != 1 {
		t.Errorf("%d messages (-want +got):\n%s", len(chunks), diff)
	}
	o.Done(chunks)
	big := []byte(`"` + strings.Repeat("x", 300<<10) + `"`)
	o.Add(1, "", 200, big)
	o.Add(2, "", 200, big)
	if got := o.Take(); len(got) != 2 {
		t.Errorf("%d messages for two long frames", len(got))
	}
	single := wire.NewOutbox(false)
	single.Add(1, "", 204, nil)
	single.Add(2, "", 204, nil)
	if got := single.Take(); len(got) != 2 {
		t.Errorf("%d messages where a message is a frame", len(got))
	}
}

// A frame whose body can be decoded is read as strict JSON reads it, however it
// is spelled, and writing it again changes nothing.
func FuzzParseFrame(f *testing.F) {
	f.Add([]byte(`{"id":1,"op":"admit","body":{"call":{"tool":"bash","args":{}}}}`))
	f.Add([]byte(`{"id":18446744073709551615,"status":200}`))
	f.Add([]byte(`{"id":1,"op":"x","op":"y"}`))
	f.Add([]byte(`{"id":1,"op":"x","body":{},"op":"y"}`))
	f.Add([]byte(`{"id":1,"op":"x","body":{},"body":{}}`))
	f.Add([]byte(`{"id":1,"status":204}}`))
	f.Add([]byte(`{"id":01,"op":"x","body":{}}`))
	f.Add([]byte(`{"id":1e0}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		frame, err := wire.ParseFrame(text)
		if err != nil {
			return
		}
		body := []byte(frame.Body)
		if body != nil {
			if body, err = jcs.Canonicalize(body); err != nil {
				return // whoever decodes it says so
			}
		}
		var strict wire.Frame
		if err := jcs.Unmarshal(text, &strict); err != nil {
			t.Fatalf("%s is not strict: %v", text, err)
		}
		if strict.ID != frame.ID || strict.Op != frame.Op || strict.Status != frame.Status || string(strict.Body) != string(frame.Body) {
			t.Fatalf("%s is %+v, read as %+v", text, strict, frame)
		}
		op, err := jcs.Marshal(frame.Op)
		if err != nil || string(op) != `"`+frame.Op+`"` {
			return // an operation that needs escapes is none of ours
		}
		again, err := wire.ParseFrame(wire.AppendFrame(nil, frame.ID, frame.Op, frame.Status, body))
		if err != nil || again.ID != frame.ID || again.Op != frame.Op || again.Status != frame.Status || string(again.Body) != string(body) {
			t.Fatalf("%s became %+v, %v", text, again, err)
		}
	})
}
