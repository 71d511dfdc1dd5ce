package saysotest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
)

var _ = promised(
	promise{"Requests", listed},
	promise{"Request/by any id", byAnyID},
	promise{"rights", rights},
	promise{"Answer/the first stands", firstStands},
	promise{"Answer/names what was shown", namesWhatWasShown},
	promise{"Answer/words", words},
	promise{"Answer/eight at once", eightAtOnce},
	promise{"AnswerGroup", groups},
	promise{"Follow/goes on at the head and resumes", follow},
	promise{"Follow/what was asked for", followSelects},
)

func listed(h *house) {
	var want []sayso.ID
	for i := range 5 {
		a := asks(fmt.Sprint("c", i), fmt.Sprint("make ", i))
		a.Call.GroupID = fmt.Sprint("g", i%2)
		if i == 4 {
			a.Call.Session = "s2"
		}
		want = append(want, h.parked(a).ID)
	}
	h.approved("c9")
	for name, c := range map[string]struct {
		q    sayso.RowQuery
		want []sayso.ID
	}{
		"open, the oldest first":  {sayso.RowQuery{States: sayso.OpenStates()}, want},
		"parked":                  {sayso.RowQuery{States: []sayso.State{sayso.StateParked}}, want},
		"open, and not parked":    {sayso.RowQuery{States: []sayso.State{sayso.StateOpen}}, nil},
		"of a session":            {sayso.RowQuery{States: sayso.OpenStates(), Session: "s2"}, want[4:]},
		"of a group":              {sayso.RowQuery{States: sayso.OpenStates(), Group: "g1"}, []sayso.ID{want[1], want[3]}},
		"of a call":               {sayso.RowQuery{States: sayso.OpenStates(), Session: "s1", CallID: "c2"}, want[2:3]},
		"by a call":               {sayso.RowQuery{CallID: "c4"}, want[4:]},
		"by no call":              {sayso.RowQuery{CallID: "c"}, nil},
		"the first two":           {sayso.RowQuery{States: sayso.OpenStates(), Limit: 2}, want[:2]},
		"of no session":           {sayso.RowQuery{States: sayso.OpenStates(), Session: "s9"}, nil},
		"newest first, by a tool": {sayso.RowQuery{Tool: toolAsks, Limit: 2}, []sayso.ID{want[4], want[3]}},
	} {
		rs, err := h.owner.Requests(h.ctx, c.q)
		h.must(err)
		var got []sayso.ID
		for _, r := range rs {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, c.want) {
			h.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	r := h.request(want[0])
	if r.Version != 1 || r.ShortID != want[0].Short() || r.SessionID != "s1" || r.CallID != "c0" || r.GroupID != "g0" ||
		r.Tool != toolAsks || r.Kind != sayso.KindShell || r.Cwd != "/home/dev" || string(r.Preview) != `{"command":"make 0"}` ||
		r.Digest.IsZero() || r.Content.IsZero() || r.Rule != "for tests" || r.Requirement.Count != 1 ||
		r.Deadline == nil || r.RemainingS == nil || *r.RemainingS <= 0 || *r.RemainingS > 3600 {
		h.Errorf("a request is shown as %+v", r)
	}
}

func byAnyID(h *house) {
	r := h.parked(asks("c1", "make"))
	for _, typed := range []string{string(r.ID), r.ShortID, string(r.ID[10:22])} {
		if got, err := h.owner.Request(h.ctx, typed); err != nil || got.ID != r.ID {
			h.Errorf("%q: got %s, %v", typed, got.ID, err)
		}
	}
	_, err := h.owner.Request(h.ctx, "zzzz")
	h.want("what nothing is called", err, sayso.ErrNotFound)
	_, err = h.owner.Request(h.ctx, string(sayso.NewID(time.Now(), [16]byte{1})))
	h.want("an unknown id", err, sayso.ErrNotFound)
	_, err = h.owner.Content(h.ctx, sayso.NewID(time.Now(), [16]byte{1}))
	h.want("an unknown id", err, sayso.ErrNotFound)
	h.parked(asks("c2", "make clean"))
	_, err = h.owner.Request(h.ctx, string(r.ID[:4])) // it begins with the time
	h.want("what two are called", err, sayso.ErrConflict)
}

func rights(h *house) {
	r := h.parked(asks("c1", "make"))
	for _, c := range []struct {
		who                   sayso.Actor
		looks, reads, answers bool
	}{
		{suiteOwner, true, true, true}, {suiteHelper, true, true, true}, {suiteAdmin, true, true, true},
		{suiteLooker, true, false, false}, {suiteAgent, true, false, false},
		{suiteStranger, false, false, false}, {suiteForeign, false, false, false}, {suiteTool, false, false, false},
	} {
		in, name := h.inbox(c.who), c.who.Principal
		may := func(what string, allowed bool, err error) {
			h.Helper()
			if allowed {
				h.want(name+" "+what, err, nil)
			} else {
				h.want(name+" "+what, err, sayso.ErrNotAllowed)
			}
		}
		_, err := in.Request(h.ctx, string(r.ID))
		may("looks", c.looks, err)
		if !c.who.Kind.Asks() { // whether a requester may is not promised
			_, err = in.Life(h.ctx, r.ID)
			may("reads its life", c.looks, err)
		}
		_, err = in.Content(h.ctx, r.ID)
		may("reads all", c.reads, err)
		if rs, err := in.Requests(h.ctx, sayso.RowQuery{States: sayso.OpenStates()}); err != nil || (len(rs) == 1) != c.looks {
			h.Errorf("%s lists %d requests, %v", name, len(rs), err)
		}
		if !c.answers {
			_, err = in.Answer(h.ctx, r.ID, answer(r, sayso.Allow))
			may("answers", false, err)
			if !c.who.Kind.Asks() { // requesters have no business there at all
				may("sets policies", false, in.SetPolicies(h.ctx, "s1", map[string]sayso.Effect{toolAsks: sayso.Allow}))
			}
		}
	}
	if now := h.request(r.ID); now.State != sayso.StateParked {
		h.Errorf("the request is %s", now.State)
	}
	foreign := h.gate(suiteForeign)
	_, err := foreign.Admit(h.ctx, impatient(asks("f1", "make")))
	h.want("a call in a session of another owner", err, sayso.ErrNotAllowed)
	h.want("beginning it", foreign.Begin(h.ctx, "s1", ""), sayso.ErrNotAllowed)
	h.want("ending it", foreign.End(h.ctx, "s1"), sayso.ErrNotAllowed)
	_, err = h.inbox(suiteHelper).Answer(h.ctx, r.ID, answer(r, sayso.Allow))
	h.must(err)
}

func firstStands(h *house) {
	_, r := h.opened(asks("c1", "make"))
	first := h.says(r, sayso.Allow)
	again := h.says(r, sayso.Allow)
	if again.Effect != sayso.Allow || !again.At.Equal(first.At) || again.Who() != "owner" {
		h.Errorf("the same again: %+v, first %+v", again, first)
	}
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		d, err := h.inbox(suiteHelper).Answer(h.ctx, r.ID, answer(r, e))
		var decided *sayso.DecidedError
		if !errors.As(err, &decided) || !errors.Is(err, sayso.ErrDecided) || d.Allowed() {
			h.Fatalf("%s: got %+v, %v", e, d, err)
		}
		if got := decided.Decision; got.Effect != sayso.Allow || got.Who() != "owner" || !got.At.Equal(first.At) {
			h.Errorf("%s: told %+v", e, got)
		}
	}
	_, err := h.owner.Answer(h.ctx, r.ID, answer(r, sayso.Deny))
	h.want("another answer of the same person", err, sayso.ErrDecided)
	h.lived(r.ID, sayso.EventRequested, sayso.EventAnswered, sayso.EventResolved,
		sayso.EventAnswerRefused, sayso.EventAnswerRefused, sayso.EventAnswerRefused)
}

func namesWhatWasShown(h *house) {
	w, r := h.opened(asks("c1", "make"))
	other := sayso.HashOf("another")
	for _, a := range []sayso.Answer{
		{Effect: sayso.Allow, Digest: other, Content: r.Content}, {Effect: sayso.Allow, Digest: r.Digest, Content: other},
		{Effect: sayso.Deny, Digest: other, Content: other},
	} {
		_, err := h.owner.Answer(h.ctx, r.ID, a)
		h.want("about something else", err, sayso.ErrMismatch)
	}
	if !w.waits() {
		h.Error("it was decided")
	}
}

func words(h *house) {
	w, r := h.opened(asks("c1", "make"))
	for name, a := range map[string]sayso.Answer{
		"ask":                {Effect: sayso.Ask},
		"an unknown scope":   {Effect: sayso.Allow, Scope: "forever"},
		"an unknown cover":   {Effect: sayso.Allow, Scope: sayso.ScopeSession, Cover: "everything"},
		"uses of a once":     {Effect: sayso.Allow, Uses: 3},
		"a remembered no":    {Effect: sayso.Deny, Scope: sayso.ScopeSession},
		"arguments of a no":  {Effect: sayso.Deny, Args: sayso.Args(`{}`)},
		"a remembered edit":  {Effect: sayso.Allow, Scope: sayso.ScopeSession, Args: sayso.Args(`{}`)},
		"a note of a novel":  {Effect: sayso.Deny, Note: string(make([]byte, 5000))},
		"an age before time": {Effect: sayso.Allow, Scope: sayso.ScopeSession, For: -time.Hour},
	} {
		a.Digest, a.Content = r.Digest, r.Content
		if name == "a note of a novel" {
			a.Note = fmt.Sprintf("%05000d", 0)
		}
		_, err := h.owner.Answer(h.ctx, r.ID, a)
		h.want(name, err, sayso.ErrInvalid)
	}
	_, err := h.owner.Answer(h.ctx, sayso.NewID(time.Now(), [16]byte{1}), answer(r, sayso.Allow))
	h.want("an unknown request", err, sayso.ErrNotFound)
	if !w.waits() {
		h.Error("it was decided")
	}
}

func eightAtOnce(h *house) {
	w, r := h.opened(asks("c1", "make"))
	told := make([]sayso.Decision, 8)
	all(8, func(i int) {
		in := h.inbox([]sayso.Actor{suiteOwner, suiteHelper, suiteAdmin}[i%3])
		d, err := in.Answer(h.ctx, r.ID, answer(r, []sayso.Effect{sayso.Allow, sayso.Deny}[i%2]))
		var decided *sayso.DecidedError
		if errors.As(err, &decided) {
			d = decided.Decision
		} else if err != nil {
			h.Error(err)
		}
		told[i] = d
	})
	d, err := w.result()
	h.must(err)
	for _, o := range told {
		if o.Effect != d.Effect || o.Who() != d.Who() {
			h.Errorf("somebody was told %s by %s, the caller %s by %s", o.Effect, o.Who(), d.Effect, d.Who())
		}
	}
}

func groups(h *house) {
	var rs []sayso.Request
	for i := range 3 {
		a := asks(fmt.Sprint("c", i), fmt.Sprint("make ", i))
		a.Call.GroupID = "g1"
		rs = append(rs, h.parked(a))
	}
	member := func(r sayso.Request) sayso.Member {
		return sayso.Member{ID: r.ID, Digest: r.Digest, Content: r.Content}
	}
	wrong := member(rs[1])
	wrong.Digest = rs[0].Digest
	results, err := h.owner.AnswerGroup(h.ctx, "g1", []sayso.Member{member(rs[0]), wrong}, sayso.Answer{Effect: sayso.Allow})
	h.must(err)
	if len(results) != 2 || results[0].ID != rs[0].ID || results[0].Err != nil || !results[0].Decision.Allowed() {
		h.Fatalf("got %+v", results)
	}
	h.want("another digest", results[1].Err, sayso.ErrMismatch)
	for i, want := range []sayso.State{sayso.StateAllowed, sayso.StateParked, sayso.StateParked} {
		if got := h.request(rs[i].ID).State; got != want {
			h.Errorf("member %d is %s, want %s", i, got, want)
		}
	}
	_, err = h.owner.AnswerGroup(h.ctx, "g1", nil, sayso.Answer{Effect: sayso.Allow})
	h.want("no members", err, sayso.ErrInvalid)
}

func follow(h *house) {
	ctx, stop := context.WithCancel(h.ctx)
	seen := make(chan sayso.Event, 100)
	ended := make(chan error, 1)
	go func() { // ends with its context
		for e, err := range h.owner.Follow(ctx, 0, sayso.EventQuery{}) {
			if err != nil {
				ended <- err
				return
			}
			seen <- e
		}
		ended <- nil
	}()
	h.Cleanup(stop)
	r := h.parked(asks("c1", "make"))
	next := func(want sayso.EventType) sayso.Event {
		h.Helper()
		select {
		case e := <-seen:
			if e.Type != want {
				h.Fatalf("got %s, want %s", e.Type, want)
			}
			return e
		case <-h.ctx.Done():
			h.Fatalf("%s never came", want)
		}
		return sayso.Event{}
	}
	first := next(sayso.EventSessionStarted)
	e := next(sayso.EventRequested)
	if in, err := sayso.RequestIn(&e); err != nil || in.ID != r.ID || in.Digest != r.Digest || e.CallID != "c1" || e.Actor.Principal != "agent" {
		h.Errorf("the event is %+v, its request %+v, %v", e, in, err)
	}
	parked := next(sayso.EventParked)
	if first.Seq >= e.Seq || e.Seq >= parked.Seq || parked.Prev.IsZero() || parked.Hash.IsZero() {
		h.Errorf("the places are %d, %d, %d", first.Seq, e.Seq, parked.Seq)
	}
	h.says(r, sayso.Deny) // while it waits at the head
	next(sayso.EventAnswered)
	last := next(sayso.EventResolved)
	head, err := h.owner.Head(h.ctx)
	if err != nil || head.Seq != last.Seq || head.Hash != last.Hash {
		h.Errorf("the head is %+v, %v, want %d", head, err, last.Seq)
	}
	stop()
	h.want("the end", <-ended, context.Canceled)
	var got []sayso.EventType
	for e, err := range h.owner.Follow(h.ctx, parked.Seq, sayso.EventQuery{}) {
		h.must(err)
		if got = append(got, e.Type); len(got) == 2 {
			break
		}
	}
	if fmt.Sprint(got) != "[approval.answered approval.resolved]" {
		h.Errorf("resumed with %v", got)
	}
}

func followSelects(h *house) {
	r1 := h.parked(asks("c1", "make"))
	a := asks("c2", "make")
	a.Call.Session = "s2"
	h.parked(a)
	foreign := asks("c3", "make")
	foreign.Call.Session = "s3"
	_, err := h.gate(suiteForeign).Admit(h.ctx, impatient(foreign))
	h.want("foreign", err, sayso.ErrPending)
	h.must(h.inbox(suiteAdmin).SetMode(h.ctx, "", sayso.ModeStrict, time.Hour)) // everybody sees the end
	check := func(name string, who sayso.Actor, q sayso.EventQuery, want string) {
		ctx, stop := context.WithCancel(h.ctx)
		defer stop()
		got := ""
		linger := func() { // is there more to come than what is wanted?
			if got == want {
				time.AfterFunc(10*moment, stop)
			}
		}
		linger()
		for e, err := range h.inbox(who).Follow(ctx, 0, q) {
			if err != nil {
				break
			}
			got += e.SessionID + ":" + string(e.Type) + " "
			linger()
		}
		if got != want {
			h.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	cases := []struct {
		name string
		who  sayso.Actor
		q    sayso.EventQuery
		want string
	}{
		{"a session", suiteOwner, sayso.EventQuery{Session: "s2"}, "s2:session.started s2:approval.requested s2:approval.parked "},
		{"a type", suiteOwner, sayso.EventQuery{Types: []sayso.EventType{sayso.EventParked}}, "s1:approval.parked s2:approval.parked "},
		{"two types", suiteStranger, sayso.EventQuery{Types: []sayso.EventType{sayso.EventParked, sayso.EventModeChanged}}, "s3:approval.parked :mode.changed "},
		{"a request", suiteOwner, sayso.EventQuery{Request: r1.ID}, "s1:approval.requested s1:approval.parked "},
		{"its own", suiteForeign, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested, sayso.EventParked}}, "s3:approval.requested s3:approval.parked "},
		{"another's session", suiteStranger, sayso.EventQuery{Session: "s1"}, ""},
	}
	all(len(cases), func(i int) { c := cases[i]; check(c.name, c.who, c.q, c.want) })
}
