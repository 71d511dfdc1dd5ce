package main

import (
	"context"
	"errors"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// answering is the task of a process of a person, who allows whatever is asked
// as soon as it is.
type answering struct {
	At     ready `json:"at"`
	Socket bool  `json:"socket"`
	Hands  int   `json:"hands"` // answers on their way at once
	Wait   bool  `json:"wait"`  // answers nothing before the first line
}

// answer follows the log and answers.
func answer(c *child) error {
	var task answering
	told := make(chan struct{})
	ctx, err := c.begin(&task, sync.OnceFunc(func() { close(told) }))
	if err != nil {
		return err
	}
	inbox, err := reach(ctx, task.At, task.At.Person, task.Socket)
	if err != nil {
		return err
	}
	defer inbox.Close()
	head, err := inbox.Head(ctx)
	if err != nil {
		return err
	}
	if err := c.write(struct{}{}); err != nil {
		return err
	}
	if task.Wait {
		select {
		case <-told:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return allowAll(ctx, inbox, head.Seq, task.Hands)
}

func allowAll(ctx context.Context, inbox end, since sayso.Seq, hands int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	open := make(chan sayso.Event, 1<<16)
	var all sync.WaitGroup
	defer all.Wait()
	defer close(open)
	for range hands {
		all.Go(func() {
			for e := range open {
				if err := allow(ctx, inbox, &e); err != nil {
					cancel(err)
				}
			}
		})
	}
	for e, err := range inbox.Follow(ctx, since, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		open <- e
	}
	return context.Cause(ctx)
}

// allow answers one request with what the event of it says.
func allow(ctx context.Context, inbox end, e *sayso.Event) error {
	var shown struct {
		Digest  sayso.Digest `json:"digest"`
		Content sayso.Digest `json:"content"`
	}
	if err := jcs.UnmarshalLenient(e.Payload, &shown); err != nil {
		return err
	}
	_, err := inbox.Answer(ctx, e.RequestID, sayso.Answer{Digest: shown.Digest, Content: shown.Content, Effect: sayso.Allow})
	return err
}
