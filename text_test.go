package sayso_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

var update = flag.Bool("update", false, "write the golden files and the results of the vectors anew")

// golden compares got with a file, or writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with go test -run %s -update", err, t.Name())
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs (-want +got):\n%s", file, cmp.Diff(string(want), string(got)))
	}
}

// tellings are all ways of not getting a yes, and what the agent is told.
func tellings() []struct{ when, text string } {
	id := sayso.NewID(noon, [16]byte{0xab, 0xcd, 0xef, 1, 2, 3})
	by := []sayso.Actor{{Principal: "ada", Kind: sayso.PrincipalPerson}}
	denied := func(d sayso.Decision) sayso.Decision {
		d.Request, d.State = id, sayso.StateDenied
		return d
	}
	about := sayso.Decision{Request: id}
	type row = struct{ when, text string }
	rows := []row{}
	tell := func(when string, d sayso.Decision, err error) { rows = append(rows, row{when, sayso.Told(d, err)}) }
	tell("policy denies", denied(sayso.Decision{Source: sayso.SourcePolicy, Rule: "git push --force", File: "policy.yaml", Line: 12, Reason: "a forced push needs a colleague"}), nil)
	tell("policy denies, built in", denied(sayso.Decision{Source: sayso.SourcePolicy, Reason: "sayso's own state"}), nil)
	tell("policy denies, nothing known", sayso.Decision{}, nil)
	tell("a person denies", denied(sayso.Decision{Source: sayso.SourcePerson, By: by}), nil)
	tell("a person denies, with a note", denied(sayso.Decision{Source: sayso.SourcePerson, By: by, Note: "use the staging branch"}), nil)
	tell("the mode denies", denied(sayso.Decision{Source: sayso.SourceMode, Mode: sayso.ModeStrict}), nil)
	tell("the deadline denies", denied(sayso.Decision{Source: sayso.SourceDeadline}), nil)
	tell("expired", about, sayso.ErrExpired)
	tell("withdrawn", about, sayso.ErrWithdrawn)
	tell("not decided yet", sayso.Decision{}, &sayso.PendingError{Ticket: id, Deadline: noon.Add(time.Hour)})
	tell("not decided yet, asked too often", sayso.Decision{}, &sayso.PendingError{Ticket: id, Stop: true})
	tell("too many open", sayso.Decision{}, fmt.Errorf("session s1: %w", sayso.ErrTooMany))
	tell("already used", about, sayso.ErrSpent)
	tell("void", about, sayso.ErrVoided)
	tell("call id used for another call", sayso.Decision{}, sayso.ErrConflict)
	tell("not readable", sayso.Decision{}, fmt.Errorf("%w: call: duplicate key at /args", sayso.ErrInvalid))
	tell("could not find out", sayso.Decision{}, fmt.Errorf("%w: the disk is full", sayso.ErrUnavailable))
	tell("could not find out, the policy is broken", sayso.Decision{}, fmt.Errorf("%w: the policy does not load: %w", sayso.ErrUnavailable,
		fmt.Errorf("%w: policy.yaml:3:5: \"alow\" is no key of a rule; did you mean allow?", sayso.ErrInvalid)))
	tell("could not find out, any other error", sayso.Decision{}, errors.New("surprise\nwith details"))
	return rows
}

func TestTold(t *testing.T) {
	var out bytes.Buffer
	seen := map[string]string{}
	for _, r := range tellings() {
		if r.text == "" {
			t.Errorf("%s: the agent is told nothing, as if the call might run", r.when)
		}
		if strings.ContainsAny(r.text, "\n\r\x1b") {
			t.Errorf("%s: the text has more than one line: %q", r.when, r.text)
		}
		if other, taken := seen[r.text]; taken {
			t.Errorf("%s and %s have one text: %s", r.when, other, r.text)
		}
		seen[r.text] = r.when
		fmt.Fprintf(&out, "%s\n\t%s\n", r.when, r.text)
	}
	golden(t, filepath.Join("testdata", "texts.golden"), out.Bytes())
}

// docs/texts.md holds the same table.
func TestTold_documented(t *testing.T) {
	page := filepath.Join("docs", "texts.md")
	const begin, end = "<!-- begin texts -->\n", "<!-- end texts -->\n"
	var table strings.Builder
	table.WriteString("| when | what the agent is told |\n|---|---|\n")
	for _, r := range tellings() {
		fmt.Fprintf(&table, "| %s | %s |\n", r.when, strings.ReplaceAll(r.text, "|", `\|`))
	}
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(old), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s lacks the markers %q and %q", page, begin, end)
	}
	golden(t, page, []byte(head+begin+table.String()+end+tail))
}

// Only an allow that stands is told nothing: not one with an error, nor one
// whose state is another.
func TestTold_nothingOnlyForAllowed(t *testing.T) {
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}
	if text := sayso.Told(yes, nil); text != "" {
		t.Errorf("an allowed call is told %q", text)
	}
	for _, state := range []sayso.State{"", sayso.StateOpen, sayso.StateParked, sayso.StateDenied, sayso.StateExpired, sayso.StateWithdrawn} {
		d := yes
		if d.State = state; d.Allowed() || sayso.Told(d, nil) == "" {
			t.Errorf("an allow in state %q may run", state)
		}
	}
	for _, effect := range []sayso.Effect{deny, ask, 3} {
		d := yes
		if d.Effect = effect; d.Allowed() || sayso.Told(d, nil) == "" {
			t.Errorf("a decision of %d may run", effect)
		}
	}
	if sayso.Told(yes, errors.New("any")) == "" || sayso.Told(sayso.Decision{}, nil) == "" {
		t.Error("an error, or the zero decision, may run")
	}
}
