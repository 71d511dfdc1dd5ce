package sayso_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/store/storetest"
)

// life makes the events of one request, each in its place.
type life struct {
	*storetest.Maker
	id     sayso.ID
	events []sayso.Event
}

func newLife(w storetest.Wish) *life {
	l := &life{Maker: storetest.NewMaker(7)}
	var b sayso.Batch
	l.id, b = l.Request(w)
	l.events = l.placed(b.Events...)
	return l
}

// placed gives events the next places in the stream.
func (l *life) placed(events ...sayso.Event) []sayso.Event {
	for i := range events {
		events[i].Pos = len(l.events) + i + 1
		events[i].Seq = sayso.Seq(100 + events[i].Pos)
	}
	return events
}

// denied is a decision to deny.
const denied sayso.EventType = "denied"

// next is an event of a type that would come next, with a payload that fits.
func (l *life) next(t sayso.EventType) sayso.Event {
	switch t {
	case sayso.EventRequested:
		_, b := l.Request(storetest.Wish{})
		b.Events[0].Stream, b.Events[0].RequestID = sayso.RequestStream(l.id), l.id
		return l.placed(b.Events...)[0]
	case sayso.EventAnswered:
		return l.placed(l.Answer(l.id, 0, sayso.Allow, "fine").Events[0])[0]
	case sayso.EventResolved:
		return l.placed(l.Answer(l.id, 0, sayso.Allow, "fine").Events[1])[0]
	case denied:
		return l.placed(l.Answer(l.id, 0, sayso.Deny, "no").Events[1])[0]
	}
	return l.placed(l.Next(l.id, 0, t, payloads[t]).Events...)[0]
}

// then adds events by their types.
func (l *life) then(types ...sayso.EventType) *life {
	for _, t := range types {
		l.events = append(l.events, l.next(t))
	}
	return l
}

// payloads are payloads of the types that are not made otherwise.
var payloads = map[sayso.EventType]any{
	sayso.EventExpired:        sayso.Closed{Reason: "nobody answered"},
	sayso.EventWithdrawn:      sayso.Closed{Reason: "cancelled"},
	sayso.EventParked:         sayso.Parked{Cause: sayso.ParkedPatience},
	sayso.EventTaken:          sayso.Taken{Holder: "lease-2", CallID: "toolu_again"},
	sayso.EventRedeemed:       sayso.Redeemed{Policy: "p1"},
	sayso.EventVoided:         sayso.Closed{Reason: "lapsed"},
	sayso.EventFinished:       sayso.Finished{},
	sayso.EventAnswerRefused:  sayso.AnswerRefused{Effect: sayso.Allow, Why: "mismatch"},
	sayso.EventContentErased:  sayso.ContentErased{},
	sayso.EventGrantCreated:   sayso.GrantCreated{},
	sayso.EventGrantUsed:      sayso.GrantUsed{},
	sayso.EventGrantRevoked:   sayso.Closed{},
	sayso.EventGrantEnded:     sayso.Closed{},
	sayso.EventSessionStarted: sayso.SessionStarted{},
	sayso.EventSessionPolicy:  sayso.SessionPolicy{},
	sayso.EventSessionEnded:   sayso.Closed{},
	sayso.EventModeChanged:    sayso.ModeChanged{},
	sayso.EventPolicyLoaded:   sayso.PolicyLoaded{},
	sayso.EventPolicyAccepted: sayso.PolicyLoaded{},

	sayso.EventDefinitionQuarantined: sayso.Closed{},
	sayso.EventDefinitionAccepted:    sayso.Closed{},

	"approval.invented": sayso.Closed{},
	"":                  sayso.Closed{},
}

// types are all types of events, and two that are none.
func types() []sayso.EventType {
	all := []sayso.EventType{sayso.EventRequested, sayso.EventAnswered, sayso.EventResolved}
	for t := range payloads {
		all = append(all, t)
	}
	slices.Sort(all)
	return all
}

// situations are all that a request can have come to, and which types of
// events may follow. What is not listed is refused.
var situations = []struct {
	name string
	by   []sayso.EventType // after approval.requested
	want sayso.State
	next string // the last words of the types, of those that change something
}{
	{"open", nil, sayso.StateOpen, "answered resolved expired withdrawn parked taken"},
	{"answered once of twice", []sayso.EventType{sayso.EventAnswered}, sayso.StateOpen, "answered resolved expired withdrawn parked taken"},
	{"parked", []sayso.EventType{sayso.EventParked}, sayso.StateParked, "answered resolved expired withdrawn parked taken"},
	{"taken up", []sayso.EventType{sayso.EventParked, sayso.EventTaken}, sayso.StateOpen, "answered resolved expired withdrawn parked taken"},
	{"allowed", []sayso.EventType{sayso.EventResolved}, sayso.StateAllowed, "parked taken redeemed voided"},
	{"allowed while parked", []sayso.EventType{sayso.EventParked, sayso.EventResolved}, sayso.StateAllowed, "parked taken redeemed voided"},
	{"allowed, then left", []sayso.EventType{sayso.EventResolved, sayso.EventParked}, sayso.StateAllowed, "parked taken redeemed voided"},
	{"allowed, left and taken up", []sayso.EventType{sayso.EventResolved, sayso.EventParked, sayso.EventTaken}, sayso.StateAllowed, "parked taken redeemed voided"},
	{"denied", []sayso.EventType{denied}, sayso.StateDenied, ""},
	{"denied while parked", []sayso.EventType{sayso.EventParked, denied}, sayso.StateDenied, "parked taken"},
	{"denied while parked, and taken up", []sayso.EventType{sayso.EventParked, denied, sayso.EventTaken}, sayso.StateDenied, ""},
	{"expired", []sayso.EventType{sayso.EventExpired}, sayso.StateExpired, ""},
	{"expired while parked", []sayso.EventType{sayso.EventParked, sayso.EventExpired}, sayso.StateExpired, ""},
	{"withdrawn", []sayso.EventType{sayso.EventWithdrawn}, sayso.StateWithdrawn, ""},
	{"redeemed", []sayso.EventType{sayso.EventResolved, sayso.EventRedeemed}, sayso.StateAllowed, "finished"},
	{"voided", []sayso.EventType{sayso.EventResolved, sayso.EventVoided}, sayso.StateAllowed, ""},
	{"voided while parked", []sayso.EventType{sayso.EventParked, sayso.EventResolved, sayso.EventVoided}, sayso.StateAllowed, ""},
	{"finished", []sayso.EventType{sayso.EventResolved, sayso.EventRedeemed, sayso.EventFinished}, sayso.StateAllowed, ""},
}

// Every event in every state. Most are refused, and what refuses is unchanged.
func TestFold_everyEventInEveryState(t *testing.T) {
	for _, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			l := newLife(storetest.Wish{Holder: "lease-1"}).then(s.by...)
			before, err := sayso.Fold(l.events)
			if err != nil {
				t.Fatal(err)
			}
			if before.State != s.want || before.Life.Len != len(s.by)+1 {
				t.Fatalf("got %s after %d events, want %s after %d", before.State, before.Life.Len, s.want, len(s.by)+1)
			}
			for _, next := range types() {
				e := l.next(next)
				after := before
				err := after.Apply(&e)
				_, word, _ := strings.Cut(string(next), ".")
				may := strings.HasPrefix(string(next), "approval.") && slices.Contains(strings.Fields(s.next), word) ||
					next == sayso.EventAnswerRefused || next == sayso.EventContentErased
				if (err == nil) != may {
					t.Errorf("%q: got %v, want it taken: %v", next, err, may)
				}
				if err != nil && !reflect.DeepEqual(after, before) {
					t.Errorf("%q was refused and changed the request:\n%s", next, cmp.Diff(before, after, cmp.AllowUnexported(sayso.Life{})))
				}
				if err == nil && after.Life.Len != before.Life.Len+1 {
					t.Errorf("%q was taken, and the stream has %d events after %d", next, after.Life.Len, before.Life.Len)
				}
			}
		})
	}
}

func TestFold_beginsWithARequest(t *testing.T) {
	for _, next := range types() {
		if next == sayso.EventRequested {
			continue
		}
		l := &life{Maker: storetest.NewMaker(1), id: "none"}
		if r, err := sayso.Fold([]sayso.Event{l.next(next)}); err == nil || r.Unspent() {
			t.Errorf("a stream that begins with %q is the request %+v", next, r)
		}
	}
	if r, err := sayso.Fold(nil); !errors.Is(err, sayso.ErrNotFound) || !reflect.DeepEqual(r, sayso.Request{}) {
		t.Errorf("no events are %+v and %v", r, err)
	}
}

// A stream with a hole, a stranger or an unreadable event in it is no request:
// what is not known is not allowed.
func TestFold_refusesWhatIsBroken(t *testing.T) {
	for name, change := range map[string]func([]sayso.Event) []sayso.Event{
		"a hole":              func(e []sayso.Event) []sayso.Event { return slices.Delete(e, 1, 2) },
		"an event twice":      func(e []sayso.Event) []sayso.Event { return append(e[:2:2], e[1:]...) },
		"another order":       func(e []sayso.Event) []sayso.Event { e[1], e[2] = e[2], e[1]; return e },
		"no beginning":        func(e []sayso.Event) []sayso.Event { return e[1:] },
		"an unreadable event": func(e []sayso.Event) []sayso.Event { e[3].Payload = sayso.Args(`{"effect":"allow"`); return e },
		"an unknown effect":   func(e []sayso.Event) []sayso.Event { e[3].Payload = sayso.Args(`{"effect":"yes"}`); return e },
		"an effect twice": func(e []sayso.Event) []sayso.Event {
			e[3].Payload = sayso.Args(`{"effect":"deny","effect":"allow"}`)
			return e
		},
		"unreadable content":   func(e []sayso.Event) []sayso.Event { e[0].Content = []byte(`{`); return e },
		"no payload":           func(e []sayso.Event) []sayso.Event { e[3].Payload = nil; return e },
		"an event of no sort":  func(e []sayso.Event) []sayso.Event { e[3].Type = "approval.granted"; return e },
		"an event of a grant":  func(e []sayso.Event) []sayso.Event { e[3].Type = sayso.EventGrantUsed; return e },
		"a decision too many":  func(e []sayso.Event) []sayso.Event { return append(e, renumbered(e[3], 5)) },
		"an answer afterwards": func(e []sayso.Event) []sayso.Event { return append(e, renumbered(e[2], 5)) },
	} {
		events := newLife(storetest.Wish{}).then(sayso.EventParked, sayso.EventAnswered, sayso.EventResolved).events
		if _, err := sayso.Fold(events); err != nil {
			t.Fatal(err)
		}
		r, err := sayso.Fold(change(events))
		if err == nil || !reflect.DeepEqual(r, sayso.Request{}) {
			t.Errorf("%s: got %v and state %q", name, err, r.State)
		}
	}
}

func renumbered(e sayso.Event, pos int) sayso.Event { e.Pos = pos; return e }

// Somebody asked, also where the call says neither who nor where.
func TestFold_namesWhoAsked(t *testing.T) {
	for _, c := range []struct{ caller, host, want string }{
		{"", "", "my-agent"}, {"claude-code/main", "claude-code", "claude-code/main"}, {"worker", "", "worker"}, {"", "mcp", ""},
	} {
		l := newLife(storetest.Wish{})
		e := &l.events[0]
		e.Actor.Principal = "my-agent"
		e.Payload = with(t, e.Payload, "host", c.host)
		var content sayso.Content
		if err := jcs.Unmarshal(e.Content, &content); err != nil {
			t.Fatal(err)
		}
		content.Shown = with(t, content.Shown, "caller", c.caller)
		text, err := jcs.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		e.Content = text
		r, err := sayso.Fold(l.events)
		if err != nil || r.Caller != c.want || r.Host != c.host {
			t.Errorf("caller %q in host %q: %q in %q, %v", c.caller, c.host, r.Caller, r.Host, err)
		}
	}
}

// with is an object with another value of a member.
func with(t *testing.T, object sayso.Args, name, value string) sayso.Args {
	t.Helper()
	members := map[string]any{}
	if err := jcs.Unmarshal(object, &members); err != nil {
		t.Fatal(err)
	}
	members[name] = value
	text, err := jcs.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFold_allowed(t *testing.T) {
	l := newLife(storetest.Wish{Session: "s1", CallID: "toolu_1", Deadline: time.Hour, Holder: "lease-1"})
	l.then(sayso.EventAnswered, sayso.EventResolved)
	r, err := sayso.Fold(l.events)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Decision.Allowed() || r.Decision.Receipt != (sayso.Receipt{Request: l.id, Digest: r.Digest}) {
		t.Errorf("the decision is %+v", r.Decision)
	}
	if len(r.Life.Answers) != 1 || r.Life.Answers[0].By.Principal != storetest.Person.Principal {
		t.Errorf("the answers are %+v", r.Life.Answers)
	}
	asked, err := r.Asked()
	if err != nil || asked.Call.CallID != "toolu_1" {
		t.Errorf("asked was %+v, %v", asked, err)
	}
	want := r.CreatedAt.Add(time.Hour)
	if r.Deadline == nil || !r.Deadline.Equal(want) {
		t.Errorf("the deadline is %v, want %v", r.Deadline, want)
	}
}

// The edited call is what was allowed, and no other.
func TestFold_edited(t *testing.T) {
	l := newLife(storetest.Wish{})
	original, err := sayso.Fold(l.events)
	if err != nil {
		t.Fatal(err)
	}
	edited := sayso.HashOf("edited")
	e := l.next(sayso.EventResolved)
	e.Content = []byte(fmt.Sprintf(`{"shown":{"note":"","digest":%q,"edited":%q},"private":{"args":{"command":"ls"}}}`, original.Digest, edited))
	r := original
	if err := r.Apply(&e); err != nil {
		t.Fatal(err)
	}
	if d := r.Decision; d.Digest != edited || d.Receipt.Digest != edited || string(d.Args) != `{"command":"ls"}` {
		t.Errorf("the decision is about %s with %s, want the edited call", d.Digest, d.Args)
	}
	now := l.Now()
	if err := r.Usable(original.Digest, now, now); !errors.Is(err, sayso.ErrMismatch) {
		t.Errorf("the original call may run: %v", err)
	}
	if err := r.Usable(edited, now, now); err != nil {
		t.Errorf("the edited call may not run: %v", err)
	}
}

func TestRequest_usable(t *testing.T) {
	at := func(l *life, d time.Duration) sayso.Moment {
		m := l.events[len(l.events)-1].At
		return sayso.Moment{Wall: m.Wall.Add(d), Boot: m.Boot, Since: m.Since + d}
	}
	for _, c := range []struct {
		name  string
		by    []sayso.EventType
		after time.Duration
		want  error
	}{
		{"just allowed", []sayso.EventType{sayso.EventResolved}, 0, nil},
		{"ten minutes after the caller had it", []sayso.EventType{sayso.EventResolved}, 10 * time.Minute, nil},
		{"a little more", []sayso.EventType{sayso.EventResolved}, 10*time.Minute + 1, sayso.ErrVoided},
		{"allowed while nobody waited", []sayso.EventType{sayso.EventParked, sayso.EventResolved}, 23 * time.Hour, nil},
		{"a day after the answer", []sayso.EventType{sayso.EventParked, sayso.EventResolved}, 24*time.Hour + 1, sayso.ErrVoided},
		{"taken up late", []sayso.EventType{sayso.EventParked, sayso.EventResolved, sayso.EventTaken}, 10*time.Minute + 1, sayso.ErrVoided},
		{"the clock went back", []sayso.EventType{sayso.EventResolved}, -time.Second, sayso.ErrVoided},
		{"open", nil, 0, sayso.ErrPending},
		{"parked", []sayso.EventType{sayso.EventParked}, 0, sayso.ErrPending},
		{"denied", []sayso.EventType{denied}, 0, sayso.ErrNotAllowed},
		{"expired", []sayso.EventType{sayso.EventExpired}, 0, sayso.ErrExpired},
		{"withdrawn", []sayso.EventType{sayso.EventWithdrawn}, 0, sayso.ErrWithdrawn},
		{"redeemed", []sayso.EventType{sayso.EventResolved, sayso.EventRedeemed}, 0, sayso.ErrSpent},
		{"voided", []sayso.EventType{sayso.EventResolved, sayso.EventVoided}, 0, sayso.ErrVoided},
	} {
		l := newLife(storetest.Wish{}).then(c.by...)
		r, err := sayso.Fold(l.events)
		if err != nil {
			t.Fatal(err)
		}
		digest := sayso.HashOf("allowed")
		if r.Decision != nil {
			r.Decision.Digest = digest
		}
		now := at(l, c.after)
		if err := r.Usable(digest, now, now); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		for _, other := range []sayso.Digest{{}, sayso.HashOf("other")} {
			if err := r.Usable(other, now, now); err == nil {
				t.Errorf("%s: usable for a call with digest %q", c.name, other)
			}
		}
		if r.Decision != nil { // as after erasure
			r.Decision.Digest = sayso.Digest{}
		}
		if err := r.Usable(sayso.Digest{}, now, now); err == nil {
			t.Errorf("%s: usable without any digest", c.name)
		}
	}
}

func TestRequest_met(t *testing.T) {
	original, edited := sayso.HashOf("original"), sayso.HashOf("edited")
	given := func(who string, e sayso.Effect, digest sayso.Digest) sayso.Given {
		return sayso.Given{By: sayso.Actor{Principal: who}, Answer: sayso.Answer{Effect: e}, For: digest}
	}
	allow := func(who string) sayso.Given { return given(who, sayso.Allow, original) }
	for _, c := range []struct {
		name    string
		count   int
		answers []sayso.Given
		effect  sayso.Effect
		ok      bool
	}{
		{"no answer", 1, nil, sayso.Deny, false},
		{"one of one", 1, []sayso.Given{allow("a")}, sayso.Allow, true},
		{"no count is one", 0, []sayso.Given{allow("a")}, sayso.Allow, true},
		{"one of two", 2, []sayso.Given{allow("a")}, sayso.Allow, false},
		{"two of two", 2, []sayso.Given{allow("a"), allow("b")}, sayso.Allow, true},
		{"the same person twice", 2, []sayso.Given{allow("a"), allow("a")}, sayso.Allow, false},
		{"a deny decides", 2, []sayso.Given{allow("a"), given("b", sayso.Deny, original)}, sayso.Deny, true},
		{"an answer of ask denies", 1, []sayso.Given{given("a", sayso.Ask, original)}, sayso.Deny, true},
		{"the zero answer denies", 1, []sayso.Given{{}}, sayso.Deny, true},
		{"an edit drops allows for the original", 2, []sayso.Given{allow("a"), given("b", sayso.Allow, edited)}, sayso.Allow, false},
		{"two for the edit", 2, []sayso.Given{given("a", sayso.Allow, edited), given("b", sayso.Allow, edited)}, sayso.Allow, true},
	} {
		r := sayso.Request{Requirement: sayso.Requirement{Count: c.count}}
		if effect, ok := r.Met(c.answers); effect != c.effect || ok != c.ok {
			t.Errorf("%s: got %v, %v, want %v, %v", c.name, effect, ok, c.effect, c.ok)
		}
	}
}

func TestRequest_at(t *testing.T) {
	l := newLife(storetest.Wish{Deadline: time.Minute})
	r, err := sayso.Fold(l.events)
	if err != nil {
		t.Fatal(err)
	}
	created := l.events[0].At
	at := func(d time.Duration) sayso.Request {
		now := sayso.Moment{Wall: created.Wall.Add(d), Boot: created.Boot, Since: created.Since + d}
		return r.At(now, now)
	}
	if got := at(20 * time.Second); got.State != sayso.StateOpen || *got.RemainingS != 40 {
		t.Errorf("after 20 s: %s with %v s", got.State, *got.RemainingS)
	}
	for _, d := range []time.Duration{time.Minute, time.Hour, -time.Second} {
		if got := at(d); got.State != sayso.StateExpired || got.RemainingS != nil {
			t.Errorf("after %v: %s with %v s, want it expired", d, got.State, got.RemainingS)
		}
	}
	if r.State != sayso.StateOpen {
		t.Errorf("looking at it changed the request: %s", r.State)
	}
}
