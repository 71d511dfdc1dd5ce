package outbox_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/outbox"
)

// ids are the requests that were told of, in order, each as often as it was.
func ids(got []received) (list []string) {
	for _, g := range got {
		list = append(list, string(g.message.Data.Request.ID))
	}
	return list
}

// TestRestart: what happens while nobody sends is told when somebody does again,
// and what was told is not told twice.
func TestRestart(t *testing.T) {
	r := receiving(t, nil)
	w := newWorld(t, hook(r, outbox.None, outbox.Opened))
	w.ask("before", `{}`) // when nobody was told yet
	var want []string
	for round := range 3 {
		o, stop := w.begun()
		for i := range 3 {
			want = append(want, string(w.ask(fmt.Sprint("r", round, i), `{}`).ID))
		}
		sent(t, 3+min(round, 1), o)
		stop()
		want = append(want, string(w.ask(fmt.Sprint("off", round), `{}`).ID))
	}
	w.begun()
	got := ids(r.await(len(want)))
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("told of\n%s\nnot of\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// sent waits until outboxes have sent so many, and kept that they did.
func sent(t *testing.T, n int, all ...*outbox.Outbox) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d sent", n), func() bool {
		sum := 0
		for _, o := range all {
			for _, c := range o.Counts() {
				sum += c.Sent
			}
		}
		return sum >= n
	})
}

// TestInterrupted: an attempt that was under way when the process ended is made
// again under the same id.
func TestInterrupted(t *testing.T) {
	r := receiving(t, func(n int, _ http.ResponseWriter, req *http.Request) {
		if n == 1 {
			<-req.Context().Done()
		}
	})
	w := newWorld(t, hook(r, outbox.None, outbox.Opened))
	_, stop := w.begun()
	w.ask("c1", `{}`)
	r.await(1)
	stop()
	w.begun()
	if got := r.await(2); got[0].id != got[1].id {
		t.Errorf("the ids were %q and %q", got[0].id, got[1].id)
	}
}

// TestOneSends: of several processes on one log one sends, and the next one when
// it ends.
func TestOneSends(t *testing.T) {
	r := receiving(t, nil)
	w := newWorld(t, hook(r, outbox.None, outbox.Opened))
	var all []*outbox.Outbox
	var stops []func()
	for range 3 {
		o, stop := w.begun()
		all, stops = append(all, o), append(stops, stop)
	}
	var want []string
	for i, stop := range stops {
		for j := range 5 {
			want = append(want, string(w.ask(fmt.Sprint("c", i, j), `{}`).ID))
		}
		sent(t, len(want), all...)
		stop()
	}
	if got := ids(r.all()); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("told of\n%v\nnot of\n%v", got, want)
	}
}

// TestSlow: a target that takes nothing delays no other.
func TestSlow(t *testing.T) {
	slow := receiving(t, func(_ int, _ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	fast := receiving(t, nil)
	other := hook(slow, outbox.None, outbox.Opened)
	other.Name = "slow"
	w := newWorld(t, hook(fast, outbox.None, outbox.Opened), other)
	o := w.outbox().Quick(time.Hour)
	stop := w.run(o)
	w.began(o)
	for i := range 20 {
		w.ask(fmt.Sprint("c", i), `{}`)
	}
	fast.await(20)
	if n := len(slow.await(1)); n != 1 {
		t.Errorf("the slow one was sent %d at once", n)
	}
	stop()
}

// TestBound: what waits for one target is bounded. The rest waits in the log, and
// is told once the target takes it.
func TestBound(t *testing.T) {
	var open atomic.Bool
	r := receiving(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		if !open.Load() {
			w.WriteHeader(503)
		}
	})
	w := newWorld(t, hook(r, outbox.None, outbox.Opened))
	o := w.outbox().Quick(time.Minute)
	o.Most(3)
	w.run(o)
	w.began(o)
	var want []string
	for i := range 12 {
		want = append(want, string(w.ask(fmt.Sprint("c", i), `{}`).ID))
	}
	eventually(t, "three letters", func() bool { l, err := o.Letters(); return err == nil && len(l) == 3 })
	r.await(3)
	open.Store(true)
	if _, err := o.Retry(t.Context(), func(outbox.Letter) bool { return true }); err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	eventually(t, "all of them", func() bool {
		if l, err := o.Letters(); err != nil || len(l) > 3 {
			t.Fatalf("%d wait, %v", len(l), err)
		}
		for _, id := range ids(r.all()) {
			told[id] = true
		}
		c := o.Counts()
		return len(told) == len(want) && c[0].Sent == len(want)
	})
}

// TestDead: a notice that is given up is told to those who want to know, and to
// nobody else.
func TestDead(t *testing.T) {
	gone := receiving(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) })
	other := receiving(t, nil)
	lost, told := hook(gone, outbox.None, outbox.Opened, outbox.Dead), hook(other, outbox.None, outbox.Dead)
	lost.Name, told.Name = "lost", "told"
	w := newWorld(t, lost, told)
	w.begun()
	w.ask("c1", `{}`)
	got := other.await(1)
	if n := got[0].message.Data.Notice; got[0].message.Type != "notice.dead" || n == nil || n.Target != "lost" || !strings.Contains(n.Error, "410") {
		t.Errorf("told %s", got[0].text)
	}
	if n := len(gone.all()); n != 1 {
		t.Errorf("the one that is gone was told %d times", n)
	}
}

// TestDead_many: however many notices are given up, one letter says so, and of
// each it is told once; those that are given up while it is under way too.
func TestDead_many(t *testing.T) {
	const before, meanwhile, after = 12, 5, 3
	gone := receiving(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) })
	var open atomic.Bool
	arrived, goOn := make(chan int), make(chan int, 1)
	other := receiving(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if !open.Load() {
			w.WriteHeader(503)
			return
		}
		select {
		case arrived <- n:
			<-goOn
		case <-r.Context().Done():
		}
	})
	lost, told := hook(gone, outbox.None, outbox.Opened), hook(other, outbox.None, outbox.Dead)
	lost.Name, told.Name = "lost", "told"
	w := newWorld(t, lost, told)
	o := w.outbox().Quick(time.Minute)
	w.run(o)
	w.began(o)
	asked := 0
	die := func(n int) {
		for range n {
			asked++
			w.ask(fmt.Sprint("c", asked), `{}`)
		}
		eventually(t, fmt.Sprint(asked, " dead"), func() bool { c := o.Counts(); return c[0].Target == "lost" && c[0].Dead == asked })
	}
	die(before)
	other.await(1)
	kept := func() (n int) {
		list, err := o.Letters()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			if l.Target == "told" {
				n++
			}
		}
		return n
	}
	if n := kept(); n != 1 {
		t.Errorf("%d letters say that %d are dead", n, asked)
	}
	eventually(t, "an attempt", func() bool {
		list, err := o.Letters()
		return err == nil && slices.ContainsFunc(list, func(l outbox.Letter) bool { return l.Target == "told" && l.Attempts > 0 })
	})
	eventually(t, "an attempt", func() bool {
		list, err := o.Letters()
		return err == nil && slices.ContainsFunc(list, func(l outbox.Letter) bool { return l.Target == "told" && l.Attempts > 0 })
	})
	open.Store(true)
	if _, err := o.Retry(t.Context(), func(l outbox.Letter) bool { return l.Target == "told" }); err != nil {
		t.Fatal(err)
	}
	sum, first := 0, <-arrived
	die(meanwhile)
	goOn <- first
	second := <-arrived
	goOn <- second
	die(after)
	for _, n := range []int{first, second} {
		sum += other.all()[n-1].message.Data.Notice.Count
	}
	for sum < asked {
		n := <-arrived
		sum += other.all()[n-1].message.Data.Notice.Count
		goOn <- n
	}
	eventually(t, "an end", func() bool { return kept() == 0 })
	if sum != asked {
		t.Errorf("told of %d, and %d are dead", sum, asked)
	}
}

// named is who is told as long as the names say so, one for each name.
func named(w *world, names *atomic.Pointer[[]string], on ...outbox.Kind) {
	w.targets = func() (list []outbox.Target, err error) {
		for _, name := range *names.Load() {
			list = append(list, outbox.Target{Name: name, On: on, Chat: text("x://")})
		}
		return list, nil
	}
}

// TestChat: a chat is told in words, and not of what no longer waits.
func TestChat(t *testing.T) {
	said := make(chan string, 10)
	w := newWorld(t, outbox.Target{Name: "chat", On: []outbox.Kind{outbox.Opened, outbox.Decided}, Detail: outbox.Preview, Chat: text("x://y")})
	var fails atomic.Bool
	w.chat = chatInto(said, &fails)
	o, _ := w.begun()
	r := w.ask("c1", `{"command":"echo <!channel> @everyone [x](https://evil.example.org) `+"`*_~|"+`"}`)
	got := <-said
	for _, s := range []string{"waits for you: bash", "ticket " + r.ShortID, "https://sayso.example.org/r/" + string(r.ID)} {
		if !strings.Contains(got, s) {
			t.Errorf("%q is not in %s", s, got)
		}
	}
	if first, _, _ := strings.Cut(got, "\nhttps://sayso"); strings.ContainsAny(first, "<>@`*_~|[]") || strings.Contains(first, "://") {
		t.Errorf("a chat would obey %s", first)
	}
	fails.Store(true)
	second := w.ask("c2", `{}`)
	eventually(t, "a letter", func() bool { l, err := o.Letters(); return err == nil && len(l) == 1 })
	fails.Store(false)
	if _, err := w.b.InboxOf(root).Answer(t.Context(), second.ID, sayso.Answer{Digest: second.Digest, Content: second.Content, Note: "@here"}); err != nil {
		t.Fatal(err)
	}
	if got := <-said; !strings.Contains(got, second.ShortID+" (bash) of program (session s1) was denied by root: ＠here") {
		t.Errorf("said %s", got)
	}
	if _, err := o.Retry(t.Context(), func(outbox.Letter) bool { return true }); err == nil {
		eventually(t, "an empty book", func() bool { l, err := o.Letters(); return err == nil && len(l) == 0 })
	}
	if len(said) > 0 {
		t.Errorf("said %s too", <-said)
	}
}

func TestQuiet(t *testing.T) {
	for in, want := range map[string]string{
		"plain words": "plain words", "a\x1b[2Jb": `a`, "a\u202eb": "a", "x\ny": "x", "@here": "＠here", "<@U1>": "‹＠U1›", "http://e": "http：//e",
	} {
		got := outbox.Quiet(in)
		if !strings.HasPrefix(got, want) || strings.ContainsAny(got, "\x1b\n\u202e@<>") {
			t.Errorf("%q became %q", in, got)
		}
	}
	if got := outbox.Quiet(strings.Repeat("x", 5000)); len(got) > 700 || !strings.Contains(got, "4400 characters more") {
		t.Errorf("a long text became %d bytes: %s", len(got), got)
	}
}
