package clients_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sayso-dev/sayso"
)

// fence finds the blocks of docs/clients.md: the language, how to run it, and
// the text.
var fence = regexp.MustCompile("(?ms)^```(python|ts)( person| tool)?\n(.*?)^```$")

// example runs a block as a program, as somebody who answers or who asks, and
// returns what it prints.
func (s *site) example(ctx context.Context, who, dir string, command ...string) string {
	s.t.Helper()
	secret := map[string]string{"": agentToken, " person": personToken, " tool": toolToken}[who]
	file := filepath.Join(s.t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "SAYSO_SERVER="+s.socket(), "SAYSO_TOKEN_FILE="+file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}

// answering allows all that is asked until the test ends.
func (s *site) answering(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	person := s.client(personToken)
	go func() { // ends with ctx
		defer close(done)
		for e, err := range person.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
			if err != nil {
				return
			}
			r, err := sayso.RequestIn(&e)
			if err == nil {
				_, err = person.Answer(ctx, r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow})
			}
			if err != nil && ctx.Err() == nil && !errors.Is(err, sayso.ErrDecided) && !errors.Is(err, sayso.ErrNotAllowed) {
				s.t.Error(err)
			}
		}
	}()
	s.t.Cleanup(func() { stop(); <-done })
}

// printed is what the examples of a language print, in their order.
func printed(t *testing.T, language string, run func(s *site, ctx context.Context, text, who string) string, want ...string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range fence.FindAllStringSubmatch(string(page), -1) {
		if b[1] != language {
			continue
		}
		if n == len(want) {
			t.Fatalf("nobody says what this prints:\n%s", b[3])
		}
		s, ctx := newSite(t), patient(t)
		if b[2] == " person" {
			if _, err := s.client(agentToken).Admit(ctx, sayso.Admission{Call: command("bash", "c1"), Patience: 1}); !errors.Is(err, sayso.ErrPending) {
				t.Fatal(err)
			}
		} else {
			s.answering(ctx)
		}
		if got := run(s, ctx, b[3], b[2]); got != want[n] {
			t.Errorf("%s\nprints %q, want %q", b[3], got, want[n])
		}
		n++
	}
	if n != len(want) {
		t.Errorf("the page has %d examples, want %d", n, len(want))
	}
}

func TestDocs_python(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3; type: apt-get install python3")
	}
	t.Parallel()
	printed(t, "python", func(s *site, ctx context.Context, text, who string) string {
		return s.example(ctx, who, filepath.Join("..", "..", "clients", "python"), "python3", "-B", "-c", text)
	},
		"ran make deploy\n",
		"sent to ana@example.org\n",
		"ana allowed make deploy\n",
		"bash {'command': 'make c1'} {'command': 'make c1'}\ndeny by ana\n",
		"{'decisions': [{'type': 'approve'}]}\n",
	)
}
