package broker

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
)

// linkIndex knows where the newest requests were asked, for the calls that are linked
// to them. A call that comes to a later point, such as the gateway, may have been asked
// about at an earlier one, such as a hook of whatever host called: under which id is
// known, by whom is not. Every call would read hundreds of requests for it, so they are
// read once, and after that what the log grew by.
type linkIndex struct {
	mu     sync.Mutex // guards what follows
	loaded bool
	upTo   sayso.Seq
	asked  linkRing // the newest requests
	// answered are those that people answered last. Whoever asks can have the others
	// forgotten, by asking often enough, and these only people.
	answered linkRing
}

// origin is one place where calls are asked about: a requester in a session.
type origin struct{ asker, session string }

// linkEntry is a request, its call and where it was asked.
type linkEntry struct {
	origin
	callID string
	id     sayso.ID
}

const (
	// linkIndexPage is how many events are read at once.
	linkIndexPage = 1024
	// linkIndexPages is how many pages of maxLinkCandidates requests are looked at first,
	// for those that people answered.
	linkIndexPages = 16
)

// otherOrigins are the origins that somebody else than asker asks at, the newest first.
func (x *linkIndex) otherOrigins(ctx context.Context, log sayso.Log, asker string) (out []origin, err error) {
	err = x.eachNewest(ctx, log, func(at *linkEntry) {
		if at.asker != asker && !slices.Contains(out, at.origin) {
			out = append(out, at.origin)
		}
	})
	return out, err
}

// requestsForCall are the requests that somebody else than asker made for a call with this
// id, the newest first.
func (x *linkIndex) requestsForCall(ctx context.Context, log sayso.Log, asker, call string) (out []sayso.ID, err error) {
	err = x.eachNewest(ctx, log, func(at *linkEntry) {
		if at.asker != asker && at.callID == call && !slices.Contains(out, at.id) {
			out = append(out, at.id)
		}
	})
	return out, err
}

// eachNewest has visit see the requests that people answered last, and then the newest of
// the log, each the newest first.
func (x *linkIndex) eachNewest(ctx context.Context, log sayso.Log, visit func(*linkEntry)) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.catchUp(ctx, log); err != nil {
		return fmt.Errorf("looking for the call at an earlier point: %w", err)
	}
	x.answered.eachNewest(visit)
	x.asked.eachNewest(visit)
	return nil
}

// catchUp brings the index up to the end of the log, for who holds the lock.
func (x *linkIndex) catchUp(ctx context.Context, log sayso.Log) error {
	if !x.loaded {
		return x.load(ctx, log)
	}
	for {
		events, err := log.Since(ctx, x.upTo, linkIndexPage)
		if err != nil {
			return err
		}
		for i := range events {
			if err := x.add(ctx, log, &events[i]); err != nil {
				return err
			}
		}
		if len(events) < linkIndexPage {
			return nil
		}
	}
}

// load reads the newest requests, page by page. What is committed after the head
// was read may be seen twice, and not missed.
func (x *linkIndex) load(ctx context.Context, log sayso.Log) error {
	head, err := log.Head(ctx)
	if err != nil {
		return err
	}
	var all []sayso.Row
	q := sayso.RowQuery{Limit: maxLinkCandidates}
	for range linkIndexPages {
		rows, err := log.Rows(ctx, q)
		if err != nil {
			return err
		}
		all = append(all, rows...)
		if len(rows) < maxLinkCandidates {
			break
		}
		q.Before = rows[len(rows)-1].First
	}
	x.asked, x.answered = linkRing{}, linkRing{}
	for _, row := range slices.Backward(all) {
		at := linkEntry{origin{row.Asker, row.Session}, row.CallID, row.ID}
		x.asked.put(at)
		if row.Source == sayso.SourcePerson {
			x.answered.put(at)
		}
	}
	x.loaded, x.upTo = true, head.Seq
	return nil
}

// add puts the request of an event into the index.
func (x *linkIndex) add(ctx context.Context, log sayso.Log, e *sayso.Event) error {
	switch e.Type {
	case sayso.EventRequested:
		x.asked.put(linkEntry{origin{e.Actor.Principal, e.SessionID}, e.CallID, e.RequestID})
	case sayso.EventAnswered:
		first, err := log.Stream(ctx, e.Stream, 0)
		if err != nil {
			return err
		}
		if len(first) > 0 && first[0].Type == sayso.EventRequested {
			x.answered.put(linkEntry{origin{first[0].Actor.Principal, e.SessionID}, first[0].CallID, e.RequestID})
		}
	}
	x.upTo = e.Seq
	return nil
}

// linkRing is the last maxLinkCandidates requests that were put into it.
type linkRing struct {
	entries []linkEntry
	count   int // how many were put in
}

func (r *linkRing) put(at linkEntry) {
	if r.entries == nil {
		r.entries = make([]linkEntry, maxLinkCandidates)
	}
	r.entries[r.count%maxLinkCandidates] = at
	r.count++
}

func (r *linkRing) eachNewest(visit func(*linkEntry)) {
	for i := range min(r.count, maxLinkCandidates) {
		visit(&r.entries[(r.count-1-i)%maxLinkCandidates])
	}
}
