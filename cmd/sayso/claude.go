package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	driver "github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/local"
)

func (a *app) claudeCommand() *cobra.Command {
	d := driven{}
	c := &cobra.Command{
		Use: "claude [PROMPT] [-- ARGS...]", GroupID: "gate", Short: "drives Claude Code: every call is put to the gate", Args: cobra.ArbitraryArgs,
		Long: `Starts Claude Code without its screen, says PROMPT to it, and prints what it says.
Every call of a tool is put to the gate, whatever the permission mode and the rules
of Claude Code say, and waits for people if policy says so. Nothing needs to be
installed for that; where the hook is installed as well, nobody is asked twice.

Without PROMPT it is read from the standard input; at a terminal line by line, as a
conversation. What stands behind -- goes to Claude Code: the arguments that are known
to leave the gate as it is, such as --model, --permission-mode, --resume, --add-dir
and --mcp-config. Another one is refused, and named with all that are known.`,
		Example: `  sayso claude "run the tests and fix what fails" -- --model opus`,
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if d.prompt, d.args, err = drivenArgs(c, args); err != nil {
				return err
			}
			return a.driveClaude(context.WithoutCancel(c.Context()), d)
		},
	}
	c.Flags().StringVar(&d.program, "program", "", "the program of Claude Code; by default claude in PATH")
	c.Flags().Duration("patience", 0, "how long a call waits for people (SAYSO_PATIENCE; without, until there is a decision)")
	return c
}

func (a *app) driveClaude(ctx context.Context, d driven) error {
	if err := driver.CheckClaude(d.args); err != nil {
		if _, wide := errors.AsType[*driver.Wide](err); wide {
			return usage(err, "to be asked less: rules, such as those of sayso policy init developer; to be asked nothing for a while: sayso mode approve_all --for 15m")
		}
		return usage(err, "leave it out: sayso claude \"PROMPT\" -- ARGS")
	}
	d.host, _ = install.Find(claudecode.Host)
	if err := a.driveable(ctx, &d); err != nil {
		return err
	}
	screen := a.drivenScreen()
	said, err := a.prompts(ctx, d, &screen)
	if err != nil {
		return err
	}
	d.args = driver.ClaudeArgs(d.args)
	env := slices.DeleteFunc(slices.Clone(a.environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return claudecode.OffVariable(name)
	})
	c := &driver.Claude{Prompts: said, Screen: screen}
	return a.drive(ctx, d, env, func(desk *driver.Desk, l *local.Local) spoken {
		c.Desk = desk
		if inbox, err := l.Inbox(ctx, home.OwnActor(sayso.PrincipalAgent, d.host.Name, "hook")); err == nil { // without, people are asked at both
			c.Hook = (&hookAnswers{inbox: inbox}).of
		}
		return c
	})
}

// hookStarts is how long a hook that is installed may take until it has asked, and until
// it has taken the yes that it was given. One that does not ask, as with --safe-mode, is not
// waited for again.
const hookStarts = 10 * time.Second

// hookAnswers are the decisions about what the host's hook asks.
type hookAnswers struct {
	inbox  sayso.Inbox
	absent atomic.Bool // the hook asks about nothing
}

// of waits until the hook has had its answer about a call and returns that: a no as soon
// as it is recorded, a yes once it was used, as only then what comes after the hook is known
// for the same call, or after [hookStarts], as the hook may be gone. It returns nil if the hook
// does not ask.
func (h *hookAnswers) of(ctx context.Context, session, callID string) (*sayso.Decision, error) {
	if h.absent.Load() {
		return nil, nil
	}
	started, cancel := context.WithTimeout(ctx, hookStarts)
	defer cancel()
	r, err := h.until(started, session, callID, func(*sayso.Request) bool { return true })
	if err != nil && started.Err() != nil && ctx.Err() == nil {
		h.absent.Store(true)
		return nil, nil
	}
	if err == nil {
		r, err = h.until(ctx, session, callID, func(r *sayso.Request) bool { return r.State == sayso.StateParked || !r.State.Open() })
	}
	switch {
	case err != nil:
		return nil, err
	case r.Decision == nil || r.State == sayso.StateParked: // the hook waits no more, and has denied
		return &sayso.Decision{Request: r.ID, State: r.State}, nil
	case !r.Decision.Allowed():
		return r.Decision, nil
	}
	took, cancel := context.WithTimeout(ctx, hookStarts)
	defer cancel()
	_, err = h.until(took, session, callID, func(r *sayso.Request) bool { return r.Life.Redeemed || r.Life.Voided != "" })
	if took.Err() != nil && ctx.Err() == nil {
		err = nil // the hook is gone, and whoever comes next may take its yes
	}
	return r.Decision, err
}

// until waits until the request that the hook made of a call is as it must be.
func (h *hookAnswers) until(ctx context.Context, session, callID string, is func(*sayso.Request) bool) (*sayso.Request, error) {
	head, err := h.inbox.Head(ctx)
	if err != nil {
		return nil, err
	}
	look := func() (*sayso.Request, error) {
		found, err := h.inbox.Requests(ctx, sayso.RowQuery{Session: session, CallID: callID, Limit: 1})
		if err != nil || len(found) == 0 || !is(&found[0]) {
			return nil, err
		}
		return &found[0], nil
	}
	r, err := look()
	if r != nil || err != nil {
		return r, err
	}
	for e, err := range h.inbox.Follow(ctx, head.Seq, sayso.EventQuery{}) {
		if err == nil && e.SessionID == session {
			r, err = look()
		}
		if r != nil || err != nil {
			return r, err
		}
	}
	return nil, cmp.Or(ctx.Err(), sayso.ErrUnavailable)
}
