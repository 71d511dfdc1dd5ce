package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// alike is how values of the log are compared.
var alike = cmp.Options{
	cmpopts.EquateEmpty(),
	cmp.FilterValues(func(a, b []byte) bool { return len(a)+len(b) > 0 }, cmp.Comparer(bytes.Equal)),
	cmp.Comparer(func(a, b sayso.Moment) bool {
		return a.Wall.Equal(b.Wall) && a.Boot == b.Boot && a.Since == b.Since
	}),
	cmp.Comparer(func(a, b sayso.Digest) bool { return a == b }),
}

// Begin is the time at which a [Maker]'s clock starts. It goes on by a second
// and a bit at each event.
var Begin = time.Date(2026, 11, 20, 14, 47, 28, 310_000_000, time.UTC)

// Maker makes batches such as a broker appends. Makers with the same seed make
// the same ones. It may be used from many goroutines.
type Maker struct {
	mu      sync.Mutex // guards what follows
	rand    *rand.Rand
	n       int
	digests map[sayso.ID]sayso.Digest // of the calls that were asked about
}

// NewMaker returns a maker.
func NewMaker(seed uint64) *Maker {
	return &Maker{rand: rand.New(rand.NewPCG(seed, 1)), digests: map[sayso.ID]sayso.Digest{}}
}

// ID makes an id that none made by this maker equals.
func (m *Maker) ID() sayso.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	var random [16]byte
	for i := range random {
		random[i] = byte(m.rand.Uint32())
	}
	return sayso.NewID(m.now().Wall, random)
}

// Now goes on by a second and a bit and returns what the clock then shows.
func (m *Maker) Now() sayso.Moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	return m.now()
}

func (m *Maker) now() sayso.Moment {
	passed := time.Duration(m.n) * (time.Second + 1001)
	return sayso.Moment{Wall: Begin.Add(passed), Boot: "boot-1", Since: time.Hour + passed}
}

// Wish is what a made request is to be like. What is left zero is made up.
type Wish struct {
	Session, Group, CallID, Tool, Host, Command, Holder string
	Deadline                                            time.Duration
}

var agent = sayso.Actor{Principal: "claude-code/main", Kind: sayso.PrincipalAgent, Channel: "hook"}

// Person is who answers in what a Maker makes.
var Person = sayso.Actor{Principal: "ada", Kind: sayso.PrincipalPerson, Channel: "web"}

// Request makes a request: its first event, with content, and the key of its
// call.
func (m *Maker) Request(w Wish) (sayso.ID, sayso.Batch) {
	id := m.ID()
	w = w.filled(id)
	call := sayso.Call{
		Tool: "Bash", Host: w.Host, Args: text(map[string]string{"command": w.Command}),
		Cwd: "/home/ada/app", Session: w.Session, CallID: w.CallID,
	}
	digest := must(call.Digest())
	m.mu.Lock()
	m.digests[id] = digest
	m.mu.Unlock()
	e := m.event(sayso.RequestStream(id), sayso.EventRequested, sayso.Requested{
		GroupID: w.Group, Host: w.Host, Tool: w.Tool, HostTool: "Bash", Kind: sayso.KindShell,
		Risk: sayso.RiskDestructive, Cause: sayso.CauseRule, Rule: "push needs a person", File: "policy.yaml", Line: 12,
		Span: [2]int{0, 8}, Requirement: sayso.Requirement{Count: 1}, DeadlineNS: int64(w.Deadline), Policy: "p1",
		Mode: sayso.ModeInteractive, Holder: w.Holder,
	}, content(sayso.RequestedShown{
		Caller: "claude-code/main", Cwd: call.Cwd, Description: w.Command, Preview: call.Args, Digest: digest,
		Content: sayso.HashOf("content", call.Args), Fingerprint: digest,
		Covers: []sayso.CoverOffer{{Cover: sayso.CoverCall, Label: "this exact call"}},
	}, sayso.RequestedFull{Args: call.Args}, sayso.RequestedPrivate{Call: call}))
	e.Actor, e.SessionID, e.RunID, e.RequestID, e.CallID = agent, w.Session, "run-1", id, w.CallID
	return id, sayso.Batch{
		Events: []sayso.Event{e},
		Expect: map[string]int{e.Stream: 0},
		Keys:   []sayso.Key{{Name: sayso.CallKey(agent.Principal, w.Session, w.CallID), Stream: e.Stream}},
	}
}

func (w Wish) filled(id sayso.ID) Wish {
	fill := func(s *string, with string) {
		if *s == "" {
			*s = with
		}
	}
	fill(&w.Session, "session-1")
	fill(&w.CallID, "toolu_"+string(id))
	fill(&w.Tool, "bash")
	fill(&w.Host, "claude-code")
	fill(&w.Command, "git push origin "+id.Short())
	return w
}

// Next makes a batch of one more event of a request, made by [Maker.Request],
// that must be at events long. The payload is one of those in package sayso.
func (m *Maker) Next(id sayso.ID, at int, t sayso.EventType, payload any) sayso.Batch {
	e := m.event(sayso.RequestStream(id), t, payload, nil)
	e.RequestID = id
	return sayso.Batch{Events: []sayso.Event{e}, Expect: map[string]int{e.Stream: at}}
}

// Answer makes what a broker appends when a person answers a request that is
// at events long: the answer with its note, and the decision. They are about
// the call that this maker made the request for.
func (m *Maker) Answer(id sayso.ID, at int, effect sayso.Effect, note string) sayso.Batch {
	b := m.Next(id, at, sayso.EventAnswered, sayso.Answered{Effect: effect, Scope: sayso.ScopeOnce})
	m.mu.Lock()
	digest := m.digests[id]
	m.mu.Unlock()
	said := content(sayso.AnsweredShown{Note: note, Digest: digest}, nil, nil)
	b.Events[0].Content, b.Events[0].Salt = said, m.salt()
	resolved := m.event(sayso.RequestStream(id), sayso.EventResolved, sayso.Resolved{
		Effect: effect, Source: sayso.SourcePerson, By: []sayso.Actor{Person}, Cause: sayso.CauseRule, Policy: "p1",
	}, said)
	resolved.RequestID, resolved.Actor, b.Events[0].Actor = id, sayso.BrokerActor, Person
	b.Events = append(b.Events, resolved)
	return b
}

// Grant makes a grant with a key that was given for a request.
func (m *Maker) Grant(session string, request sayso.ID, key sayso.Digest) (sayso.ID, sayso.Batch) {
	id := m.ID()
	e := m.event(sayso.GrantStream(id), sayso.EventGrantCreated, sayso.GrantCreated{
		Request: request, Cover: sayso.CoverCall, Host: "claude-code", Tool: "bash", Policy: "p1",
	}, content(sayso.GrantShown{Label: "this exact call", Key: key}, nil, nil))
	e.SessionID, e.RequestID, e.Actor = session, request, Person
	return id, sayso.Batch{Events: []sayso.Event{e}, Expect: map[string]int{e.Stream: 0}}
}

// Note makes an event on any stream that changes nothing of any request.
func (m *Maker) Note(stream string, at int) sayso.Batch {
	e := m.event(stream, sayso.EventPolicyLoaded, sayso.PolicyLoaded{Policy: "p1"}, nil)
	return sayso.Batch{Events: []sayso.Event{e}, Expect: map[string]int{stream: at}}
}

// Join makes one batch of several.
func Join(batches ...sayso.Batch) sayso.Batch {
	out := sayso.Batch{Expect: map[string]int{}}
	for _, b := range batches {
		out.Events = append(out.Events, b.Events...)
		out.Keys = append(out.Keys, b.Keys...)
		out.Erase = append(out.Erase, b.Erase...)
		for stream, n := range b.Expect {
			out.Expect[stream] = n
		}
	}
	return out
}

func (m *Maker) event(stream string, t sayso.EventType, payload any, c []byte) sayso.Event {
	e := sayso.Event{
		ID: m.ID(), Stream: stream, Type: t, Version: 1, At: m.Now(), Actor: sayso.BrokerActor,
		Payload: text(payload), Content: c,
	}
	if c != nil {
		e.Salt = m.salt()
	}
	return e
}

func (m *Maker) salt() []byte { return []byte(m.ID())[10:] }

// content is the JSON of a Content with these parts; nil leaves one out.
func content(shown, full, private any) []byte {
	part := func(v any) sayso.Args {
		if v == nil {
			return nil
		}
		return text(v)
	}
	return text(sayso.Content{Shown: part(shown), Full: part(full), Private: part(private)})
}

// text is the JSON of v, which is made by this package and always has one.
func text(v any) []byte { return must(jcs.Marshal(v)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("storetest: %v", err))
	}
	return v
}
