package local_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
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
	if d, err := admit("c3"); err != nil || d.Allowed() || d.Source != sayso.SourcePolicy {
		t.Errorf("a file that does not load: %+v %v, and the old policy denies", d, err)
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

// Whoever sweeps records which policy is in force; a call does not.
func TestEngine_recordsThePolicy(t *testing.T) {
	p := at(t)
	policyIs(t, p, "version: 1\nrules:\n  - allow: \"bash:make\"\n")
	l := open(t, p, local.Options{})
	e, _ := l.Engine()
	loads := func() (versions []string) {
		events, err := e.Log.Stream(t.Context(), sayso.BrokerStream, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			versions = append(versions, string(events[i].Payload))
		}
		return versions
	}
	if d, err := e.Gate(agent).Admit(t.Context(), sayso.Admission{
		Call: call("c1", "make"), Facts: sayso.Facts{Workspace: "/tmp", Cwd: "/tmp"}, Immediate: true,
	}); err != nil || !d.Allowed() || loads() != nil {
		t.Errorf("%+v, %v; the log tells of %s", d, err, loads())
	}
	want := []string{`{"policy":"` + e.Policy.Version() + `","files":["` + p.Policy() + `"]}`}
	for _, text := range []string{"", "version: 1\nrulez: []\n"} { // one that does not load is not told of
		if text != "" {
			policyIs(t, p, text)
		}
		if err := e.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, loads()); diff != "" {
			t.Errorf("the log tells of (-want +got):\n%s", diff)
		}
	}
	if err := os.Remove(p.Policy()); err != nil {
		t.Fatal(err)
	}
	if err := e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := loads(); len(got) != 2 || got[1] != `{"policy":"`+e.Policy.Version()+`","files":[]}` {
		t.Errorf("without a file the log tells of %s", got)
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

// What the file hides is hidden from then on, also behind a gate that was made
// before, and for as long as a broken file is in its place. However often it
// changes, there is one broker, and one lease.
func TestEngine_hidesWhatThePolicySaysNow(t *testing.T) {
	p := at(t)
	e, err := local.OpenEngine(t.Context(), p, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	gate, inbox := e.Gate(agent), e.Inbox(person)
	hides := func(n int, name string) bool {
		t.Helper()
		c := sayso.Call{Tool: "web-post", Args: sayso.Args(fmt.Sprintf(`{"badge":"b-7041","plate":"p-7042","n":%d}`, n)), Session: "s"}
		_, err := gate.Admit(t.Context(), sayso.Admission{Call: c, Patience: time.Millisecond})
		var pending *sayso.PendingError
		if !errors.As(err, &pending) {
			t.Fatalf("got %v, want that it is pending", err)
		}
		r, err := inbox.Request(t.Context(), string(pending.Ticket))
		if err != nil {
			t.Fatal(err)
		}
		return !strings.Contains(string(r.Preview), map[string]string{"badge": "b-7041", "plate": "p-7042"}[name])
	}
	for n, c := range []struct {
		names        string
		badge, plate bool
	}{{"", false, false}, {"badge", true, false}, {"plate", false, true}, {"badge, plate", true, true}} {
		policyIs(t, p, "version: 1\nredaction:\n  names: ["+c.names+"]\n")
		if badge, plate := hides(2*n, "badge"), hides(2*n+1, "plate"); badge != c.badge || plate != c.plate {
			t.Errorf("%q: badge is hidden: %v, plate: %v", c.names, badge, plate)
		}
	}
	policyIs(t, p, "version: 1\nnonsense: 1\n")
	if got := e.Policy.Redaction(); len(got.Names) != 2 || e.Policy.Stale() == nil {
		t.Errorf("while the file is broken %q is hidden", got.Names)
	}
	leases, err := filepath.Glob(filepath.Join(filepath.Dir(p.Database()), "leases", "*"))
	if err != nil || len(leases) > 1 {
		t.Errorf("%d leases, %v", len(leases), err)
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

// TestDE5_theOldPolicyStands: a file with a mistake leaves the policy standing
// that was in force, and says so.
func TestDE5_theOldPolicyStands(t *testing.T) {
	p := at(t)
	policyIs(t, p, "version: 1\nrules:\n  - deny: web-search\n")
	rules := local.NewRules(p)
	var told []string
	rules.Tell(func(err error) { told = append(told, fmt.Sprint(err)) })
	search := sayso.Call{Tool: "web-search", Args: sayso.Args(`{"query":"x"}`)}
	effect := func() sayso.Effect { return rules.Judge(t.Context(), search, sayso.Facts{}).Effect }
	if e := effect(); e != sayso.Deny || rules.Stale() != nil {
		t.Fatalf("before: %s, %v", e, rules.Stale())
	}
	version := rules.Version()
	policyIs(t, p, "version: 1\nrules:\n  - dney: web-search\n")
	if e := effect(); e != sayso.Deny || rules.Version() != version || rules.Err() != nil {
		t.Errorf("with a mistake: %s, version %s, %v", e, rules.Version(), rules.Err())
	}
	if err := rules.Stale(); err == nil || !strings.Contains(err.Error(), "policy.yaml:3:5") {
		t.Errorf("stale: %v", err)
	}
	policyIs(t, p, "version: 1\nrules:\n  - ask: web-search\n")
	if e := effect(); e != sayso.Ask || rules.Stale() != nil {
		t.Errorf("mended: %s, %v", e, rules.Stale())
	}
	if len(told) != 2 || !strings.Contains(told[0], "dney") || told[1] != "<nil>" {
		t.Errorf("told %q", told)
	}
}

// What is set holds before one's own policy, and never before what the organisation
// says, nor before how the program was started.
func TestEngine_modeThatWasSet(t *testing.T) {
	for _, c := range []struct {
		name    string
		begun   sayso.Mode
		policy  string
		set     sayso.Mode // before the policy
		refused bool
		want    sayso.Mode
	}{
		{"one's own policy", "", "mode: strict\n", sayso.ModeApproveAll, false, sayso.ModeApproveAll},
		{"a policy that forbids it", "", "approve_all: false\n", sayso.ModeApproveAll, true, sayso.ModeInteractive},
		{"one's own strict policy, which forbids it", "", "mode: strict\napprove_all: false\n", sayso.ModeApproveAll, true, sayso.ModeStrict},
		{"a policy that forbids another", "", "approve_all: false\n", sayso.ModeStrict, false, sayso.ModeStrict},
		{"the program is strict", sayso.ModeStrict, "", sayso.ModeApproveAll, true, sayso.ModeStrict},
		{"the program is strict, and people are asked", sayso.ModeStrict, "", sayso.ModeInteractive, true, sayso.ModeStrict},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := at(t)
			for _, begun := range []sayso.Mode{"", c.begun} { // set before, and again
				policyIs(t, p, "version: 1\n")
				e, err := local.OpenEngine(t.Context(), p, local.Options{Mode: begun})
				if err != nil {
					t.Fatal(err)
				}
				in := e.Inbox(sayso.Actor{Principal: "ada", Kind: sayso.PrincipalAdmin, Channel: "terminal"})
				if begun == "" {
					if err := in.SetMode(t.Context(), "", c.set, time.Hour); err != nil {
						t.Fatal(err)
					}
				}
				policyIs(t, p, "version: 1\n"+c.policy)
				if begun == c.begun {
					if m, err := in.Mode(t.Context(), ""); err != nil || m.Mode != c.want {
						t.Errorf("%s is in force, want %s: %v", m.Mode, c.want, err)
					}
					if err := in.SetMode(t.Context(), "", c.set, time.Hour); errors.Is(err, sayso.ErrNotAllowed) != c.refused {
						t.Errorf("setting it: %v", err)
					}
					if err := in.SetMode(t.Context(), "s", c.set, time.Hour); errors.Is(err, sayso.ErrNotAllowed) != c.refused {
						t.Errorf("setting it for a session: %v", err)
					}
				}
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestEngine_modeLimitOfABrokenPolicy(t *testing.T) {
	p := at(t)
	policyIs(t, p, "version: 1\n")
	rules := local.NewRules(p)
	if m := rules.ModeLimit(); m != "" {
		t.Errorf("modes up to %q", m)
	}
	policyIs(t, p, "version: 1\nmode: nonsense\n")
	if m := local.NewRules(p).ModeLimit(); m != sayso.ModeStrict {
		t.Errorf("modes up to %q where no policy loads", m)
	}
}
