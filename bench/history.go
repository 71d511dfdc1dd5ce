package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

// agentActor and personActor are who asks and answers where no server is
// between.
var (
	agentActor  = sayso.Actor{Principal: agentName, Kind: sayso.PrincipalAgent, Channel: "bench", Owner: personName}
	personActor = sayso.Actor{Principal: personName, Kind: sayso.PrincipalPerson, Channel: "bench"}
)

// history makes a home with a log of about n events, of which open requests
// are open, in fifty sessions.
func history(ctx context.Context, dir string, n, open int) (err error) {
	paths, err := homeIn(dir)
	if err != nil {
		return err
	}
	b, closing, err := engine(ctx, paths)
	if err != nil {
		return err
	}
	for i := range oldSessions {
		err = errors.Join(err, b.Gate(agentActor).Begin(ctx, oldSession(i), "bench"))
	}
	if err = errors.Join(err, closing()); err != nil {
		return err
	}
	log, err := sqlite.Open(ctx, paths.Database(), &sqlite.Options{Checkpoint: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	m := storetest.NewMaker(1)
	for done := 0; done < n; done += 3 * together {
		if err := decided(ctx, log, m); err != nil {
			return err
		}
	}
	for i := range open {
		_, b := m.Request(storetest.Wish{Session: oldSession(i)})
		if _, err := log.Append(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

const (
	oldSessions = 50
	together    = 200 // requests in one append
)

func oldSession(i int) string { return fmt.Sprintf("old-%d", i%oldSessions) }

// decided appends requests that were asked, answered and resolved.
func decided(ctx context.Context, log sayso.Log, m *storetest.Maker) error {
	all := sayso.Batch{Expect: map[string]int{}}
	for i := range together {
		id, b := m.Request(storetest.Wish{Session: oldSession(i)})
		answer := m.Answer(id, sayso.AnyLength, sayso.Deny, "")
		all.Events = append(append(all.Events, b.Events...), answer.Events...)
		all.Keys = append(all.Keys, b.Keys...)
		for stream, length := range b.Expect {
			all.Expect[stream] = length
		}
	}
	_, err := log.Append(ctx, all)
	return err
}
