package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/filelock"
	"github.com/sayso-dev/sayso/redact"
)

// Options are what an outbox works with. Folder, Inbox, Targets, Link and
// Redactor are required.
type Options struct {
	// Folder is where it is kept what could not be delivered yet.
	Folder string
	// Inbox is what is told of.
	Inbox sayso.Inbox
	// Targets says who is told, now. An error leaves those who were told before.
	Targets func() ([]Target, error)
	// Link is where a person finds a request; empty for nowhere.
	Link func(sayso.ID) string
	// Redactor hides secrets in what is told.
	Redactor func() *redact.Redactor
	// Chat sends a text to a shoutrrr address; nil if there is none to do so. Its
	// error should be a [*Failure], and its text must not name the address.
	Chat func(ctx context.Context, address, text string) error
	// Log gets a line for each notice that is given up; nil for none.
	Log *slog.Logger
	// Now is the clock; nil for that of the system.
	Now func() time.Time
}

// Outbox sends notices.
type Outbox struct {
	o      Options
	book   book
	client *http.Client
	tick   time.Duration // between two looks at what others may have changed
	most   int           // letters to one target that are tried again and again
	asked  asked

	mu      sync.Mutex // guards what follows
	targets map[string]Target
	counts  map[string]*Count
}

// Count is what became of the notices to one target since this process began.
type Count struct {
	Target             string
	Gone               bool // the policy names it no more
	Sent, Failed, Died int  // notices that were delivered, attempts that were not, notices given up
	Dropped            int  // notices that are kept no more, and were not delivered
	Waiting, Dead      int  // that are kept now
}

// New returns an outbox. It does nothing until [Outbox.Run].
func New(o Options) *Outbox {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Outbox{o: o, book: book{o.Folder}, client: newClient(), tick: 2 * time.Second, most: 500, targets: map[string]Target{}, counts: map[string]*Count{}}
}

// Run sends what there is to send until ctx ends. Where another process sends
// already it waits for that one to end.
func (o *Outbox) Run(ctx context.Context) {
	for told := ""; ctx.Err() == nil; pause(ctx, o.tick) {
		err := o.lead(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, filelock.ErrHeld) {
			told = ""
		} else if err.Error() != told {
			told = err.Error()
			o.o.Log.Error("notices are not sent", "error", err)
		}
	}
}

// lead sends while this process holds the lock.
func (o *Outbox) lead(ctx context.Context) error {
	if _, err := o.refresh(); err != nil {
		return err
	}
	if len(o.names()) == 0 {
		if p, err := o.book.read(); err != nil || len(p.Targets) == 0 {
			return err
		}
	}
	if err := os.MkdirAll(o.book.folder, 0o700); err != nil {
		return err
	}
	lock, err := filelock.Try(o.book.sender(), filelock.Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // nothing was written to it
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	for {
		if err := o.settle(ctx); err != nil {
			return err
		}
		if len(o.names()) == 0 {
			return nil
		}
		inner, stop := context.WithCancel(ctx)
		for _, name := range o.names() {
			wg.Go(func() { o.carry(inner, name) }) // ends with inner
		}
		again := o.changed(ctx)
		stop()
		wg.Wait()
		if !again {
			return ctx.Err()
		}
	}
}

// changed waits until other targets are told than now; false if ctx ended.
func (o *Outbox) changed(ctx context.Context) bool {
	for looked := o.o.Now(); pause(ctx, o.tick); {
		other, err := o.refresh()
		if err == nil && other {
			return true
		}
		if now := o.o.Now(); now.Sub(looked) >= time.Hour {
			looked = now
			if err := o.part(ctx); err != nil {
				o.o.Log.Error("notices of targets that are gone cannot be dropped", "error", err)
			}
		}
	}
	return false
}

// refresh takes over who is told now, and reports whether the names are others.
func (o *Outbox) refresh() (other bool, err error) {
	list, err := o.o.Targets()
	if err != nil {
		return false, err
	}
	targets := map[string]Target{}
	for _, t := range list {
		targets[t.Name] = t
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	before := slices.Sorted(maps.Keys(o.targets))
	o.targets = targets
	return !slices.Equal(before, slices.Sorted(maps.Keys(targets))), nil
}

// Refresh looks who is told now, for a process that lists and does not send.
func (o *Outbox) Refresh() error {
	_, err := o.refresh()
	return err
}

func (o *Outbox) names() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.targets))
}

func (o *Outbox) target(name string) (Target, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, ok := o.targets[name]
	return t, ok
}

// count counts what became of a notice.
func (o *Outbox) count(name string, f func(*Count)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts[name] == nil {
		o.counts[name] = &Count{Target: name}
	}
	f(o.counts[name])
}

// settle begins with targets that are new, at the end of the log, and parts with
// those that are told no more.
func (o *Outbox) settle(ctx context.Context) error {
	head, err := o.o.Inbox.Head(ctx)
	if err != nil {
		return err
	}
	names := o.names()
	return o.change(ctx, func(p *page) error {
		for _, name := range names {
			s := p.shelf(name, head.Seq)
			s.Seq = min(s.Seq, head.Seq) // the log was restored from a backup
		}
		p.part(names, o.o.Now())
		return nil
	})
}

// part forgets those who were told no more for long.
func (o *Outbox) part(ctx context.Context) error {
	names := o.names()
	return o.change(ctx, func(p *page) error { p.part(names, o.o.Now()); return nil })
}

// change changes the book. What had to go without having been delivered is
// counted, and the log has it.
func (o *Outbox) change(ctx context.Context, f func(*page) error) error {
	var dropped map[string]int
	err := o.book.change(ctx, func(p *page) error {
		err := f(p)
		p.trim()
		dropped = p.dropped
		return err
	})
	if err != nil {
		return err
	}
	for name, n := range dropped {
		o.count(name, func(c *Count) { c.Dropped += n })
		o.o.Log.Warn("notices that were not delivered are kept no more", "target", name, "notices", n)
	}
	return nil
}

// Letters lists what could not be delivered yet and what was given up, the
// oldest first.
func (o *Outbox) Letters() ([]Letter, error) {
	p, err := o.book.read()
	if err != nil {
		return nil, err
	}
	var list []Letter
	for _, s := range p.Targets {
		for _, l := range s.Letters {
			l.Gone = !s.Gone.IsZero()
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b Letter) int { return compare(a.ID, b.ID) })
	return list, nil
}

func compare(a, b sayso.ID) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Retry has letters tried again, from the first attempt on, by whoever sends.
// It is [sayso.ErrNotFound] if none is selected whose target is told.
func (o *Outbox) Retry(ctx context.Context, selected func(Letter) bool) ([]Letter, error) {
	var found []Letter
	err := o.change(ctx, func(p *page) error {
		for _, s := range p.Targets {
			for i := range s.Letters {
				if l := &s.Letters[i]; s.Gone.IsZero() && selected(*l) {
					l.Dead, l.Attempts, l.Next = false, 0, o.o.Now()
					found = append(found, *l)
				}
			}
		}
		if len(found) == 0 {
			return fmt.Errorf("%w: no notice like that is kept for a target that the policy names", sayso.ErrNotFound)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Counts says what became of the notices to each target.
func (o *Outbox) Counts() []Count {
	counts := map[string]Count{}
	o.mu.Lock()
	for name, c := range o.counts {
		gone := *c
		gone.Gone = true
		counts[name] = gone
	}
	for name := range o.targets {
		c := counts[name]
		c.Target, c.Gone = name, false
		counts[name] = c
	}
	o.mu.Unlock()
	p, err := o.book.read()
	if err != nil {
		p = page{} // what is kept is not known; the log tells why
	}
	for name, s := range p.Targets {
		c := counts[name]
		c.Target, c.Gone, c.Waiting = name, !s.Gone.IsZero(), waiting(s.Letters)
		c.Dead = len(s.Letters) - c.Waiting
		counts[name] = c
	}
	return slices.SortedFunc(maps.Values(counts), func(a, b Count) int { return compare(sayso.ID(a.Target), sayso.ID(b.Target)) })
}

// pause waits; false if ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
