package main

import (
	"context"
	"errors"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/local"
)

// recording is how long a switch waits for the log.
const recording = 10 * time.Second

// switched puts into the log of this machine that a switch was turned.
func (a *app) switched(ctx context.Context, to sayso.Switch, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, recording)
	defer cancel()
	l, err := a.openWith(ctx, local.Options{Direct: true})
	if err != nil {
		return err
	}
	e, _ := l.Engine()
	who := a.admin()
	if _, ok := a.agent(); ok {
		who.Channel = broker.ChannelAgentProcess
	}
	return errors.Join(e.Switched(ctx, who, to, d), l.Close())
}

// toLog puts a turned switch into the log, or says that it could not: a switch
// works when all else is broken. What loosens is recorded before it is done,
// what tightens after.
func (a *app) toLog(ctx context.Context, to sayso.Switch, d time.Duration) bool {
	if err := a.switched(ctx, to, d); err != nil {
		a.note("warning: the log does not tell of it: %v", err)
		return false
	}
	return true
}
