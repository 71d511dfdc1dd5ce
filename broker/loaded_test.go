package broker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

// loadedPolicies lists the versions that policy.loaded told of, in the order of the log.
func (w *harness) loadedPolicies() (versions []string) {
	w.t.Helper()
	for _, e := range w.stream(sayso.BrokerStream) {
		if e.Type != sayso.EventPolicyLoaded || e.Actor.Kind != sayso.PrincipalBroker {
			w.t.Errorf("%s by %s", e.Type, e.Actor.Kind)
		}
		versions = append(versions, string(e.Payload))
	}
	return versions
}

func version(v string) string { return fmt.Sprintf(`{"policy":%q,"files":["policy.yaml"]}`, v) }

func (w *harness) sweep() {
	w.t.Helper()
	if err := w.b.Sweep(w.t.Context()); err != nil {
		w.t.Error(err)
	}
}

// file names the file of the policy for the record.
func file(w *harness) {
	w.opts.Loaded = func() (sayso.PolicyLoaded, bool) {
		v := w.rules.Version()
		return sayso.PolicyLoaded{Policy: v, Files: []string{"policy.yaml"}}, v != "broken"
	}
}

func TestPolicyLoaded_onceForEachChange(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		w.allowed(push("c1"))
		if got := w.loadedPolicies(); got != nil {
			t.Errorf("a call recorded %s", got)
		}
		for range 3 {
			w.sweep()
		}
		w.restart()
		w.sweep()
		for _, v := range []string{"v2", "v2", "broken", "v2", "v1"} {
			w.rules.set(v, nil)
			w.sweep()
		}
		if diff := cmp.Diff([]string{version("v1"), version("v2"), version("v1")}, w.loadedPolicies()); diff != "" {
			t.Errorf("the log tells of (-want +got):\n%s", diff)
		}
		w.allowed(push("c2")) // though what all sessions have in common changed
	}, file)
}

func TestPolicyLoaded_byTheVersionAlone(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		w.sweep()
		w.rules.set("", nil) // a policy without a version is not told of
		w.sweep()
		if diff := cmp.Diff([]string{`{"policy":"v1","files":[]}`}, w.loadedPolicies()); diff != "" {
			t.Error(diff)
		}
	})
}

// barrierLog is a log whose readers all have read before any of them goes on.
type barrierLog struct {
	sayso.Log
	read chan struct{} // closed when all have
}

func (l *barrierLog) Stream(ctx context.Context, stream string, after int) ([]sayso.Event, error) {
	events, err := l.Log.Stream(ctx, stream, after)
	<-l.read
	return events, err
}

// Of many processes that notice a change at once, one records it.
func TestPolicyLoaded_byManyProcesses(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		log := &barrierLog{Log: w.log}
		var brokers []*broker.Broker
		for range 8 {
			b, err := broker.New(log, w.rules, &w.opts)
			if err != nil {
				t.Fatal(err)
			}
			brokers = append(brokers, b)
		}
		var want []string
		for _, v := range []string{"v1", "v2", "v3"} {
			w.rules.set(v, nil)
			want = append(want, version(v))
			log.read = make(chan struct{})
			var all sync.WaitGroup
			for _, b := range brokers {
				all.Go(func() {
					if err := b.Sweep(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			close(log.read)
			all.Wait()
		}
		if diff := cmp.Diff(want, w.loadedPolicies()); diff != "" {
			t.Errorf("the log tells of (-want +got):\n%s", diff)
		}
	}, file)
}

// Two releases that read one file as two versions do not answer each other for
// as long as both run.
func TestPolicyLoaded_byTwoThatDiffer(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		other, err := broker.New(w.log, &rules{version: "other", judge: w.rules.judge}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		for range 10 {
			w.sweep()
			if err := other.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if got := w.loadedPolicies(); len(got) != 2 {
			t.Errorf("the log tells of %s", got)
		}
	})
}

// A change that could not be recorded is recorded by the next sweep.
func TestPolicyLoaded_whenTheLogFails(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		broken := w.log.Join()
		b, err := broker.New(broken, w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		broken.Close()
		if err := b.Sweep(t.Context()); err == nil {
			t.Error("a sweep of a closed log succeeds")
		}
		w.sweep()
		if got := w.loadedPolicies(); len(got) != 1 {
			t.Errorf("the log tells of %s", got)
		}
	}, file)
}
