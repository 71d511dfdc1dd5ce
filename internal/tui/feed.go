package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
)

// What the feed tells the screen.
type (
	// connectedMsg says that the inbox is open. fresh says that open is all that
	// waits; else the log goes on where it broke off.
	connectedMsg struct {
		door  Door
		fresh bool
		open  []sayso.Request
		mode  sayso.ModeState
		// changed says which tools changed
		changed string
	}
	changedMsg string
	eventsMsg  []sayso.Event
	modeMsg    sayso.ModeState
	// lostMsg says that the inbox is gone and looked for.
	lostMsg struct{ err error }
	// failedMsg says that there is no use in looking.
	failedMsg struct{ err error }
)

// together is how long events are gathered before they are shown: a call that
// policy decides is asked for and decided in one breath, and never shows.
const together = 40 * time.Millisecond

// feed follows the log for as long as the screen is there. After a break it goes
// on behind the last event that it has.
type feed struct {
	open func(context.Context) (Door, error)
	send func(tea.Msg)
	seen sayso.Seq
}

func (f *feed) run(ctx context.Context) {
	for {
		err := f.round(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !errors.Is(err, sayso.ErrUnavailable):
			f.send(failedMsg{err})
			return
		}
		f.send(lostMsg{err})
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// round follows the log until the inbox goes away.
func (f *feed) round(ctx context.Context) error {
	door, err := f.open(ctx)
	if err != nil {
		return err
	}
	if door.Close != nil {
		defer door.Close()
	}
	if err := f.begin(ctx, door); err != nil {
		return err
	}
	return f.follow(ctx, door)
}

// begin tells what waits, the first time and where the log is not the one that
// was followed before.
func (f *feed) begin(ctx context.Context, door Door) error {
	head, err := door.Inbox.Head(ctx)
	if err != nil {
		return err
	}
	m := connectedMsg{door: door, fresh: f.seen == 0 || head.Seq < f.seen}
	if m.mode, err = door.Inbox.Mode(ctx, ""); err != nil {
		return err
	}
	if door.Changed != nil {
		m.changed = door.Changed(ctx)
	}
	if m.fresh {
		if m.open, err = door.Inbox.Requests(ctx, sayso.RowQuery{States: sayso.OpenStates(), Oldest: true}); err != nil {
			return err
		}
		f.seen = head.Seq
	}
	f.send(m)
	return nil
}

func (f *feed) follow(ctx context.Context, door Door) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	events, ended := make(chan sayso.Event, 256), make(chan error, 1)
	go func() { // ends with ctx, or when the log does
		defer close(events)
		for e, err := range door.Inbox.Follow(ctx, f.seen, sayso.EventQuery{}) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
			}
		}
		ended <- ctx.Err()
	}()
	for e := range events {
		batch := gathered(e, events)
		f.send(eventsMsg(batch))
		f.seen = batch[len(batch)-1].Seq
		if holds(batch, sayso.EventModeChanged) {
			f.tellMode(ctx, door.Inbox)
		}
		if door.Changed != nil && holds(batch, sayso.EventDefinitionQuarantined, sayso.EventDefinitionAccepted) {
			f.send(changedMsg(door.Changed(ctx)))
		}
	}
	return <-ended
}

// holds reports whether one of the events is of one of these types.
func holds(batch []sayso.Event, types ...sayso.EventType) bool {
	return slices.ContainsFunc(batch, func(e sayso.Event) bool { return slices.Contains(types, e.Type) })
}

// gathered is an event with those that follow it at once.
func gathered(first sayso.Event, more <-chan sayso.Event) []sayso.Event {
	batch := []sayso.Event{first}
	late := time.NewTimer(together)
	defer late.Stop()
	for len(batch) < 1000 {
		select {
		case e, ok := <-more:
			if !ok {
				return batch
			}
			batch = append(batch, e)
		case <-late.C:
			return batch
		}
	}
	return batch
}

func (f *feed) tellMode(ctx context.Context, in sayso.Inbox) {
	if mode, err := in.Mode(ctx, ""); err == nil {
		f.send(modeMsg(mode))
	} // else the log ends too, which is told
}
