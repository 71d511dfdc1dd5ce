package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

// lookedAt is how many events may pass that a target is not told of before it
// is kept that they did.
const lookedAt = 256

// lastMoment is how long it is tried to keep what was sent when the process is
// about to end.
const lastMoment = 2 * time.Second

// news is an event that a reader met: a letter, or how far the reader came.
type news struct {
	letter *Letter
	event  *sayso.Event
	seq    sayso.Seq
}

// carrier brings notices to one target.
type carrier struct {
	*Outbox
	name string
	news chan news
}

// carry brings notices to one target until ctx ends.
func (o *Outbox) carry(ctx context.Context, name string) {
	c := carrier{o, name, make(chan news)}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { c.read(ctx) }) // ends with ctx
	for ctx.Err() == nil {
		p, err := c.book.read()
		if err != nil || p.Targets[name] == nil {
			c.o.Log.Error("notices are not sent", "target", name, "error", err)
			pause(ctx, 30*c.tick)
			continue
		}
		c.step(ctx, p.Targets[name].Letters)
	}
}

// step sends one letter: what is new before what is tried again.
func (c *carrier) step(ctx context.Context, kept []Letter) {
	fresh := c.news
	if waiting(kept) >= c.most {
		fresh = nil // what comes after them waits in the log
	}
	next, wait := c.next(kept)
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case n := <-fresh:
		c.meet(ctx, n)
		return
	default:
	}
	select {
	case <-ctx.Done():
	case n := <-fresh:
		c.meet(ctx, n)
	case <-t.C:
		if next != nil {
			c.try(ctx, *next, nil)
		}
	}
}

// next is the letter that has been due the longest, or how long it takes until
// one may be.
func (c *carrier) next(kept []Letter) (next *Letter, wait time.Duration) {
	now := c.o.Now()
	wait = c.tick // others may have one tried again
	for i := range kept {
		l := &kept[i]
		switch {
		case l.Dead:
		case !l.due(now):
			wait = min(wait, l.Next.Sub(now))
		case next == nil || l.Next.Before(next.Next):
			next = l
		}
	}
	if next != nil {
		wait = 0
	}
	return next, wait
}

// meet takes what the reader met.
func (c *carrier) meet(ctx context.Context, n news) {
	if n.letter != nil {
		c.try(ctx, *n.letter, n.event)
		return
	}
	c.keep(ctx, func(_ *page, s *shelf) { s.Seq = max(s.Seq, n.seq) })
}

// try makes one attempt and keeps what came of it. What is interrupted has not
// been tried.
func (c *carrier) try(ctx context.Context, l Letter, e *sayso.Event) {
	t, ok := c.target(c.name)
	if !ok {
		return
	}
	err := c.deliver(ctx, t, &l, e)
	if err != nil && ctx.Err() != nil {
		return
	}
	if err == nil || errors.Is(err, errMoot) {
		if err == nil {
			c.count(c.name, func(n *Count) { n.Sent++ })
		}
		c.keep(ctx, func(_ *page, s *shelf) { c.delivered(s, &l) })
		return
	}
	c.failed(ctx, l, err)
}

// delivered forgets a letter. Since its target takes notices, the others are
// tried again now.
func (c *carrier) delivered(s *shelf, l *Letter) {
	s.Seq = max(s.Seq, l.Seq)
	s.drop(l)
	for i := range s.Letters {
		if w := &s.Letters[i]; !w.Dead && w.Attempts > 1 {
			w.Next = c.o.Now()
		}
	}
}

func (c *carrier) failed(ctx context.Context, l Letter, err error) {
	f := &Failure{Why: "it could not be sent"}
	_ = errors.As(err, &f)
	l.failed(c.o.Now(), f)
	c.count(c.name, func(n *Count) { n.Failed++ })
	if l.Dead {
		c.count(c.name, func(n *Count) { n.Died++ })
		c.o.Log.Warn("a notice was given up; type sayso notices", "target", c.name, "kind", l.Kind, "request", l.Request, "why", l.Error)
	}
	c.keep(ctx, func(p *page, s *shelf) {
		s.Seq = max(s.Seq, l.Seq)
		s.put(l)
		if l.Dead && l.Kind != Dead {
			c.tellOthers(p, &l)
		}
	})
}

// tellOthers has other targets told that a letter died, each by one letter however
// many die.
func (c *carrier) tellOthers(p *page, l *Letter) {
	now := c.o.Now()
	for _, name := range c.names() {
		t, _ := c.target(name)
		if s := p.Targets[name]; s != nil && name != c.name && t.wants(Dead) {
			lost := Lost{ID: l.ID, Target: c.name, Error: l.Error, Count: 1}
			s.lose(Letter{ID: newID(now), Target: name, Kind: Dead, Event: newID(now), Request: l.Request, Lost: &lost, Made: now, Next: now})
		}
	}
}

// keep changes what is kept, however long it takes: what was sent and is not
// kept would be sent again. When ctx has ended it is tried for a moment longer.
func (c *carrier) keep(ctx context.Context, f func(*page, *shelf)) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { pause(late, lastMoment); cancel() })()
	for wait := c.tick; ; wait = min(2*wait, time.Minute) {
		err := c.change(late, func(p *page) error {
			if s := p.Targets[c.name]; s != nil {
				f(p, s)
			}
			return nil
		})
		if err == nil {
			return
		}
		c.o.Log.Error("what was sent cannot be kept", "target", c.name, "error", err)
		if !pause(ctx, wait) {
			return
		}
	}
}

// read follows the log for one target, and hands over what is new as it is
// taken.
func (c *carrier) read(ctx context.Context) {
	for known, seq := false, sayso.Seq(0); ctx.Err() == nil; pause(ctx, c.tick) {
		if !known {
			p, err := c.book.read()
			if err != nil || p.Targets[c.name] == nil {
				continue // the carrier tells
			}
			known, seq = true, p.Targets[c.name].Seq
		}
		var err error
		if seq, err = c.follow(ctx, seq); err != nil && ctx.Err() == nil {
			c.o.Log.Error("notices stand still", "target", c.name, "error", err)
		}
	}
}

// follow hands over what is new behind a position, and returns how far it came.
func (c *carrier) follow(ctx context.Context, seq sayso.Seq) (sayso.Seq, error) {
	passed := 0
	for e, err := range c.o.Inbox.Follow(ctx, seq, sayso.EventQuery{Types: followed}) {
		if err != nil {
			return seq, err
		}
		n := news{event: &e, seq: e.Seq}
		if n.letter, err = c.write(ctx, &e); err != nil {
			return seq, err
		}
		if passed++; n.letter != nil || passed >= lookedAt {
			passed = 0
			select {
			case c.news <- n:
			case <-ctx.Done():
				return seq, ctx.Err()
			}
		}
		seq = e.Seq
	}
	return seq, nil
}

// write makes a letter of an event; nil if the target is not told of it.
func (c *carrier) write(ctx context.Context, e *sayso.Event) (*Letter, error) {
	t, ok := c.target(c.name)
	if !ok {
		return nil, nil
	}
	kind, err := c.kind(ctx, &t, e)
	if err != nil || kind == "" {
		return nil, err
	}
	now := c.o.Now()
	return &Letter{ID: newID(now), Target: c.name, Kind: kind, Event: e.ID, Seq: e.Seq, Request: e.RequestID, Made: now, Next: now}, nil
}
