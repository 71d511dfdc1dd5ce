package broker_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/sqlite"
)

const day = 24 * time.Hour

// keeping sets for how long content is kept.
func keeping(d time.Duration) func(*harness) { return func(w *harness) { w.opts.KeepContent = d } }

// erasedRequests lists the requests of which nothing but the bare events is left, and
// fails the test for those of which half is.
func (w *harness) erasedRequests() (ids []sayso.ID) {
	w.t.Helper()
	rows, err := w.log.Rows(w.t.Context(), sayso.RowQuery{Oldest: true, Limit: 10_000})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, row := range rows {
		gone, has := 0, 0
		told := false
		for _, e := range w.stream(sayso.RequestStream(row.ID)) {
			if told = told || e.Type == sayso.EventContentErased; e.Content != nil {
				has++
			} else if !e.Commitment.IsZero() {
				gone++
			}
		}
		if whole := has == 0 && gone > 0 && told && row.Digest.IsZero(); whole {
			ids = append(ids, row.ID)
		} else if gone > 0 || told || has == 0 || row.Digest.IsZero() {
			w.t.Errorf("of %s %d contents are gone and %d are there; told of: %v", row.ID.Short(), gone, has, told)
		}
	}
	w.chained()
	return ids
}

// chained verifies the log.
func (w *harness) chained() {
	w.t.Helper()
	var head sayso.Head
	var err error
	for _, e := range w.allEvents() {
		if head, err = e.Verify(head); err != nil {
			w.t.Error(err)
		}
	}
}

// sweepUntilDone sweeps until a sweep has nothing more to do.
func (w *harness) sweepUntilDone() {
	w.t.Helper()
	for range 5 {
		w.sweep()
		pass(time.Minute)
	}
}

// ends are requests that ended in every way there is, and what may still be
// used.
func (w *harness) ends() (ended, lasting map[string]sayso.ID) {
	w.t.Helper()
	ended, lasting = map[string]sayso.ID{}, map[string]sayso.ID{}
	asked := func(name string, a sayso.Admission) sayso.Request {
		a.Call.CallID, a.Call.Args = name, sayso.Args(fmt.Sprintf(`{"command":%q}`, "make "+name))
		w.askAs(w.t.Context(), agent, a)
		pass(time.Second)
		open := w.open()
		return open[len(open)-1]
	}
	for name, do := range map[string]func(sayso.Request){
		"denied":   func(r sayso.Request) { w.answerAsOwner(r.ID, sayso.Deny) },
		"redeemed": func(r sayso.Request) { w.answerAsOwner(r.ID, sayso.Allow) },
		"noted": func(r sayso.Request) {
			a := answer(r, sayso.Deny)
			a.Note = "not on a friday"
			if _, err := w.answer(dev, r.ID, a); err != nil {
				w.t.Fatal(err)
			}
		},
		"withdrawn": func(r sayso.Request) {
			if err := w.b.Gate(agent).Withdraw(w.t.Context(), r.ID, "changed my mind"); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		a := atOnce(name)
		r := asked(name, a)
		do(r)
		ended[name] = r.ID
	}
	lapses := asked("lapses", push(""))
	w.answerAsOwner(lapses.ID, sayso.Allow)
	ended["lapsed"] = lapses.ID
	lasting["open"] = asked("open", push("")).ID
	return ended, lasting
}

func ids(of map[string]sayso.ID) (list []sayso.ID) {
	for _, id := range of {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

func sorted(list []sayso.ID) []sayso.ID {
	slices.Sort(list)
	return list
}

// What ended is erased when it was kept for long enough, by whichever process is
// there then. What is open stays.
func TestRetention_erasesWhatEnded(t *testing.T) {
	bubble(t, within(sayso.Ask, sayso.Deadline{}), func(t *testing.T, w *harness) {
		ended, lasting := w.ends()
		pass(time.Hour) // so that what lapses has
		w.sweepUntilDone()
		pass(29 * day)
		w.restart()
		w.sweepUntilDone()
		if got := w.erasedRequests(); got != nil {
			t.Fatalf("after 29 days %d requests are erased", len(got))
		}
		before := w.request(ended["noted"])
		if before.Decision.Note != "not on a friday" {
			t.Fatalf("got %+v", before)
		}
		pass(day + time.Hour)
		w.sweepUntilDone()
		if diff := cmp.Diff(ids(ended), sorted(w.erasedRequests())); diff != "" {
			t.Errorf("erased (-want +got):\n%s", diff)
		}
		w.restart()
		w.sweepUntilDone()
		if n := w.count(sayso.EventContentErased); n != len(ended) {
			t.Errorf("%d events tell of %d erasures", n, len(ended))
		}
		for _, e := range w.stream(sayso.RequestStream(ended["denied"])) {
			want := fmt.Sprintf(`{"requests":[%q],"why":"kept 30 days"}`, ended["denied"])
			if e.Type == sayso.EventContentErased && (string(e.Payload) != want || e.Actor.Kind != sayso.PrincipalBroker || e.SessionID != "s1") {
				t.Errorf("%s by %+v, want %s", e.Payload, e.Actor, want)
			}
		}
		r := w.request(ended["noted"])
		if !r.Erased || r.Decision == nil || r.Decision.Note != "" || string(r.Preview) == string(before.Preview) || !r.Digest.IsZero() {
			t.Errorf("it still shows %+v", r)
		}
		if _, err := w.b.Inbox(dev).Content(t.Context(), r.ID); !errors.Is(err, sayso.ErrNotFound) {
			t.Errorf("its content: %v", err)
		}
		w.answerAsOwner(lasting["open"], sayso.Allow) // which has all that it takes
	})
}

// A list that was read before does not bring erased content back.
func TestRetention_showsNothingFromMemory(t *testing.T) {
	bubble(t, within(sayso.Ask, sayso.Deadline{}), func(t *testing.T, w *harness) {
		w.ends()
		pass(time.Hour)
		w.sweepUntilDone()
		list := func() []sayso.Request {
			rs, err := w.b.Inbox(dev).Requests(t.Context(), sayso.RowQuery{States: []sayso.State{sayso.StateDenied, sayso.StateAllowed}})
			if err != nil || len(rs) != 4 {
				t.Fatalf("%d requests, %v", len(rs), err)
			}
			return rs
		}
		list()
		pass(31 * day)
		w.sweepUntilDone()
		for _, r := range list() {
			if !r.Erased || r.Description != "" || !r.Digest.IsZero() {
				t.Errorf("it still shows %+v", r)
			}
		}
	})
}

// A grant matches by what its request holds.
func TestRetention_sparesWhatALiveGrantNeeds(t *testing.T) {
	bubble(t, within(sayso.Ask, sayso.Deadline{}), func(t *testing.T, w *harness) {
		w.ask(t.Context(), atOnce("c0"))
		r := w.onlyOpen()
		a := answer(r, sayso.Allow)
		a.Scope, a.For = sayso.ScopeSession, 60*day
		if _, err := w.answer(dev, r.ID, a); err != nil {
			t.Fatal(err)
		}
		for i := range 40 { // it is used each day, so that it lives
			pass(day - time.Hour)
			if d := w.allowed(atOnce(fmt.Sprint("u", i))); d.Source != sayso.SourceGrant {
				t.Fatalf("use %d: %+v", i, d)
			}
			w.sweep()
		}
		if got := w.erasedRequests(); slices.Contains(got, r.ID) || len(got) == 0 {
			t.Fatalf("%d are erased, and what the grant was given for: %v", len(got), slices.Contains(got, r.ID))
		}
		if gs, err := w.b.Inbox(dev).Grants(t.Context(), "s1", false); err != nil || len(gs) != 1 {
			t.Fatalf("%d grants, %v", len(gs), err)
		} else if err := w.b.Inbox(dev).Revoke(t.Context(), gs[0].ID); err != nil {
			t.Fatal(err)
		}
		w.sweepUntilDone()
		if !slices.Contains(w.erasedRequests(), r.ID) {
			t.Error("it is kept after the grant ended")
		}
	})
}

// What the clocks leave in doubt is kept.
func TestRetention_byTheClocks(t *testing.T) {
	for name, c := range map[string]struct {
		passes time.Duration
		step   time.Duration
		boot   bool
		up     time.Duration // since that boot
		before bool          // the clock is set after the process has looked
		erased bool
	}{
		"a month":                                {passes: 31 * day, erased: true},
		"the clock set ahead":                    {passes: day, step: tenYears},
		"the clock set ahead, and a month":       {passes: 31 * day, step: tenYears, erased: true},
		"the clock set back, and a month":        {passes: 31 * day, step: -tenYears},
		"another boot, and a month":              {passes: 31 * day, boot: true, up: 2 * time.Hour, erased: true},
		"another boot a moment ago":              {passes: 31 * day, boot: true, up: time.Minute},
		"another boot, and a day":                {passes: day, boot: true, up: 2 * time.Hour},
		"another boot, set back":                 {passes: 31 * day, boot: true, up: 2 * time.Hour, step: -tenYears},
		"another boot, set ahead while it runs":  {passes: day, boot: true, up: 2 * time.Hour, step: tenYears, before: true},
		"another boot, set ahead, and a new one": {passes: day, boot: true, up: time.Minute, step: tenYears},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Deny), func(t *testing.T, w *harness) {
				if _, err := w.admit(push("c1")); err != nil {
					t.Fatal(err)
				}
				pass(c.passes)
				if c.boot {
					w.clock.reboot("boot-2")
				}
				w.restart()
				if c.before {
					w.sweep()
				}
				w.clock.step(c.step)
				pass(c.up)
				w.sweep()
				pass(2 * time.Minute)
				w.sweep()
				if got := len(w.erasedRequests()); (got == 1) != c.erased {
					t.Errorf("%d are erased", got)
				}
			})
		})
	}
}

// Where the log has seen a later time than the clock shows, across boots nobody
// knows how long ago anything was.
func TestRetention_byAClockThatWasAhead(t *testing.T) {
	bubble(t, always(sayso.Deny), func(t *testing.T, w *harness) {
		if _, err := w.admit(push("c1")); err != nil {
			t.Fatal(err)
		}
		pass(31 * day)
		w.clock.reboot("boot-2")
		pass(2 * time.Hour)
		w.clock.step(tenYears)
		if _, err := w.admit(push("c2")); err != nil {
			t.Fatal(err)
		}
		w.clock.step(-tenYears)
		w.restart()
		w.sweepUntilDone()
		if got := w.erasedRequests(); got != nil {
			t.Errorf("%d are erased", len(got))
		}
	})
}

// An approval that nobody recorded the end of is not erased with it.
func TestRetention_sparesWhatIsNotSpent(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		d := w.allowed(push("c1"))
		pass(time.Minute)
		w.sweep()
		if got := w.erasedRequests(); got != nil {
			t.Errorf("%d are erased", len(got))
		}
		if err := w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("c1").Call); err != nil {
			t.Error(err)
		}
		pass(retryPause)
		w.sweep()
		if got := w.erasedRequests(); len(got) != 1 {
			t.Errorf("%d are erased, want the one", len(got))
		}
	}, keeping(time.Second))
}

// One sweep erases so many at most, in one append or two, and the next one goes
// on.
func TestRetention_aFewAtATime(t *testing.T) {
	bubble(t, always(sayso.Deny), func(t *testing.T, w *harness) {
		for i := range 250 {
			if _, err := w.admit(push(fmt.Sprint("c", i))); err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Hour)
		last := 0
		for len(w.erasedRequests()) < 250 {
			w.sweep()
			n := len(w.erasedRequests())
			if n == last || n-last >= 200 {
				t.Fatalf("a sweep erased %d", n-last)
			}
			last = n
			pass(retryPause)
		}
		if n := w.count(sayso.EventContentErased); n != 250 {
			t.Errorf("%d events tell of 250 erasures", n)
		}
	}, keeping(time.Hour))
}

// retryPause is more than a sweep leaves to the next one.
const retryPause = 2 * time.Minute

// However long the log is, all of it gets its turn, though one sweep looks at
// few: here the old ones lie under more than that.
func TestRetention_goesRound(t *testing.T) {
	bubble(t, always(sayso.Deny), func(t *testing.T, w *harness) {
		admit := func(n int) {
			for i := range n {
				if _, err := w.admit(push(fmt.Sprint(time.Now().Unix(), " ", i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		admit(10)
		pass(time.Hour - 10*time.Minute)
		admit(2300)
		pass(11 * time.Minute)
		for range 4 {
			w.sweep()
			pass(retryPause)
		}
		if n := len(w.erasedRequests()); n != 10 {
			t.Errorf("%d of 10 are erased", n)
		}
	}, keeping(time.Hour))
}

func TestRetention_forEver(t *testing.T) {
	bubble(t, always(sayso.Deny), func(t *testing.T, w *harness) {
		if _, err := w.admit(push("c1")); err != nil {
			t.Fatal(err)
		}
		pass(10 * 365 * day)
		w.sweepUntilDone()
		if got := w.erasedRequests(); got != nil {
			t.Errorf("%d are erased", len(got))
		}
	}, keeping(-1))
}

func TestRetention_saysForHowLong(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "kept 30 days", day: "kept 1 day", 90 * time.Minute: "kept 1h30m0s"} {
		bubble(t, always(sayso.Deny), func(t *testing.T, w *harness) {
			d, err := w.admit(push("c1"))
			if err != nil {
				t.Fatal(err)
			}
			pass(31 * day)
			w.sweep()
			if got := w.lastPayload(sayso.EventContentErased); got != fmt.Sprintf(`{"requests":[%q],"why":%q}`, d.Request, want) {
				t.Errorf("recorded %s", got)
			}
		}, keeping(d))
	}
}

// Two processes that sweep at once tell of one erasure.
func TestRetention_byTwo(t *testing.T) {
	bubble(t, always(sayso.Deny), func(t *testing.T, w *harness) {
		for i := range 20 {
			if _, err := w.admit(push(fmt.Sprint("c", i))); err != nil {
				t.Fatal(err)
			}
		}
		pass(31 * day)
		other, err := broker.New(w.log, w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		done := make(chan error)
		go func() { done <- other.Sweep(t.Context()) }()
		w.sweep()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := w.count(sayso.EventContentErased); n != 20 || len(w.erasedRequests()) != 20 {
			t.Errorf("%d events tell of %d erasures", n, len(w.erasedRequests()))
		}
	})
}

// On disk, the log verifies afterwards, also where part of it was archived.
func TestRetention_onDisk(t *testing.T) {
	log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "home", "log.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	b, err := broker.New(log, always(sayso.Deny), &broker.Options{
		Now: func() sayso.Moment { return sayso.Moment{Wall: now} }, KeepContent: 7 * day,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(b.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	}()
	for i := range 3 {
		if _, err := b.Gate(agent).Admit(t.Context(), push(fmt.Sprint("c", i))); err != nil {
			t.Fatal(err)
		}
		if now = now.Add(3 * day); i == 1 {
			if a, err := log.Archive(t.Context(), now); err != nil || a.Moved == 0 {
				t.Fatalf("archived %+v, %v", a, err)
			}
		}
	}
	if err := b.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := log.Verify(t.Context(), nil)
	if err != nil || r.Err() != nil || r.Erased != 1 || r.Segments != 1 {
		t.Errorf("verified %+v, %v", r, err)
	}
	if err := log.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err = log.Verify(t.Context(), nil); err != nil || r.Err() != nil {
		t.Errorf("verified %+v, %v", r, err)
	}
	events, err := log.Since(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if old := e.CallID == "c0"; (e.Content == nil) != old && !e.Commitment.IsZero() {
			t.Errorf("event %d of %s has content: %v", e.Seq, e.CallID, e.Content != nil)
		}
	}
}
