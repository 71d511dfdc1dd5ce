package broker

import (
	"context"
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// batch collects the events of one append.
type batch struct {
	sayso.Batch
	at  sayso.Moment
	err error
}

func newBatch(at sayso.Moment) *batch {
	return &batch{at: at, Batch: sayso.Batch{Expect: map[string]int{}}}
}

// eventSubject names what an event is about.
type eventSubject struct {
	session, run, callID string
	request              sayso.ID
}

func requestSubject(r *sayso.Request) eventSubject {
	return eventSubject{r.SessionID, r.RunID, r.CallID, r.ID}
}

// add puts an event behind the others. length is how many events the stream
// must hold before this batch. The payload, or what it points to, is remembered
// with the event and must not be changed.
func (b *batch) add(stream string, length int, t sayso.EventType, a eventSubject, by sayso.Actor, payload any, free *eventContent) {
	e := sayso.Event{
		ID: newID(b.at.Wall), Stream: stream, Type: t, Version: 1, At: b.at, Actor: by,
		SessionID: a.session, RunID: a.run, RequestID: a.request, CallID: a.callID,
	}
	e.Payload = b.marshal(payload)
	if free == nil {
		e.Memo = sayso.Wrote(payload, nil, nil, nil)
	} else {
		salt := random()
		e.Content, e.Salt = free.encoded, salt[:]
		e.Memo = sayso.Wrote(payload, free.value, free.private, &free.parts)
	}
	if _, ok := b.Expect[stream]; !ok {
		b.Expect[stream] = length
	}
	if b.Events == nil {
		b.Events = make([]sayso.Event, 0, 2) // most batches have no more
	}
	b.Events = append(b.Events, e)
}

// addToRequest adds an event to a request's stream.
func (b *batch) addToRequest(r *sayso.Request, t sayso.EventType, by sayso.Actor, payload any, free *eventContent) {
	b.add(sayso.RequestStream(r.ID), r.Life.Len, t, requestSubject(r), by, payload, free)
}

func (b *batch) marshal(v any) []byte {
	text, err := jcs.Marshal(v)
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("%w: writing an event: %w", sayso.ErrInvalid, err)
	}
	return text
}

// append writes the batch and returns its events.
func (b *Broker) append(ctx context.Context, batch *batch) ([]sayso.Event, error) {
	if batch.err != nil {
		return nil, batch.err
	}
	events, err := b.log.Append(ctx, batch.Batch)
	if err != nil && !isConflict(err) {
		return nil, fmt.Errorf("recording: %w", err)
	}
	for i := range events {
		b.noteRecorded(events[i].At)
		b.sessions.apply(&events[i])
	}
	return events, err
}

// advance appends the batch and returns the request as its events leave it. Both
// are shared from then on: requests that were folded are not changed.
func (b *Broker) advance(ctx context.Context, r *sayso.Request, batch *batch) (*sayso.Request, error) {
	events, err := b.append(ctx, batch)
	if err != nil {
		return nil, err
	}
	return b.applyEvents(r, events)
}

// applyEvents returns a request with what was appended to its stream since.
func (b *Broker) applyEvents(r *sayso.Request, events []sayso.Event) (*sayso.Request, error) {
	next, stream := *r, sayso.RequestStream(r.ID)
	for i := range events {
		if events[i].Stream != stream {
			continue
		}
		if err := next.Apply(&events[i]); err != nil {
			return nil, err
		}
	}
	b.requests.put(&next)
	return &next, nil
}

// appendOne appends a single event to a request's stream, if it is as long as r.
func (b *Broker) appendOne(ctx context.Context, r *sayso.Request, t sayso.EventType, by sayso.Actor, payload any) (*sayso.Request, error) {
	batch := newBatch(b.o.Now())
	batch.addToRequest(r, t, by, payload, nil)
	return b.advance(ctx, r, batch)
}

// eventContent is the erasable part of an event: what is shown of it, as a value or a
// pointer to one, and all of it, written.
type eventContent struct {
	value   any
	private *sayso.RequestedPrivate // nil where others may change what it holds
	parts   sayso.Content
	encoded []byte
}

// newContent encodes the erasable part of an event. The parts that are nil are left
// out.
func newContent(shown, full, private any) (*eventContent, error) {
	t := eventContent{value: shown}
	parts := [...]struct {
		name    string
		to      *sayso.Args
		from    any
		written []byte
	}{
		{name: `"shown":`, to: &t.parts.Shown, from: shown},
		{name: `"full":`, to: &t.parts.Full, from: full},
		{name: `"private":`, to: &t.parts.Private, from: private},
	}
	size := len("{}")
	for i := range parts {
		p := &parts[i]
		if p.from == nil {
			continue
		}
		var err error
		if p.written, err = jcs.Marshal(p.from); err != nil {
			return nil, fmt.Errorf("%w: writing content: %w", sayso.ErrInvalid, err)
		}
		size += len(",") + len(p.name) + len(p.written)
	}
	t.encoded = make([]byte, 0, size)
	for i := range parts {
		p := &parts[i]
		if p.written == nil {
			continue
		}
		t.encoded = append(append(append(t.encoded, ','), p.name...), p.written...)
		*p.to = sayso.Args(t.encoded[len(t.encoded)-len(p.written) : len(t.encoded) : len(t.encoded)])
	}
	t.encoded[0] = '{'
	t.encoded = append(t.encoded, '}')
	return &t, nil
}
