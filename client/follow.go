package client

import (
	"context"
	"iter"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
)

// Follow implements [sayso.Inbox]. When a connection breaks it goes on behind
// the last event that it yielded, so that none is missed and none comes twice.
// It gives up when the server is away for longer than [Options.Retry].
func (c *Client) Follow(ctx context.Context, since sayso.Seq, q sayso.EventQuery) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		p := patience{o: &c.o}
		broken := false
		for {
			f := wire.Follow{Since: &since, Session: q.Session, Types: q.Types, Request: q.Request}
			var end error
			for e, err := range c.t.follow(ctx, f) {
				if err != nil {
					end = err
					break
				}
				p.heard()
				if broken {
					broken = false
					c.o.Lost(nil)
				}
				if e.Seq <= since { // also the zero event, which says that the stream is open
					continue
				}
				since = e.Seq
				if !yield(e, nil) {
					return
				}
			}
			if err := p.again(ctx, end); err != nil {
				yield(sayso.Event{}, err)
				return
			}
			if !broken {
				broken = true
				c.o.Lost(end)
			}
		}
	}
}
