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
	"github.com/sayso-dev/sayso/internal/words"
)

func (a *app) watchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "watch", GroupID: "answer", Short: "shows requests as they come, and what becomes of them", Args: cobra.NoArgs,
		Long: `Shows each request as it opens, what it would change, and what to type to answer
it; and each decision as it falls. It rings the bell for a new request. While it runs, no desktop
notices are shown.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.watch(c.Context()) },
	}
}

func (a *app) watch(ctx context.Context) error {
	if err := a.paths.Make(); err != nil {
		return err
	}
	stop, err := notice.Watch(a.paths.Watchers())
	if err != nil {
		return err
	}
	defer stop()
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
	case sayso.EventModeChanged, sayso.EventGrantCreated, sayso.EventGrantRevoked, sayso.EventAnswerRefused:
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
