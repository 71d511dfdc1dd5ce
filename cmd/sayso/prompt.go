package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sayso-dev/sayso"
)

func (a *app) promptCommand() *cobra.Command {
	return &cobra.Command{
		Use: "prompt [ID]", GroupID: "answer", Short: "asks about one request, the oldest if none is named", Args: cobra.MaximumNArgs(1),
		Long: `Shows one request and takes one key: y allows it once, s remembers it for the
session, n denies it, e changes the arguments, v shows everything. Escape denies.
Nothing happens by default, and what was typed before is no answer.`,
		RunE: func(c *cobra.Command, args []string) error { return a.prompt(c.Context(), strings.Join(args, "")) },
	}
}

func (a *app) prompt(ctx context.Context, typed string) error {
	if err := a.refuseAgentAtAll(ctx, typed); err != nil {
		return err
	}
	if _, ok := a.terminal(); !ok {
		return hint(errNoTerminal, "sayso inbox, sayso approve ID, sayso deny ID")
	}
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		if typed == "" {
			oldest, err := oldest(ctx, in)
			if err != nil {
				return err
			}
			if typed = string(oldest); typed == "" {
				a.note("nothing waits")
				return nil
			}
		}
		s, err := look(ctx, in, typed)
		if err != nil {
			return err
		}
		_, err = a.promptFor(ctx, in, s)
		return err
	})
}

// refuseAgentAtAll refuses under an agent, with or without an id.
func (a *app) refuseAgentAtAll(ctx context.Context, typed string) error {
	if typed != "" {
		return a.refuseAgent(ctx, typed, sayso.Allow)
	}
	return a.noAgent("answering")
}

func oldest(ctx context.Context, in sayso.Inbox) (sayso.ID, error) {
	list, err := in.Requests(ctx, sayso.RowQuery{States: []sayso.State{sayso.StateOpen, sayso.StateParked}, Oldest: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0].ID, nil
}

// promptLines is how much of a call the prompt shows before v is pressed.
const promptLines = 40

// promptFor asks about one request and records the answer. answered is false
// if the person left without one.
func (a *app) promptFor(ctx context.Context, in sayso.Inbox, s shownRequest) (answered bool, err error) {
	seen := a.draw(a.err, s, promptLines)
	for {
		key, err := a.key(ctx, choices(s.Request, seen))
		if err != nil {
			return false, err
		}
		answer := sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeOnce}
		switch {
		case key == "v":
			seen = a.draw(a.err, s, 0)
			continue
		case key == "n" || key == "esc":
			answer = sayso.Answer{Effect: sayso.Deny, Note: a.why(key)}
		case !seen:
			continue // not before all of it was on the screen
		case key == "s":
			answer.Scope = sayso.ScopeSession
		case key == "e" && s.Request.CanEdit:
			if answer.Args, err = a.edited(s, inEditor); err != nil {
				a.exit(err)
				continue
			}
		case key != "y":
			continue
		}
		if ok, err := a.surely(s.Request, answer); err != nil || !ok {
			return false, err
		}
		return true, a.record(ctx, in, s.Request, answer)
	}
}

// choices is the line of keys.
func choices(r sayso.Request, seen bool) string {
	if !seen {
		return "[n] deny  [v] view all of it first"
	}
	line := "[y] allow  [n] deny  [s] session  [v] view"
	if r.CanEdit {
		line += "  [e] edit"
	}
	return line
}

// why asks what to tell the agent.
func (a *app) why(key string) string {
	if key == "esc" {
		return ""
	}
	note, err := a.ask("what to tell the agent (enter for nothing):")
	if err != nil {
		return "" // the denial stands without a note
	}
	return note
}

// surely asks again before something dangerous is allowed.
func (a *app) surely(r sayso.Request, answer sayso.Answer) (bool, error) {
	if answer.Effect != sayso.Allow || len(r.Danger) == 0 {
		return true, nil
	}
	return a.slowly(r, "allow")
}

// errLeft says that the person left the prompt.
var errLeft = errors.New("left without an answer; the request still waits")

// key reads one key at the terminal: a letter in lower case, or esc. Keys that
// were typed before the question are thrown away.
func (a *app) key(ctx context.Context, question string) (string, error) {
	f, ok := a.terminal()
	if !ok {
		return "", errNoTerminal
	}
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	flush(f)
	fmt.Fprintf(a.err, "%s ", question)
	key, err := readKey(ctx, f)
	err = errors.Join(err, term.Restore(int(f.Fd()), state))
	fmt.Fprintf(a.err, "%s\n", printable(key))
	return key, err
}

// readKey waits for a key until ctx ends. It looks again and again, since a read
// from a terminal cannot be called off.
func readKey(ctx context.Context, f *os.File) (string, error) {
	for !ready(f) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	buf := make([]byte, 32)
	n, err := f.Read(buf)
	switch {
	case err != nil || n == 0:
		return "", errLeft
	case n == 1 && buf[0] == 0x1b:
		return "esc", nil
	case n > 1:
		return "", nil // a key that sends several bytes, or several keys at once: none of them is an answer
	case buf[0] == 0x03 || buf[0] == 0x04: // Ctrl-C, Ctrl-D
		return "", errLeft
	}
	return strings.ToLower(string(buf[:1])), nil
}
