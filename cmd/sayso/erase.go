package main

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/boot"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/local"
)

// eraseOne empties the content of one request, and records who did so and why.
func (a *app) eraseOne(ctx context.Context, e *local.Engine, r sayso.Request, why string) error {
	payload, err := jcs.Marshal(sayso.ContentErased{Requests: []sayso.ID{r.ID}, Why: why})
	if err != nil {
		return err
	}
	stream := sayso.RequestStream(r.ID)
	_, err = e.Log.Append(ctx, sayso.Batch{
		Events: []sayso.Event{{
			ID: sayso.NewID(a.now(), random()), Stream: stream, Type: sayso.EventContentErased, Version: 1, At: a.moment(),
			Actor: a.admin(), SessionID: r.SessionID, RunID: r.RunID, RequestID: r.ID, CallID: r.CallID, Payload: payload,
		}},
		Expect: map[string]int{stream: sayso.AnyLength},
		Erase:  []sayso.ID{r.ID},
	})
	if err != nil {
		return err
	}
	a.print("erased the content of %s", r.ShortID)
	return nil
}

func random() (r [16]byte) {
	rand.Read(r[:]) // never fails: it ends the process instead
	return r
}

// moment is now, by both clocks.
func (a *app) moment() sayso.Moment {
	m := sayso.Moment{Wall: a.now().UTC().Truncate(time.Nanosecond)}
	if id, since, err := boot.Now(); err == nil { // without it the wall clock alone counts
		m.Boot, m.Since = id, since
	}
	return m
}
