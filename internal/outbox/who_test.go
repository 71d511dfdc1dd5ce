package outbox_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/outbox"
)

// TestChat_saysWhoAsks: a chat is told which agent waits, and in which session and
// project where arguments may be told too; no more than its detail allows.
func TestChat_saysWhoAsks(t *testing.T) {
	const session = "7d0c1f8e-0d2b-4f7e-9a51-1c6f0a1d2b3c"
	claude := sayso.Call{Tool: "Bash", Host: "claude-code", Caller: "claude-code/reviewer", Session: session, Cwd: "/home/dev/shop", Args: sayso.Args(`{"command":"make deploy"}`)}
	ours := sayso.Call{Tool: "bash", Caller: "nightly/@all", Session: "s1", Cwd: "/", Args: sayso.Args(`{"command":"make deploy"}`)}
	files := sayso.Call{Tool: "write", Server: "files", Host: sayso.HostMCP, DefinitionDigest: "sha256:x", Caller: "mcp/editor", Session: "s2", Args: sayso.Args(`{}`)}
	for name, tt := range map[string]struct {
		call   sayso.Call
		detail outbox.Detail
		opens  string
		ends   string
		silent []string // what it must not be told; nothing that may stand in an id
	}{
		"of none":              {claude, outbox.None, "sayso: a request waits for you (", "sayso: request % was withdrawn", []string{"claude", "bash ", "shop", "session"}},
		"of a host":            {claude, outbox.Title, "sayso: claude-code waits for you: bash (", "sayso: request % (bash) of claude-code was withdrawn", []string{"reviewer", "shop", "session", "deploy"}},
		"of a host, more":      {claude, outbox.Preview, "sayso: claude-code/reviewer (session 7d0c1f8e-0d2b-4f…, in shop) waits for you: bash (", "(bash) of claude-code/reviewer (session 7d0c1f8e-0d2b-4f…, in shop) was withdrawn", nil},
		"without a host":       {ours, outbox.Title, "sayso: program waits for you: bash (", "(bash) of program was withdrawn", []string{"nightly", "session", "deploy"}},
		"without a host, more": {ours, outbox.Preview, "sayso: nightly/＠all (session s1) waits for you: bash (", "of nightly/＠all (session s1) was withdrawn", []string{" in "}},
		"of a server":          {files, outbox.Title, "sayso: mcp waits for you: files › write (", "(files › write) of mcp was withdrawn", []string{"editor", "session"}},
	} {
		t.Run(name, func(t *testing.T) {
			said := make(chan string, 10)
			w := newWorld(t, outbox.Target{Name: "chat", On: []outbox.Kind{outbox.Opened, outbox.Withdrawn}, Detail: tt.detail, Chat: text("x://y")})
			w.chat = chatInto(said, new(atomic.Bool))
			w.begun()
			tt.call.CallID = "c1"
			_, err := w.b.Gate().Admit(t.Context(), sayso.Admission{Call: tt.call, Patience: time.Millisecond})
			id := ticketOf(t, err)
			opened := <-said
			if err := w.b.Gate().Withdraw(t.Context(), id, "changed its mind"); err != nil {
				t.Fatal(err)
			}
			ended := <-said
			if !strings.HasPrefix(opened, tt.opens) || !strings.Contains(ended, strings.Replace(tt.ends, "%", id.Short(), 1)) {
				t.Errorf("said\n%s\n%s\nwant\n%s\n%s", opened, ended, tt.opens, tt.ends)
			}
			for _, s := range tt.silent {
				if strings.Contains(opened+ended, s) {
					t.Errorf("%q is told in\n%s\n%s", s, opened, ended)
				}
			}
		})
	}
}

func ticketOf(t *testing.T, err error) sayso.ID {
	t.Helper()
	var pending *sayso.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("it was not left open: %v", err)
	}
	return pending.Ticket
}
