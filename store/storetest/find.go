package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
)

// ids are the ids of the requests whose events Open returned.
func (s *stage) ids(log sayso.Log, session string, limit int) []sayso.ID {
	s.Helper()
	open, err := log.Open(s.ctx, session, limit)
	s.check(err)
	var ids []sayso.ID
	for _, events := range open {
		r, err := sayso.Fold(events)
		s.check(err)
		if !r.State.Open() {
			s.Errorf("open lists a request that is %s", r.State)
		}
		s.same("the events of an open request", events, s.stream(log, events[0].Stream, 0))
		ids = append(ids, r.ID)
	}
	return ids
}

func openList(s *stage) {
	one, two := s.handle(), s.handle()
	var want []sayso.ID
	for i := range 12 {
		id, b := s.Request(Wish{})
		if i%3 == 2 { // the clock went back: the log's order counts
			b.Events[0].At.Wall = b.Events[0].At.Wall.AddDate(-1, 0, 0)
		}
		s.append(one, b)
		want = append(want, id)
	}
	s.same("open requests", s.ids(two, "", 0), want)
	s.append(two, s.Next(want[3], 1, sayso.EventParked, sayso.Parked{Cause: sayso.ParkedPatience}))
	s.append(two, s.Next(want[3], 2, sayso.EventTaken, sayso.Taken{Holder: "lease-2", CallID: "again"}))
	s.append(two, s.Next(want[5], 1, sayso.EventParked, sayso.Parked{Cause: sayso.ParkedLost}))
	s.append(two, s.Next(want[1], 1, sayso.EventAnswerRefused, sayso.AnswerRefused{Why: "mismatch"}))
	s.same("open requests, two of them parked once", s.ids(one, "", 0), want)
	for i, ending := range []int{0, 5, 11} {
		s.append(two, s.endings(want[ending], sayso.AnyLength)[i])
	}
	s.append(one, s.Answer(want[6], 1, sayso.Deny, "no"))
	want = slices.DeleteFunc(slices.Clone(want), func(id sayso.ID) bool {
		return slices.Contains([]sayso.ID{want[0], want[5], want[11], want[6]}, id)
	})
	s.same("open requests after decisions", s.ids(two, "", 0), want)
	id, b := s.Request(Wish{})
	s.append(one, Join(b, s.endings(id, 0)[0]))
	s.same("open requests after one that was decided at once", s.ids(two, "", 0), want)
}

func openLimited(s *stage) {
	log := s.handle()
	want := map[string][]sayso.ID{}
	for i := range 9 {
		session := fmt.Sprint("session-", i%3)
		id, b := s.Request(Wish{Session: session})
		s.append(log, b)
		want[session] = append(want[session], id)
		want[""] = append(want[""], id)
	}
	for session, ids := range want {
		s.same("open requests of "+session, s.ids(log, session, 0), ids)
		s.same("the oldest two of "+session, s.ids(log, session, 2), ids[:2])
		s.same("fewer than a hundred of "+session, s.ids(log, session, 100), ids)
	}
	s.same("open requests of nobody", s.ids(log, "session-", 0), []sayso.ID(nil))
}

// row returns the one row of a request.
func (s *stage) row(log sayso.Log, id sayso.ID) sayso.Row {
	s.Helper()
	rows, err := log.Rows(s.ctx, sayso.RowQuery{})
	s.check(err)
	i := slices.IndexFunc(rows, func(w sayso.Row) bool { return w.ID == id })
	if i < 0 {
		s.Fatalf("request %s has no row", id)
	}
	return rows[i]
}

// rebuilt is the row that a stream's events make.
func (s *stage) rebuilt(events []sayso.Event) sayso.Row {
	s.Helper()
	w, err := sayso.RowOf(&events[0])
	s.check(err)
	for i := range events[1:] {
		s.check(w.Apply(&events[1+i]))
	}
	return w
}

func rowsFollow(s *stage) {
	one, two := s.handle(), s.handle()
	lives := [][]sayso.EventType{
		{},
		{sayso.EventParked},
		{sayso.EventParked, sayso.EventTaken},
		{sayso.EventResolved, sayso.EventRedeemed, sayso.EventFinished},
		{sayso.EventResolved, sayso.EventVoided},
		{sayso.EventExpired},
		{sayso.EventParked, sayso.EventWithdrawn},
		{sayso.EventAnswerRefused},
	}
	payload := map[sayso.EventType]any{
		sayso.EventParked: sayso.Parked{Cause: sayso.ParkedLeft}, sayso.EventTaken: sayso.Taken{Holder: "lease-9", CallID: "c9"},
		sayso.EventResolved: sayso.Resolved{Effect: sayso.Allow, Source: sayso.SourceGrant}, sayso.EventFinished: sayso.Finished{},
	}
	for _, life := range lives {
		id, b := s.Request(Wish{Group: "g1", Deadline: time.Hour, Holder: "lease-1"})
		s.append(one, b)
		for i, t := range life {
			p := payload[t]
			if p == nil {
				p = sayso.Closed{Reason: "for a reason"}
			}
			s.append(two, s.Next(id, i+1, t, p))
			s.same(fmt.Sprintf("the row after %v", life[:i+1]), s.row(one, id), s.rebuilt(s.stream(one, b.Events[0].Stream, 0)))
		}
		s.same(fmt.Sprintf("the row after %v", life), s.row(two, id), s.rebuilt(s.stream(two, b.Events[0].Stream, 0)))
	}
}

func rowsSelect(s *stage) {
	one, two := s.handle(), s.handle()
	wishes := []Wish{
		{Session: "s1", Group: "g1"}, {Session: "s1", Tool: "file-write", Command: "same"}, {Session: "s2", Group: "g1", Host: "codex"},
		{Session: "s2", Command: "same"}, {Session: "s3"}, {Session: "s3", CallID: "toolu_1"}, {Session: "s1", Command: "same"}, {Session: "s4", CallID: "toolu_1"},
	}
	var ids []sayso.ID
	for _, w := range wishes {
		id, b := s.Request(w)
		s.append(one, b)
		ids = append(ids, id)
	}
	s.append(one, s.Answer(ids[0], 1, sayso.Allow, ""))
	s.append(one, s.Next(ids[0], 3, sayso.EventRedeemed, sayso.Redeemed{Policy: "p1"}))
	s.append(one, s.Answer(ids[1], 1, sayso.Allow, ""))
	s.append(one, s.Answer(ids[2], 1, sayso.Deny, ""))
	s.append(one, s.Next(ids[3], 1, sayso.EventParked, sayso.Parked{Cause: sayso.ParkedLeft}))
	s.append(one, s.Next(ids[4], 1, sayso.EventResolved, sayso.Resolved{Effect: sayso.Allow, Source: sayso.SourcePolicy}))
	s.append(one, s.Next(ids[5], 1, sayso.EventExpired, sayso.Closed{Reason: "nobody"}))
	made := func(i int) time.Time { return s.row(one, ids[i]).Created.Wall }
	for _, c := range []struct {
		name string
		q    sayso.RowQuery
		want []int // newest first
	}{
		{"nothing", sayso.RowQuery{}, []int{7, 6, 5, 4, 3, 2, 1, 0}},
		{"session", sayso.RowQuery{Session: "s1"}, []int{6, 1, 0}},
		{"session, oldest first", sayso.RowQuery{Session: "s1", Oldest: true}, []int{0, 1, 6}},
		{"an unknown session", sayso.RowQuery{Session: "s"}, nil},
		{"sessions", sayso.RowQuery{Sessions: []string{"s1", "s4", "none"}}, []int{7, 6, 1, 0}},
		{"session and sessions", sayso.RowQuery{Session: "s2", Sessions: []string{"s1", "s4"}}, nil},
		{"call", sayso.RowQuery{CallID: "toolu_1"}, []int{7, 5}},
		{"call of a session", sayso.RowQuery{Session: "s3", CallID: "toolu_1"}, []int{5}},
		{"open call of a session", sayso.RowQuery{Session: "s4", CallID: "toolu_1", States: sayso.OpenStates()}, []int{7}},
		{"an unknown call", sayso.RowQuery{CallID: "toolu_"}, nil},
		{"group", sayso.RowQuery{Group: "g1"}, []int{2, 0}},
		{"digest", sayso.RowQuery{Digest: s.row(one, ids[6]).Digest}, []int{6, 1}},
		{"tool", sayso.RowQuery{Tool: "file-write"}, []int{1}},
		{"host", sayso.RowQuery{Host: "codex"}, []int{2}},
		{"one state", sayso.RowQuery{States: []sayso.State{sayso.StateParked}}, []int{3}},
		{"states", sayso.RowQuery{States: []sayso.State{sayso.StateOpen, sayso.StateExpired}}, []int{7, 6, 5}},
		{"asked", sayso.RowQuery{Asked: true}, []int{7, 6, 5, 3, 2, 1, 0}},
		{"unspent", sayso.RowQuery{Unspent: true}, []int{7, 6, 4, 3, 1}},
		{"since, that moment included", sayso.RowQuery{Since: made(5)}, []int{7, 6, 5}},
		{"until, that moment excluded", sayso.RowQuery{Until: made(2)}, []int{1, 0}},
		{"between", sayso.RowQuery{Since: made(2), Until: made(4)}, []int{3, 2}},
		{"before", sayso.RowQuery{Before: s.row(one, ids[2]).First}, []int{1, 0}},
		{"all at once", sayso.RowQuery{
			Session: "s1", Group: "g1", Tool: "bash", Host: "claude-code", Asked: true, Since: made(0), Until: made(7),
			Digest: s.row(one, ids[0]).Digest, States: []sayso.State{sayso.StateAllowed}, Before: 99, Limit: 5,
		}, []int{0}},
		{"a name with a wildcard", sayso.RowQuery{Session: "s%"}, nil},
	} {
		rows, err := two.Rows(s.ctx, c.q)
		s.check(err)
		var got []int
		for _, w := range rows {
			got = append(got, slices.Index(ids, w.ID))
		}
		s.same("rows by "+c.name, got, c.want)
	}
}

func rowsPage(s *stage) {
	log := s.handle()
	var batches []sayso.Batch
	for range 105 {
		_, b := s.Request(Wish{})
		batches = append(batches, b)
	}
	events := s.append(log, Join(batches...))
	var got []sayso.ID
	for before := sayso.Seq(0); ; {
		rows, err := log.Rows(s.ctx, sayso.RowQuery{Before: before, Limit: 40})
		s.check(err)
		if len(rows) == 0 {
			break
		}
		for _, w := range rows {
			got, before = append(got, w.ID), w.First
		}
	}
	slices.Reverse(got)
	var want []sayso.ID
	for _, e := range events {
		want = append(want, e.RequestID)
	}
	s.same("the pages", got, want)
	rows, err := log.Rows(s.ctx, sayso.RowQuery{})
	s.check(err)
	s.same("rows without a limit", len(rows), 100)
}

func countCounts(s *stage) {
	one, two := s.handle(), s.handle()
	count := func(session string, since time.Time, open, asked int) {
		s.Helper()
		o, a, err := two.Count(s.ctx, session, since)
		s.check(err)
		s.same(fmt.Sprintf("open and asked of %s since %s", session, since.Format(time.TimeOnly)), []int{o, a}, []int{open, asked})
	}
	var ids []sayso.ID
	for i := range 6 {
		id, b := s.Request(Wish{Session: fmt.Sprint("s", i/4)})
		s.append(one, b)
		ids = append(ids, id)
	}
	third := s.row(one, ids[2]).Created.Wall
	count("s0", Begin, 4, 4)
	count("s0", third, 4, 2)
	count("s0", third.Add(1), 4, 1)
	count("s1", Begin, 2, 2)
	count("s2", Begin, 0, 0)
	s.append(one, s.Answer(ids[2], 1, sayso.Allow, ""))
	s.append(one, s.Next(ids[3], 1, sayso.EventResolved, sayso.Resolved{Effect: sayso.Deny, Source: sayso.SourcePolicy}))
	s.append(one, s.Next(ids[0], 1, sayso.EventParked, sayso.Parked{Cause: sayso.ParkedLeft}))
	count("s0", Begin, 2, 3)
	count("s0", third, 2, 1)
}

func findTyped(s *stage) {
	one, two := s.handle(), s.handle()
	twin := func(last byte) sayso.ID {
		random := [16]byte{0xab, 0xcd, 0xef, 0x01, 15: last}
		return sayso.NewID(Begin, random)
	}
	put := func(id sayso.ID) {
		made, b := s.Request(Wish{})
		for i := range b.Events {
			b.Events[i].Stream, b.Events[i].RequestID = sayso.RequestStream(id), id
		}
		b.Keys, b.Expect = nil, map[string]int{sayso.RequestStream(id): 0}
		_ = made
		s.append(one, b)
	}
	alone := s.ID()
	want := []sayso.ID{twin(8), twin(16), twin(24)}
	for _, id := range []sayso.ID{want[0], alone, want[1], want[2]} {
		put(id)
	}
	find := func(typed string, limit int) []sayso.ID {
		s.Helper()
		ids, err := two.Find(s.ctx, typed, limit)
		s.check(err)
		slices.Sort(ids)
		return ids
	}
	s.same("one by its short id", find(alone.Short(), 10), []sayso.ID{alone})
	s.same("one by more of it", find(string(alone[10:20]), 10), []sayso.ID{alone})
	s.same("one by all of it", find(string(alone), 10), []sayso.ID{alone})
	s.same("three by what they share", find(want[0].Short(), 10), want)
	s.same("three by how they begin", find(string(want[0][:16]), 10), want)
	if got := find(want[0].Short(), 2); len(got) != 2 {
		s.Errorf("a limit of 2 gave %v", got)
	}
	for _, typed := range []string{"", "zzzz", "%", "____", "%%%%", "*", strings.ToUpper(string(alone)), string(alone) + "0", string(alone[11:20])} {
		s.same(fmt.Sprintf("what %q finds", typed), find(typed, 10), []sayso.ID(nil))
	}
}

func grantsLive(s *stage) {
	one, two := s.handle(), s.handle()
	key, other := sayso.HashOf("key"), sayso.HashOf("other")
	make := func(session string, key sayso.Digest) string {
		id, b := s.Grant(session, s.ID(), key)
		s.append(one, b)
		return sayso.GrantStream(id)
	}
	a, b, c := make("s1", key), make("s1", other), make("s2", key)
	grants := func(what string, keys []sayso.Digest, session string, all bool, want ...string) {
		s.Helper()
		got, err := two.Grants(s.ctx, keys, session, all)
		s.check(err)
		s.same("grants "+what, got, want)
	}
	end := func(stream string, at int, t sayso.EventType) {
		s.append(one, sayso.Batch{
			Events: []sayso.Event{s.event(stream, t, sayso.Closed{Reason: "ended"}, nil)}, Expect: map[string]int{stream: at},
		})
	}
	none, only := []sayso.Digest(nil), []sayso.Digest{key}
	both := []sayso.Digest{other, sayso.HashOf("none"), key, other, {}}
	grants("of all", none, "", false, a, b, c)
	grants("by key", only, "", false, a, c)
	grants("by session", none, "s1", false, a, b)
	grants("by both", only, "s1", false, a)
	grants("by several keys", both, "", false, a, b, c)
	grants("by several keys, of a session", both, "s2", false, c)
	grants("by a key that none has", []sayso.Digest{sayso.HashOf("none")}, "", true)
	grants("by no key at all", []sayso.Digest{{}}, "", true)
	s.append(one, sayso.Batch{
		Events: []sayso.Event{s.event(a, sayso.EventGrantUsed, sayso.GrantUsed{Request: s.ID()}, nil)}, Expect: map[string]int{a: 1},
	})
	grants("by key, one used", only, "", false, a, c)
	end(a, 2, sayso.EventGrantRevoked)
	grants("by key, one revoked", only, "", false, c)
	grants("by several keys, one revoked", both, "", false, b, c)
	end(c, 1, sayso.EventGrantEnded)
	grants("by key, one revoked and one ended", only, "", false)
	grants("by key, ended ones too", only, "", true, a, c)
	grants("of all, one live", none, "", false, b)
	grants("of all, ended ones too", none, "", true, a, b, c)
}

func erased(s *stage) {
	one, two := s.handle(), s.handle()
	const secret = "hunter2-hunter2"
	gone, b := s.Request(Wish{Command: "login " + secret})
	stays, kept := s.Request(Wish{Command: "login " + secret})
	key := sayso.HashOf("key")
	_, grant := s.Grant("session-1", gone, key)
	s.append(one, Join(b, kept, s.Answer(gone, 0, sayso.Allow, secret), grant))
	quiet, q := s.Request(Wish{Command: "login again " + secret}) // its own stream does not tell
	s.append(two, q)
	digest := s.row(one, gone).Digest
	if digest.IsZero() {
		s.Fatal("the row has no digest to lose")
	}
	before := s.head(one)
	erase := Join(
		s.Next(gone, 3, sayso.EventContentErased, sayso.ContentErased{Requests: []sayso.ID{gone}, Why: "asked to"}),
		s.Note("broker", 0), sayso.Batch{Erase: []sayso.ID{gone, quiet, s.ID()}},
	)
	s.append(two, erase)
	for _, log := range []sayso.Log{one, two} {
		events := s.all(log)
		s.same("the head", s.head(log), s.verify(events))
		s.same("the head of before", events[before.Seq-1].Hash, before.Hash)
		for _, e := range events {
			if (e.RequestID == gone || e.RequestID == quiet) && (e.Content != nil || e.Salt != nil) {
				s.Errorf("event %d (%s) still has %q and %q", e.Seq, e.Type, e.Content, e.Salt)
			}
			if e.Type == sayso.EventRequested && e.Commitment.IsZero() {
				s.Errorf("event %d lost its commitment", e.Seq)
			}
		}
		s.same("the events of the stream", s.stream(log, b.Events[0].Stream, 0)[0], events[0])
		s.same("the rows' digests", []sayso.Digest{s.row(log, gone).Digest, s.row(log, quiet).Digest}, make([]sayso.Digest, 2))
		rows, err := log.Rows(s.ctx, sayso.RowQuery{Digest: digest})
		s.check(err)
		s.same("rows by the digest", rows, []sayso.Row{s.row(log, stays)})
		grants, err := log.Grants(s.ctx, []sayso.Digest{key}, "", true)
		s.check(err)
		s.same("grants by the key", grants, []string(nil))
		left := s.stream(log, sayso.RequestStream(stays), 0)[0]
		if !strings.Contains(string(left.Content), secret) || s.row(log, stays).Digest.IsZero() {
			s.Error("the content of another request went too")
		}
		r, err := sayso.Fold(s.stream(log, sayso.RequestStream(gone), 0))
		s.check(err)
		s.same("the erased request", []any{r.Erased, r.Description, r.Digest}, []any{true, "", sayso.Digest{}})
	}
	s.conflict(one, erase)
}

func leaseReleased(s *stage) {
	one, two := s.handle(), s.handle()
	held := func(name string) bool {
		s.Helper()
		var answers []bool
		for _, log := range []sayso.Log{one, two} {
			held, err := log.Held(s.ctx, name)
			s.check(err)
			answers = append(answers, held)
		}
		if answers[0] != answers[1] {
			s.Errorf("of lease %s one handle says held: %v, the other %v", name, answers[0], answers[1])
		}
		return answers[0]
	}
	names := map[string]bool{}
	var leases []sayso.Lease
	for i := range 8 {
		lease, err := []sayso.Log{one, two}[i%2].Hold(s.ctx)
		s.check(err)
		if lease.Name() == "" || names[lease.Name()] {
			s.Errorf("lease %d is called %q", i, lease.Name())
		}
		names[lease.Name()] = true
		leases = append(leases, lease)
	}
	for i, lease := range leases {
		if !held(lease.Name()) {
			s.Errorf("lease %s is not held", lease.Name())
		}
		s.check(lease.Release())
		if held(lease.Name()) {
			s.Errorf("lease %s is held after its release", lease.Name())
		}
		if i+1 < len(leases) && !held(leases[i+1].Name()) {
			s.Errorf("the release of one lease freed another")
		}
	}
	for _, name := range []string{"", "nobody", "../" + leases[0].Name(), strings.Repeat("x", 300)} {
		if held, err := one.Held(s.ctx, name); held {
			s.Errorf("a lease that nobody took, %q, is held: %v", name, err)
		}
	}
}

func leaseDies(s *stage) {
	dying, left := s.open(s.T), s.handle()
	lease, err := dying.Hold(s.ctx)
	s.check(err)
	s.check(dying.Close())
	held, err := left.Held(s.ctx, lease.Name())
	if errors.Is(err, sayso.ErrUnavailable) {
		s.Skip("the engine has one handle, which was closed")
	}
	s.check(err)
	if held {
		s.Error("the lease outlived its handle")
	}
}
