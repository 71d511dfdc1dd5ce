package local_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/server"
)

// The attack: an agent with a token of its own asks the server without its hook,
// and leaves the folders of our state out of the facts, so that a rule that
// allows all writing lets it write the policy, or the log.
func TestGate_guardsItsOwnStateWhateverTheFacts(t *testing.T) {
	p := at(t)
	policyIs(t, p, "version: 1\nrules:\n  - allow: \"file-write\"\n")
	link := filepath.Join(filepath.Dir(p.State), "link")
	if err := os.Symlink(p.State, link); err != nil {
		t.Fatal(err)
	}
	linked := p
	linked.Home, linked.State, linked.Config, linked.Runtime = link, link, link, link
	dir := t.TempDir()
	write := func(path string) (sayso.Call, sayso.Facts) {
		return sayso.Call{Tool: "file-write", Args: sayso.Args(`{"path":"` + path + `"}`), Session: "s", Cwd: dir}, sayso.Facts{
			Workspace: dir, Cwd: dir, Operands: []sayso.PathFact{{Arg: "path", Path: path, Resolved: path, State: sayso.PathFile}},
		}
	}
	for name, paths := range map[string]home.Paths{"home": p, "a home behind a link": linked} {
		rules := local.NewRules(paths)
		c, f := write(filepath.Join(dir, "notes.txt"))
		if v := rules.Judge(t.Context(), c, f); v.Effect != sayso.Allow {
			t.Fatalf("%s: a file elsewhere: %+v", name, v.Match)
		}
		for _, path := range []string{p.Policy(), p.Database()} {
			c, f := write(path)
			if v := rules.Judge(t.Context(), c, f); v.Effect != sayso.Deny {
				t.Errorf("%s: %s to writing %s", name, v.Effect, path)
			}
			if len(f.State) > 0 {
				t.Errorf("%s: the facts of the call were changed", name)
			}
		}
	}
}

// The other methods of what a gate is made of are not an agent's to call.
func TestGate_isNothingButAGate(t *testing.T) {
	p := at(t)
	stop := serve(t, p)
	defer stop()
	want := reflect.TypeFor[sayso.Gate]()
	known := func(name string) bool {
		_, ok := want.MethodByName(name)
		return ok || name == "AdmitGiven" // Admit once more, for servers
	}
	for _, direct := range []bool{false, true} {
		gate, err := open(t, p, local.Options{Direct: direct}).Gate(t.Context(), agent)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.TypeOf(gate)
		for m := range got.Methods() {
			if !known(m.Name) {
				t.Errorf("%s has a method %s", got, m.Name)
			}
		}
	}
}

// A caller whose facts were gathered without the folders that the server's
// policy names gathers them once it is told of them, and from then on at once.
func TestGate_gathersWhatTheServerWants(t *testing.T) {
	p := at(t)
	ws := t.TempDir()
	for _, dir := range []string{".git", "output"} {
		if err := os.Mkdir(filepath.Join(ws, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	policyIs(t, p, "version: 1\nsandbox:\n  paths:\n    output: {root: ./output, mode: rw, write_approval: false}\n")
	stop := serve(t, p)
	defer stop()
	gate, err := open(t, p, local.Options{}).Gate(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	gathered := 0
	for n, want := range []int{2, 3} { // without folders, then for the policy; and then only for it
		c := sayso.Call{Tool: "write_file", Args: sayso.Args(`{"path":"output/x.txt","content":"x"}`), Session: "s", Cwd: ws, CallID: fmt.Sprint("c", n)}
		gather := func(_ context.Context, want sayso.FactsWanted) (sayso.Facts, error) {
			gathered++
			return facts.Gather(t.Context(), c, facts.Options{Workspace: ws, Roots: want.Roots, Policy: want.Policy}), nil
		}
		a := sayso.Admission{Call: c, Gather: gather, Immediate: true, Patience: time.Millisecond}
		if n == 0 {
			a.Facts, _ = gather(t.Context(), sayso.FactsWanted{})
		}
		d, err := gate.Admit(t.Context(), a)
		if err != nil || !d.Allowed() || gathered != want {
			t.Errorf("call %d: %+v, %v, gathered %d times", n, d, err, gathered)
		}
		a.Gather, a.Call.CallID, a.Call.Args = nil, a.Call.CallID+"-again", sayso.Args(`{"path":"output/x.txt","content":"y"}`)
		if _, err := gate.Admit(t.Context(), a); n == 0 && !errors.Is(err, sayso.ErrPending) {
			t.Errorf("without the facts: %v", err)
		}
	}
}

// serve runs a server over an engine on the socket of a home, until stop.
func serve(t *testing.T, p home.Paths) (stop func()) {
	t.Helper()
	e, err := local.OpenEngine(t.Context(), p, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tokens := p.Tokens()
	s, err := server.New(e.Door, &server.Options{Authenticate: func(secret string) (sayso.Actor, error) {
		k, err := tokens.Authenticate(secret, time.Now())
		return k.Actor(""), err
	}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", p.Socket())
	if err != nil {
		t.Fatal(err)
	}
	h := s.HTTP()
	done := make(chan struct{})
	go func() { defer close(done); _ = h.Serve(l) }()
	return func() {
		_ = h.Close()
		<-done
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestGate_outlivesTheServer(t *testing.T) {
	p := at(t)
	stop := serve(t, p)
	l := open(t, p, local.Options{})
	if what, _ := l.Where(); what != "server" {
		t.Fatalf("opened the %s while a server runs", what)
	}
	gate, err := l.Gate(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		d   sayso.Decision
		err error
	}
	decided := make(chan result, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go func() {
		d, err := gate.Admit(ctx, sayso.Admission{Call: call("c1", "make"), Immediate: true})
		decided <- result{d, err}
	}()
	direct := open(t, p, local.Options{Direct: true})
	in, err := direct.Inbox(ctx, person)
	if err != nil {
		t.Fatal(err)
	}
	var asked sayso.Request
	for e, err := range in.Follow(ctx, 0, sayso.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == sayso.EventRequested {
			if asked, err = sayso.RequestIn(&e); err != nil {
				t.Fatal(err)
			}
			stop()
		}
		if e.Type == sayso.EventTaken { // by us, from the database
			break
		}
	}
	if _, err := in.Answer(ctx, asked.ID, sayso.Answer{Digest: asked.Digest, Content: asked.Content, Effect: sayso.Allow}); err != nil {
		t.Fatal(err)
	}
	got := <-decided
	if got.err != nil || !got.d.Allowed() || got.d.Request != asked.ID {
		t.Errorf("decision %+v, %v", got.d, got.err)
	}
	if what, _ := l.Where(); what != "database" {
		t.Errorf("still at the %s", what)
	}
}
