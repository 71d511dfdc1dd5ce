package sqlite_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

var million = flag.Bool("million", false, "measure on a log of a million events, which takes minutes to make")

// BenchmarkSync is the limit that the others are compared with: making 4 KiB
// durable at the end of a file.
func BenchmarkSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	for b.Loop() {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend_lone(b *testing.B) {
	l, m := open(b, place(b), &sqlite.Options{Checkpoint: true}), storetest.NewMaker(1)
	for b.Loop() {
		_, batch := m.Request(storetest.Wish{})
		if _, err := l.Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend_group is one request asked and answered by each of many at
// once: two batches, three events.
func BenchmarkAppend_group(b *testing.B) {
	for _, askers := range []int{64, 512} {
		b.Run(fmt.Sprint(askers), func(b *testing.B) {
			l, m := open(b, place(b), &sqlite.Options{Checkpoint: true}), storetest.NewMaker(1)
			turns := make(chan int)
			var all sync.WaitGroup
			for range askers {
				all.Go(func() {
					for n := range turns {
						id, ask := m.Request(storetest.Wish{Session: fmt.Sprint("session-", n%128)})
						if _, err := l.Append(b.Context(), ask); err != nil {
							b.Error(err)
							return
						}
						if _, err := l.Append(b.Context(), m.Answer(id, 1, sayso.Deny, "")); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			from := processor(b)
			for n := 0; b.Loop(); n++ {
				turns <- n
			}
			close(turns)
			all.Wait()
			b.ReportMetric(float64(processor(b)-from)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
		})
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

// history makes a log of about n events of which open requests are open.
func history(b *testing.B, l *sqlite.Log, n, open int) {
	b.Helper()
	m := storetest.NewMaker(2)
	appendAll := func(batch sayso.Batch) {
		if _, err := l.Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	ask := func(i int) (sayso.ID, sayso.Batch) {
		return m.Request(storetest.Wish{Session: fmt.Sprint("session-", i%50)})
	}
	for i := 0; i < n; i += 300 {
		parts := make([]sayso.Batch, 0, 100)
		for j := range 100 {
			id, asked := ask(j)
			answered := m.Answer(id, sayso.AnyLength, sayso.Deny, "")
			parts = append(parts, storetest.Join(answered, asked))
			last := &parts[len(parts)-1]
			last.Events = append(asked.Events, answered.Events...)
		}
		appendAll(storetest.Join(parts...))
	}
	for i := range open {
		_, asked := ask(i)
		appendAll(asked)
	}
}

func BenchmarkOpen_list(b *testing.B) {
	n := 30_000
	if *million {
		n = 1_000_000
	}
	l := open(b, place(b), nil)
	history(b, l, n, 100)
	b.ResetTimer()
	for b.Loop() {
		got, err := l.Open(b.Context(), "", 0)
		if err != nil || len(got) != 100 {
			b.Fatal(len(got), err)
		}
	}
}

// BenchmarkStart opens a log of 100,000 events with 1,000 open requests, lists
// these, and closes it.
func BenchmarkStart(b *testing.B) {
	path := place(b)
	l, err := sqlite.Open(b.Context(), path, &sqlite.Options{Checkpoint: true})
	if err != nil {
		b.Fatal(err)
	}
	history(b, l, 100_000, 1000)
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		l, err := sqlite.Open(b.Context(), path, nil)
		if err != nil {
			b.Fatal(err)
		}
		if got, err := l.Open(b.Context(), "", 0); err != nil || len(got) != 1000 {
			b.Fatal(len(got), err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHook is what a short-lived process does with the log: open it,
// append one batch, close it.
func BenchmarkHook(b *testing.B) {
	path, m := place(b), storetest.NewMaker(1)
	open(b, path, nil).Close()
	for b.Loop() {
		l, err := sqlite.Open(b.Context(), path, nil)
		if err != nil {
			b.Fatal(err)
		}
		_, asked := m.Request(storetest.Wish{})
		if _, err := l.Append(b.Context(), asked); err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
