package broker_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/memory"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// BenchmarkCycle is ask, durable; answer, durable; asker unblocked.
func BenchmarkCycle(b *testing.B) {
	engines := map[string]func() sayso.Log{
		"memory": func() sayso.Log { return memory.New(nil) },
		"sqlite": func() sayso.Log {
			log, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "home", "log.db"), nil)
			if err != nil {
				b.Fatal(err)
			}
			return log
		},
	}
	for name, open := range engines {
		for _, askers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", name, askers), func(b *testing.B) {
				log := open()
				defer log.Close()
				cycle(b, log, askers)
			})
		}
	}
}

func cycle(b *testing.B, log sayso.Log, askers int) {
	var asked atomic.Int64
	opened := make(chan sayso.Request, 1024)
	engine, err := broker.New(log, always(sayso.Ask), &broker.Options{
		MaxAsks: 1 << 30, MaxOpen: 1 << 30, Opened: func(r sayso.Request) { opened <- r },
	})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	for range 64 {
		go func() { // ends when opened is closed
			for r := range opened {
				if _, err := engine.Inbox(dev).Answer(b.Context(), r.ID, answer(r, sayso.Allow)); err != nil {
					b.Error(err)
				}
			}
		}()
	}
	defer close(opened)
	gate := engine.Gate(agent)
	b.SetParallelism(max(1, askers/2))
	b.ReportAllocs()
	b.ResetTimer()
	from := processor(b)
	defer func() { b.ReportMetric(float64(processor(b)-from)/float64(b.N), "cpu-ns/op") }()
	if askers == 1 {
		for b.Loop() {
			ask(b, gate, asked.Add(1))
		}
		return
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			ask(b, gate, asked.Add(1))
		}
	})
}

func ask(b *testing.B, gate sayso.Gate, n int64) {
	c := bash(fmt.Sprint("c", n), fmt.Sprint("git push ", n))
	c.Session = fmt.Sprint("s", n%64)
	if d, err := gate.Admit(b.Context(), sayso.Admission{Call: c}); err != nil || !d.Allowed() {
		b.Error(d, err)
	}
}

// processor is the processor time that this process has used. Unlike the time
// that passed it does not depend on what else the machine does.
func processor(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
