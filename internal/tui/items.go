package tui

import (
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/words"
)

// item is a request with what the list wants of it.
type item struct {
	sayso.Request
	due   time.Time // zero for never
	end   string    // how it ended, in words; empty while it waits
	said  int       // people who said yes
	place int       // in which order it came
	text  string    // what the filter looks in
}

// items are the requests of the list.
type items struct {
	byID map[sayso.ID]*item
	came int
}

func newItems(open []sayso.Request, now time.Time) items {
	all := items{byID: map[sayso.ID]*item{}}
	for _, r := range open {
		all.put(r, now)
	}
	return all
}

func (all *items) put(r sayso.Request, now time.Time) *item {
	i := all.byID[r.ID]
	if i == nil {
		all.came++
		i = &item{place: all.came}
		all.byID[r.ID] = i
	}
	i.Request, i.text = r, ""
	i.setDue(now)
	if !r.State.Open() && i.end == "" {
		i.end = endOf(r)
	}
	return i
}

// setDue works out by this clock when the request expires: how long was left
// when it was read, or else what it says of its deadline.
func (i *item) setDue(now time.Time) {
	switch {
	case i.RemainingS != nil:
		i.due = now.Add(time.Duration(*i.RemainingS * float64(time.Second)))
	case i.Deadline != nil:
		i.due = *i.Deadline
	}
}

// open are those that wait.
func (all *items) open() map[sayso.ID]bool {
	ids := map[sayso.ID]bool{}
	for id, i := range all.byID {
		if i.State.Open() {
			ids[id] = true
		}
	}
	return ids
}

// waiting is how many wait.
func (all *items) waiting() (n int) {
	for _, i := range all.byID {
		if i.State.Open() {
			n++
		}
	}
	return n
}

// endOf is how a request that was read ended.
func endOf(r sayso.Request) string {
	if r.Decision != nil {
		return words.Standing(*r.Decision)
	}
	return words.Standing(sayso.Decision{Request: r.ID, State: r.State})
}

// apply folds one event.
func (all *items) apply(e sayso.Event, now time.Time) {
	if e.Type == sayso.EventRequested {
		r, err := sayso.RequestIn(&e)
		if err != nil || all.byID[r.ID] != nil {
			return
		}
		i := all.put(r, now)
		if r.Deadline != nil {
			i.due = *r.Deadline // the event may be older than its arrival
		}
		return
	}
	i := all.byID[e.RequestID]
	if i == nil {
		return
	}
	var p words.Told
	_ = jcs.UnmarshalLenient(e.Payload, &p) // what cannot be read is told without its words
	switch e.Type {
	case sayso.EventResolved:
		d := sayso.Decision{Request: i.ID, State: sayso.StateDenied, Effect: p.Effect, Source: sayso.Source(p.Source), By: p.By, Note: p.Note}
		if p.Effect == sayso.Allow {
			d.State = sayso.StateAllowed
		}
		i.close(d)
		if !p.Edited.IsZero() {
			i.end += ", with changes"
		}
	case sayso.EventExpired:
		i.close(sayso.Decision{Request: i.ID, State: sayso.StateExpired})
	case sayso.EventWithdrawn:
		i.close(sayso.Decision{Request: i.ID, State: sayso.StateWithdrawn})
	case sayso.EventParked:
		i.waits(sayso.StateParked)
	case sayso.EventTaken:
		i.waits(sayso.StateOpen)
	case sayso.EventAnswered:
		if p.Effect == sayso.Allow {
			i.said++
		}
	}
}

// waits says whether somebody waits for the answer. A connection may end, and the
// same call be made again, also after the request was decided: it stays as it ended.
func (i *item) waits(s sayso.State) {
	if i.end == "" {
		i.State = s
	}
}

// close marks a request as ended.
func (i *item) close(d sayso.Decision) {
	if !i.State.Open() {
		return
	}
	i.State, i.end = d.State, words.Standing(d)
}

// sweep lets go of what ended, but for what is looked at.
func (all *items) sweep(keep sayso.ID) {
	for id, i := range all.byID {
		if !i.State.Open() && id != keep {
			delete(all.byID, id)
		}
	}
}
