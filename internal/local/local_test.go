package local_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/server"
)

func at(t *testing.T) home.Paths {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	p := home.Paths{Home: dir, State: dir, Config: dir, Runtime: dir}
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	return p
}

func policyIs(t *testing.T, p home.Paths, text string) {
	t.Helper()
	if err := home.Write(p.Policy(), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

var (
	agent  = home.OwnActor(sayso.PrincipalAgent, "test", "embedded")
	person = home.OwnActor(sayso.PrincipalPerson, home.Person(), "terminal")
)

func call(id, command string) sayso.Call {
	return sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"` + command + `"}`), Session: "s", Cwd: "/tmp", CallID: id}
}

func open(t *testing.T, p home.Paths, o local.Options) *local.Local {
	t.Helper()
	l, err := local.Open(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestRules_areThoseInTheFileNow(t *testing.T) {
	p := at(t)
	policyIs(t, p, "version: 1\nrules:\n  - allow: \"bash:make\"\n")
	l := open(t, p, local.Options{})
	gate, err := l.Gate(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	admit := func(id string) (sayso.Decision, error) {
		return gate.Admit(t.Context(), sayso.Admission{Call: call(id, "make"), Facts: sayso.Facts{Workspace: "/tmp", Cwd: "/tmp"}, Patience: time.Millisecond, Immediate: true})
	}
	if d, err := admit("c1"); err != nil || !d.Allowed() {
		t.Errorf("allowed by the file: %+v %v", d, err)
	}
	policyIs(t, p, "version: 1\nrules:\n  - deny: \"bash:make\"\n")
	if d, err := admit("c2"); err != nil || d.Allowed() || d.Source != sayso.SourcePolicy {
		t.Errorf("denied by the file: %+v %v", d, err)
	}
	policyIs(t, p, "version: 1\nrulez: []\n")
	if d, err := admit("c3"); !errors.Is(err, sayso.ErrUnavailable) || d.Allowed() {
		t.Errorf("a file that does not load: %+v %v", d, err)
	}
	policyIs(t, p, "version: 1\nrules:\n  - allow: \"bash:make\"\n")
	if err := os.Chmod(p.Policy(), 0o622); err != nil {
		t.Fatal(err)
	}
	if d, err := admit("c4"); !errors.Is(err, sayso.ErrUnavailable) || d.Allowed() {
		t.Errorf("a file that others may write: %+v %v", d, err)
	}
	if err := os.Remove(p.Policy()); err != nil {
		t.Fatal(err)
	}
	if d, err := admit("c5"); !errors.Is(err, sayso.ErrPending) || d.Allowed() {
		t.Errorf("no file: %+v %v", d, err)
	}
}

func TestRules_denyEvenIfNobodyLooks(t *testing.T) {
	p := at(t)
	policyIs(t, p, "nonsense")
	rules := local.NewRules(p)
	if v := rules.Judge(t.Context(), call("", "ls"), sayso.Facts{}); v.Effect != sayso.Deny {
		t.Errorf("a policy that does not load says %s", v.Effect)
	}
	if rules.Err() == nil || rules.Mode() != sayso.ModeStrict {
		t.Errorf("%v, mode %s", rules.Err(), rules.Mode())
	}
}

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

func TestEngine_hidesWhatThePolicySaysNow(t *testing.T) {
	p := at(t)
	e, err := local.OpenEngine(t.Context(), p, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	first, err := e.Broker()
	if err != nil {
		t.Fatal(err)
	}
	policyIs(t, p, "version: 1\nredaction:\n  names: [badge]\n")
	if err := e.Policy.Err(); err != nil {
		t.Fatal(err)
	}
	if second, err := e.Broker(); err != nil || second == first {
		t.Errorf("the broker hides what it hid before, %v", err)
	}
}

// A mode that the file names is in force from then on, and no longer than that,
// also for a gate that was made before.
func TestEngine_modeIsThatOfThePolicyNow(t *testing.T) {
	const plain, strict, broken = "version: 1\n", "version: 1\nmode: strict\n", "version: 1\nmode: nonsense\n"
	asks := func(t *testing.T, gate sayso.Gate, command string, want bool) {
		t.Helper()
		d, err := gate.Admit(t.Context(), sayso.Admission{Call: call("", command), Facts: sayso.Facts{Workspace: "/tmp", Cwd: "/tmp"}, Patience: time.Millisecond, Immediate: true})
		if asked := errors.Is(err, sayso.ErrPending); asked != want || d.Allowed() || !asked && d.Source != sayso.SourceMode {
			t.Errorf("asked %v, want %v: %+v %v", asked, want, d, err)
		}
	}
	for _, c := range []struct {
		name          string
		begun         sayso.Mode
		before, after string
		asks          bool
	}{
		{"strict is added", "", plain, strict, false},
		{"strict is taken away", "", strict, plain, true},
		{"a broken policy is repaired", "", broken, plain, true},
		{"the program is strict", sayso.ModeStrict, strict, plain, false},
		{"the program is interactive", sayso.ModeInteractive, plain, strict, false},
		{"no mode can approve all", sayso.ModeApproveAll, strict, plain, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := at(t)
			policyIs(t, p, c.before)
			e, err := local.OpenEngine(t.Context(), p, local.Options{Mode: c.begun})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			gate := e.Gate(agent)
			if c.before != broken {
				asks(t, gate, "make one", c.before == plain && c.begun != sayso.ModeStrict)
			}
			policyIs(t, p, c.after)
			asks(t, gate, "make two", c.asks)
			asks(t, e.Gate(agent), "make three", c.asks)
		})
	}
}

// The other methods of what a gate is made of are not an agent's to call.
func TestGate_isNothingButAGate(t *testing.T) {
	p := at(t)
	stop := serve(t, p)
	defer stop()
	want := reflect.TypeFor[sayso.Gate]().NumMethod()
	for _, direct := range []bool{false, true} {
		gate, err := open(t, p, local.Options{Direct: direct}).Gate(t.Context(), agent)
		if err != nil {
			t.Fatal(err)
		}
		if got := reflect.TypeOf(gate); got.NumMethod() != want {
			t.Errorf("%s has %d methods, a gate has %d", got, got.NumMethod(), want)
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

func TestOpen_takesNoSocketFromAnOpenFolder(t *testing.T) {
	p := at(t)
	stop := serve(t, p)
	defer stop()
	if !local.Answers(t.Context(), p.Socket()) {
		t.Fatal("the server does not answer")
	}
	if err := os.Chmod(p.Runtime, 0o777); err != nil {
		t.Fatal(err)
	}
	if local.Answers(t.Context(), p.Socket()) {
		t.Error("a socket that anybody could have put there is trusted")
	}
	if err := os.Chmod(p.Runtime, 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestInbox_actsWithTheTokenThatIsGiven(t *testing.T) {
	p := at(t)
	secret, _, err := p.Tokens().Create(time.Now(), home.Token{Name: "viewer", Kind: sayso.PrincipalViewer})
	if err != nil {
		t.Fatal(err)
	}
	file := p.TokenFile("viewer")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := home.Write(file, []byte(secret)); err != nil {
		t.Fatal(err)
	}
	l := open(t, p, local.Options{TokenFile: file})
	in, err := l.Inbox(t.Context(), person)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.SetMode(t.Context(), "", sayso.ModeStrict, 0); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("a viewer set the mode: %v", err)
	}
	if _, err := p.Tokens().Revoke("viewer"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Inbox(t.Context(), person); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("a token that was revoked: %v", err)
	}
}
