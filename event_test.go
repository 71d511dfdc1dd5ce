package sayso_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/storetest"
)

// The types that a stream has at most one of.
func TestEventType_once(t *testing.T) {
	terminal := map[sayso.EventType]bool{sayso.EventResolved: true, sayso.EventExpired: true, sayso.EventWithdrawn: true}
	spends := map[sayso.EventType]bool{sayso.EventRedeemed: true, sayso.EventVoided: true}
	for _, kind := range types() {
		if kind.Terminal() != terminal[kind] || kind.Spends() != spends[kind] {
			t.Errorf("%q is terminal: %v, spends: %v", kind, kind.Terminal(), kind.Spends())
		}
	}
	// What decides a request is what its fold takes for a decision.
	for _, kind := range types() {
		l := newLife(storetest.Wish{}).then()
		r, err := sayso.Fold(l.events)
		if err != nil {
			t.Fatal(err)
		}
		if e := l.next(kind); r.Apply(&e) == nil && r.State.Open() == kind.Terminal() {
			t.Errorf("after %q the request is %s", kind, r.State)
		}
	}
}

func TestStreams(t *testing.T) {
	id := sayso.NewID(noon, [16]byte{1})
	for stream, want := range map[string]sayso.ID{
		sayso.RequestStream(id): id, sayso.GrantStream(id): id, sayso.SessionStream("a/b"): "a/b", sayso.BrokerStream: "",
	} {
		if got := sayso.StreamID(stream); got != want {
			t.Errorf("stream %q is of %q, want %q", stream, got, want)
		}
	}
}

// One name a minute and session, and never that of a call.
func TestLimitKey(t *testing.T) {
	key := sayso.LimitKey("s1", noon)
	for _, other := range []string{
		sayso.LimitKey("s1", noon.Add(time.Minute)), sayso.LimitKey("s1", noon.Add(-time.Nanosecond)),
		sayso.LimitKey("s2", noon), sayso.CallKey("limit", "s1", "1"), sayso.CallKey("agent", "s1", ""),
	} {
		if other == key {
			t.Errorf("%q is taken twice", key)
		}
	}
	if last := sayso.LimitKey("s1", noon.Add(time.Minute-time.Nanosecond)); last != key {
		t.Errorf("the end of the minute is %q, not %q", last, key)
	}
	if zone := sayso.LimitKey("s1", noon.In(time.FixedZone("", 3600))); zone != key {
		t.Errorf("in another zone it is %q, not %q", zone, key)
	}
	// Released logs have taken it, so it must stay as it is.
	want := sayso.CallKey("limit/"+fmt.Sprint(noon.Unix()/60), "s1", "")
	if key != want {
		t.Errorf("got %q, want %q", key, want)
	}
}

func TestResolved_overLimit(t *testing.T) {
	over := sayso.Resolved{Source: sayso.SourcePolicy, Cause: sayso.CauseBuiltin, Rule: sayso.RuleLimit}
	if !over.OverLimit() {
		t.Error("it is not over the limit")
	}
	for name, change := range map[string]func(*sayso.Resolved){
		"a person":     func(p *sayso.Resolved) { p.Source = sayso.SourcePerson },
		"a rule":       func(p *sayso.Resolved) { p.Cause = sayso.CauseRule },
		"another rule": func(p *sayso.Resolved) { p.Rule = "locked" },
	} {
		p := over
		if change(&p); p.OverLimit() {
			t.Errorf("%s: it is over the limit", name)
		}
	}
}

func TestEventQuery_matches(t *testing.T) {
	e := &sayso.Event{SessionID: "s1", RequestID: "r1", Type: sayso.EventParked}
	for _, c := range []struct {
		q    sayso.EventQuery
		want bool
	}{
		{sayso.EventQuery{}, true},
		{sayso.EventQuery{Session: "s1", Request: "r1", Types: []sayso.EventType{sayso.EventTaken, sayso.EventParked}}, true},
		{sayso.EventQuery{Session: "s2"}, false},
		{sayso.EventQuery{Request: "r2"}, false},
		{sayso.EventQuery{Types: []sayso.EventType{sayso.EventTaken}}, false},
		{sayso.EventQuery{Session: "s1", Types: []sayso.EventType{""}}, false},
	} {
		if got := c.q.Matches(e); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.q, got, c.want)
		}
	}
}

// The errors that carry a fact are found by their sentinel, and through others.
func TestErrors(t *testing.T) {
	id := sayso.NewID(noon, [16]byte{0xab, 0xcd, 0xef})
	by := []sayso.Actor{{Principal: "ada"}, {Principal: "bob"}}
	for _, c := range []struct {
		err  error
		is   error
		text string
	}{
		{&sayso.PendingError{Ticket: id}, sayso.ErrPending, "not decided yet: ticket " + id.Short()},
		{&sayso.DecidedError{Decision: sayso.Decision{State: sayso.StateDenied, By: by, At: noon}}, sayso.ErrDecided,
			"already decided: denied by ada, bob at 2026-11-20T12:00:00Z"},
		{&sayso.DecidedError{Decision: sayso.Decision{State: sayso.StateAllowed, Source: sayso.SourceGrant, At: noon}}, sayso.ErrDecided,
			"already decided: allowed by grant at 2026-11-20T12:00:00Z"},
	} {
		if !errors.Is(fmt.Errorf("answering: %w", c.err), c.is) || c.err.Error() != c.text {
			t.Errorf("got %q, which is %v: %v", c.err, c.is, errors.Is(c.err, c.is))
		}
	}
}

// The list of types is the catalogue: all that are declared, each once, and no
// other.
func TestEventTypes(t *testing.T) {
	declared := declaredTypes(t)
	list := sayso.EventTypes()
	if len(list) != len(declared) {
		t.Errorf("%d types are listed and %d declared", len(list), len(declared))
	}
	for _, kind := range list {
		if !declared[string(kind)] || !kind.Known() {
			t.Errorf("%q is declared: %v, known: %v", kind, declared[string(kind)], kind.Known())
		}
		delete(declared, string(kind))
	}
	if len(declared) > 0 {
		t.Errorf("not listed: %v", declared)
	}
	for _, none := range []sayso.EventType{"", "approval.invented", "Approval.requested", "approval.requested "} {
		if none.Known() {
			t.Errorf("%q is known", none)
		}
	}
	list[0] = "changed"
	if sayso.EventTypes()[0] != sayso.EventRequested {
		t.Error("whoever gets the list can change it")
	}
}

// declaredTypes are the types that event.go declares as constants.
func declaredTypes(t *testing.T) map[string]bool {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "EventType" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found[text] = true
		}
		return true
	})
	if len(found) < 20 {
		t.Fatalf("only %d types were found in event.go", len(found))
	}
	return found
}

// docs/events.md has a row for each type, and none for another.
func TestEventTypes_documented(t *testing.T) {
	page, err := os.ReadFile("docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	_, catalogue, _ := strings.Cut(string(page), "## The types\n")
	catalogue, _, _ = strings.Cut(catalogue, "\n## ")
	var rows []sayso.EventType
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z]+\\.[a-z]+`(?:, `[a-z.]+`)*) \\|").FindAllStringSubmatch(catalogue, -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			rows = append(rows, sayso.EventType(strings.Trim(name, "`")))
		}
	}
	if want := sayso.EventTypes(); !slices.Equal(rows, want) {
		t.Errorf("the page has %v, there are %v", rows, want)
	}
}
