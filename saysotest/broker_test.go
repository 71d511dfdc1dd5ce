package saysotest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
)

// deploy is what other people's code looks like.
func deploy(t *testing.T, gate sayso.Gate, command string) error {
	call := sayso.Call{Tool: "bash", Args: sayso.Args(fmt.Sprintf(`{"command":%q}`, command)), Session: "s1"}
	d, err := gate.Admit(t.Context(), sayso.Admission{Call: call})
	if err != nil || !d.Allowed() {
		return errors.New(sayso.Told(d, err))
	}
	return gate.Redeem(t.Context(), d.Receipt, call)
}

func TestBroker_inThreeLines(t *testing.T) {
	b := saysotest.New(t)
	b.Approve("bash:make *")
	if err := deploy(t, b.Gate(), "make deploy"); err != nil {
		t.Error(err)
	}
	if err := deploy(t, b.Gate(), "rm -rf /"); err == nil || !strings.Contains(err.Error(), `b.Approve("bash:rm -rf /")`) {
		t.Errorf("a call that no line speaks of: %v", err)
	}
}

func TestBroker_theLastLineCounts(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	b.Deny("bash:git push*", "a person pushes")
	b.Approve("bash:git push --dry-run")
	for command, denied := range map[string]string{
		"ls": "", "git pull": "", "git push": "a person pushes", "git push --force": "a person pushes", "git push --dry-run": "",
	} {
		err := deploy(t, b.Gate(), command)
		if (err != nil) != (denied != "") || err != nil && !strings.Contains(err.Error(), denied) {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestBroker_patterns(t *testing.T) {
	for pattern, want := range map[string]string{
		"*": "bash mcp read", "bash": "bash", "bash:*": "bash", "bash:make": "bash", "bash:m*e": "bash", "bash:*k*": "bash", "b*": "bash",
		"bash:mak": "", "bash:": "", "Bash": "bash", "file-read:/tmp/*": "read", "file-*": "read", "github/*": "mcp", "github/create_issue": "mcp",
		"create_issue": "", "*:make": "bash",
	} {
		b := saysotest.New(t)
		b.Approve(pattern)
		got := ""
		for _, c := range []struct {
			name string
			call sayso.Call
		}{
			{"bash", sayso.Call{Tool: "Bash", Host: "claude-code", Args: sayso.Args(`{"command":"make"}`)}},
			{"mcp", sayso.Call{Tool: "create_issue", Server: "github", Args: sayso.Args(`{}`)}},
			{"read", sayso.Call{Tool: "file-read", Args: sayso.Args(`{"path":"/tmp/x"}`)}},
		} {
			d, err := b.Gate().Admit(t.Context(), sayso.Admission{Call: c.call})
			if err != nil {
				t.Fatal(err)
			}
			if d.Allowed() {
				got += " " + c.name
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s approves %q, want %q", pattern, got, want)
		}
	}
}

func TestBroker_answersByFunction(t *testing.T) {
	b := saysotest.New(t)
	b.Answer(func(r sayso.Request) sayso.Answer {
		if r.Risk == sayso.RiskSafe {
			return sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeSession}
		}
		return sayso.Answer{}
	})
	read := sayso.Call{Tool: "file-read", Args: sayso.Args(`{"path":"a"}`), Session: "s1"}
	for i, want := range []sayso.Source{sayso.SourcePerson, sayso.SourceGrant} {
		d, err := b.Gate().Admit(t.Context(), sayso.Admission{Call: read, Immediate: true})
		if err != nil || !d.Allowed() || d.Source != want {
			t.Errorf("call %d: got %+v, %v", i, d, err)
		}
	}
	if err := deploy(t, b.Gate(), "ls"); err == nil {
		t.Error("the zero answer allows")
	}
	if asked := b.Asked(); len(asked) != 2 || asked[0].Tool != "file-read" || asked[1].Tool != "bash" {
		t.Errorf("asked %+v", asked)
	}
	if n := len(b.Events(sayso.EventGrantUsed)); n != 1 {
		t.Errorf("the grant was used %d times", n)
	}
}

func TestBroker_leavesAndExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := saysotest.New(t, saysotest.DenyAll("no"))
		b.Leave("bash:make *")
		begin := time.Now()
		err := deploy(t, b.Gate(), "make deploy")
		if err == nil || !strings.Contains(err.Error(), "Expired") || time.Since(begin) != time.Hour {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		if err := deploy(t, b.Gate(), "ls"); err == nil || !strings.HasSuffix(err.Error(), ": no") {
			t.Errorf("got %v", err)
		}
	})
}

func TestBroker_options(t *testing.T) {
	if err := deploy(t, saysotest.New(t, saysotest.WithMode(sayso.ModeApproveAll)).Gate(), "ls"); err != nil {
		t.Errorf("approve_all: %v", err)
	}
	if err := deploy(t, saysotest.New(t, saysotest.WithMode(sayso.ModeStrict), saysotest.ApproveAll()).Gate(), "ls"); err == nil {
		t.Error("strict allows")
	}
	b := saysotest.New(t, saysotest.WithPolicy(denies{}), saysotest.ApproveAll())
	if err := deploy(t, b.Gate(), "ls"); err == nil || len(b.Asked()) != 0 {
		t.Errorf("a policy that denies: %v, asked %d times", err, len(b.Asked()))
	}
	if got := len(saysotest.New(t).Events()); got != 0 {
		t.Errorf("an empty log has %d events", got)
	}
}

// denies is a policy that denies all.
type denies struct{}

func (denies) Version() string { return "1" }

func (denies) Judge(context.Context, sayso.Call, sayso.Facts) sayso.Verdict { return sayso.Verdict{} }
