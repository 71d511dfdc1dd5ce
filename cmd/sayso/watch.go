package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/notice"
	"github.com/sayso-dev/sayso/internal/tui"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present/highlight"
)

func (a *app) watchCommand() *cobra.Command {
	var plain bool
	c := &cobra.Command{
		Use: "watch", GroupID: "answer", Short: "shows requests as they come, and lets you answer them", Args: cobra.NoArgs,
		Long: `Fills the terminal with what waits and one request in full, and takes the
keys that answer: ? lists them. It rings the bell for a new request. While it runs, no
desktop notices are shown.

Without a terminal, with --plain and under an agent it prints lines instead: each request
as it opens, what it would change, and what to type to answer it; and each decision as it
falls.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.watch(c.Context(), plain) },
	}
	c.Flags().BoolVar(&plain, "plain", false, "print lines, also in a terminal")
	return c
}

func (a *app) watch(ctx context.Context, plain bool) error {
	if err := a.paths.Make(); err != nil {
		return err
	}
	stop, err := notice.Watch(a.paths.Watchers())
	if err != nil {
		return err
	}
	defer stop()
	if !plain && !a.json && a.screen() && a.noAgent("answering") == nil {
		return a.watchScreen(ctx)
	}
	return a.watchLines(ctx)
}

// screen reports whether there is a terminal that can be drawn on as a whole: one
// that is known, and says how large it is.
func (a *app) screen() bool {
	_, in := a.terminal()
	name := a.getenv("TERM")
	return in && width(a.out) > 0 && name != "" && name != "dumb"
}

// watchScreen watches on the full screen.
func (a *app) watchScreen(ctx context.Context) error {
	return tui.Run(ctx, tui.Options{
		Open: a.door, Facts: a.facts, Editor: a.editorOn, Input: a.in, Output: a.out, Environ: a.environ, Plain: a.getenv("NO_COLOR") != "", Highlight: highlight.Code,
		Switched: a.switchedNow,
	})
}

// switchedNow says which switch of this machine is turned; those of another
// machine, whose server is used, are not known here.
func (a *app) switchedNow() string {
	if a.settings.Server != "" {
		return ""
	}
	if o, off, _ := a.paths.IsOff(a.now()); off { // where that is doubtful, it is on
		return "OFF until " + o.Until.Local().Format("15:04") + ": calls go to the agents' own prompts; sayso off --end"
	}
	if a.paths.Locked() {
		return "LOCKED: everything asks or denies, and no grant counts; sayso lock --release"
	}
	return ""
}

// door opens the gate for the screen. Where no server runs, nobody else sweeps.
func (a *app) door(ctx context.Context) (tui.Door, error) {
	l, err := a.openWith(ctx, local.Options{}) // which notes nothing on the screen
	if err != nil {
		return tui.Door{}, err
	}
	in, err := l.Inbox(ctx, a.person())
	if err != nil {
		return tui.Door{}, errors.Join(err, l.Close())
	}
	what, path := l.Where()
	all, err := l.Inbox(ctx, a.admin())
	if err != nil {
		return tui.Door{}, errors.Join(err, l.Close())
	}
	d := tui.Door{Inbox: in, All: all, Where: what + " " + path, Close: l.Close}
	d.Changed = func(ctx context.Context) string {
		line, err := a.changed(ctx, l)
		if err != nil {
			return "whether tools changed is not known: " + err.Error()
		}
		return line
	}
	if e, ok := l.Engine(); ok {
		ctx, stop := context.WithCancel(ctx)
		swept := make(chan struct{})
		go func() { defer close(swept); _ = e.Run(ctx) }() // ends when the door is closed
		d.Close = func() error { stop(); <-swept; return l.Close() }
	}
	return d, nil
}

// watchLines prints what happens, line by line.
func (a *app) watchLines(ctx context.Context) error {
	w := watcher{app: a, tells: words.Teller{}, shown: map[sayso.ID]bool{}}
	for ctx.Err() == nil {
		err := w.round(ctx)
		if ctx.Err() != nil || err == nil {
			break
		}
		if !errors.Is(err, sayso.ErrUnavailable) {
			return err
		}
		a.note("lost the gate (%v); looking for it again", err)
		if !pause(ctx, time.Second) {
			break
		}
	}
	return nil
}

// pause waits, and reports whether ctx still holds.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// watcher is one terminal that watches.
type watcher struct {
	*app
	begun bool
	seen  sayso.Seq
	tells words.Teller
	shown map[sayso.ID]bool // requests that were shown as waiting
}

// round follows the log until the gate goes away.
func (w *watcher) round(ctx context.Context) error {
	l, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if e, ok := l.Engine(); ok {
		go func() { _ = e.Run(ctx) }() // nobody else sweeps where no server runs; it ends with ctx
	}
	in, err := l.Inbox(ctx, w.person())
	if err != nil {
		return err
	}
	if err := w.begin(ctx, l, in); err != nil {
		return err
	}
	for e, err := range in.Follow(ctx, w.seen, sayso.EventQuery{}) {
		if err != nil {
			return err
		}
		w.seen = e.Seq
		if err := w.tell(ctx, in, e); err != nil {
			return err
		}
	}
	return nil
}

// begin shows what is open already, the first time.
func (w *watcher) begin(ctx context.Context, l *local.Local, in sayso.Inbox) error {
	if w.begun {
		return nil
	}
	head, err := in.Head(ctx)
	if err != nil {
		return err
	}
	open, err := in.Requests(ctx, sayso.RowQuery{States: sayso.OpenStates(), Oldest: true})
	if err != nil {
		return err
	}
	w.begun, w.seen = true, head.Seq
	what, path := l.Where()
	w.note("watching the %s %s; %d waiting", what, path, len(open))
	changed, err := w.changed(ctx, l)
	if err != nil {
		return err
	}
	if changed != "" {
		w.note("%s", printable(changed))
	}
	for _, r := range open {
		if w.json {
			err = w.printLine(r)
		} else {
			err = w.shout(ctx, in, r.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tell shows one event. What policy allowed is not shown.
func (w *watcher) tell(ctx context.Context, in sayso.Inbox, e sayso.Event) error {
	if w.json {
		return w.printLine(e)
	}
	switch e.Type {
	case sayso.EventRequested:
		return w.shout(ctx, in, e.RequestID)
	case sayso.EventModeChanged, sayso.EventGrantCreated, sayso.EventGrantRevoked, sayso.EventAnswerRefused, sayso.EventDefinitionQuarantined:
	case sayso.EventResolved:
		var p words.Told
		if err := jcs.UnmarshalLenient(e.Payload, &p); err != nil {
			return err
		}
		if p.Effect == sayso.Allow && !w.shown[e.RequestID] {
			return nil
		}
	case sayso.EventExpired, sayso.EventWithdrawn, sayso.EventVoided, sayso.EventParked, sayso.EventTaken, sayso.EventFinished:
		if !w.shown[e.RequestID] {
			return nil
		}
	default:
		return nil
	}
	w.print("%s  %s", e.At.Wall.Local().Format(time.TimeOnly), w.tells.Story(e))
	return nil
}

// shout shows a request with all of its content, and rings the bell, if it waits:
// policy may have decided when it was asked, and somebody since.
func (w *watcher) shout(ctx context.Context, in sayso.Inbox, id sayso.ID) error {
	r, err := in.Request(ctx, string(id))
	if err != nil || !r.State.Open() {
		return err
	}
	s, err := look(ctx, in, string(id))
	if err != nil {
		return err
	}
	w.shown[r.ID] = true
	if isTerminal(w.out) {
		fmt.Fprint(w.out, "\a")
	}
	w.print("")
	w.draw(w.out, s, 24)
	w.print("  sayso approve %s   sayso deny %s --note WHY   sayso show %s", r.ShortID, r.ShortID, r.ShortID)
	return nil
}
