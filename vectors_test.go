package sayso_test

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/store/storetest"
)

// eventVector is an event as testdata/vectors has it: with its content, and
// with texts where bytes matter.
type eventVector struct {
	Seq        sayso.Seq           `json:"seq"`
	ID         sayso.ID            `json:"id"`
	Stream     string              `json:"stream"`
	Pos        int                 `json:"pos"`
	Type       sayso.EventType     `json:"type"`
	Version    int                 `json:"version"`
	Wall       time.Time           `json:"wall"`
	Boot       string              `json:"boot"`
	SinceNS    int64               `json:"since_ns"`
	Principal  string              `json:"principal"`
	Kind       sayso.PrincipalKind `json:"kind"`
	Channel    string              `json:"channel"`
	Session    string              `json:"session"`
	Run        string              `json:"run"`
	Request    sayso.ID            `json:"request"`
	CallID     string              `json:"call_id"`
	Payload    string              `json:"payload"`
	Content    string              `json:"content"` // empty for none
	Salt       string              `json:"salt"`    // hexadecimal
	Commitment sayso.Digest        `json:"commitment"`
	Prev       sayso.Digest        `json:"prev"`
	Hash       sayso.Digest        `json:"hash"`
}

func vectorOf(e sayso.Event) eventVector {
	return eventVector{
		e.Seq, e.ID, e.Stream, e.Pos, e.Type, e.Version, e.At.Wall, e.At.Boot, int64(e.At.Since),
		e.Actor.Principal, e.Actor.Kind, e.Actor.Channel, e.SessionID, e.RunID, e.RequestID, e.CallID,
		string(e.Payload), string(e.Content), hex.EncodeToString(e.Salt), e.Commitment, e.Prev, e.Hash,
	}
}

func (v eventVector) event(t *testing.T) sayso.Event {
	t.Helper()
	salt, err := hex.DecodeString(v.Salt)
	if err != nil {
		t.Fatal(err)
	}
	e := sayso.Event{
		Seq: v.Seq, ID: v.ID, Stream: v.Stream, Pos: v.Pos, Type: v.Type, Version: v.Version,
		At:        sayso.Moment{Wall: v.Wall, Boot: v.Boot, Since: time.Duration(v.SinceNS)},
		Actor:     sayso.Actor{Principal: v.Principal, Kind: v.Kind, Channel: v.Channel},
		SessionID: v.Session, RunID: v.Run, RequestID: v.Request, CallID: v.CallID,
		Payload: sayso.Args(v.Payload), Commitment: v.Commitment, Prev: v.Prev, Hash: v.Hash,
	}
	if v.Content != "" {
		e.Content, e.Salt = []byte(v.Content), salt
	}
	return e
}

func eventsOf(t *testing.T, vectors []eventVector) []sayso.Event {
	t.Helper()
	events := make([]sayso.Event, len(vectors))
	for i, v := range vectors {
		events[i] = v.event(t)
	}
	return events
}

// lines writes a list with one member a line.
func lines[T any](t *testing.T, all []T) []byte {
	t.Helper()
	var out bytes.Buffer
	for i, v := range all {
		out.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		out.Write(text(t, v))
	}
	out.WriteString("\n]\n")
	return out.Bytes()
}

// chained are the events of a short log: a request with its answer, one that is
// erased, and a note.
func chained() []sayso.Event {
	l := newLife(storetest.Wish{Session: "s1", CallID: "toolu_1", Deadline: time.Hour, Holder: "lease-1"})
	l.then(sayso.EventAnswered, sayso.EventResolved, sayso.EventRedeemed)
	other := newLife(storetest.Wish{Session: "s1", CallID: "toolu_2", Command: "printf '\u00e9 \U0001f600'"}).then(sayso.EventContentErased)
	all := slices.Concat(l.events, other.events, l.Note(sayso.BrokerStream, 0).Events)
	all[len(all)-1].Pos = 1
	all[len(all)-1].At.Boot = ""
	var head sayso.Head
	for i := range all {
		head = all[i].Chain(head)
	}
	erased := &all[len(l.events)]
	erased.Content, erased.Salt = nil, nil
	return all
}

func TestVectors_chain(t *testing.T) {
	if *update {
		var all []eventVector
		for _, e := range chained() {
			all = append(all, vectorOf(e))
		}
		golden(t, filepath.Join("testdata", "vectors", "chain.json"), lines(t, all))
	}
	var all []eventVector
	vectors(t, "chain.json", &all)
	var head sayso.Head
	for _, v := range all {
		e := v.event(t)
		again := e
		var err error
		if head, err = e.Verify(head); err != nil {
			t.Fatal(err)
		}
		if e.Content == nil {
			continue // erased, or never there: the commitment cannot be made again
		}
		again.Hash, again.Commitment = sayso.Digest{}, sayso.Digest{}
		again.Chain(sayso.Head{Seq: e.Seq - 1, Hash: e.Prev})
		if again.Hash != e.Hash || again.Commitment != e.Commitment {
			t.Errorf("event %d is hashed to %s, %s, want %s, %s", e.Seq, again.Hash, again.Commitment, e.Hash, e.Commitment)
		}
	}
	if len(all) < 7 || head.Seq != sayso.Seq(len(all)) {
		t.Errorf("the chain of %d events ends at %d", len(all), head.Seq)
	}
}

// Whatever is changed, removed, added, moved or cut off in front is found.
func TestEvent_verifyFindsChanges(t *testing.T) {
	other := sayso.HashOf("other")
	changes := map[string]func(*sayso.Event){
		"seq":        func(e *sayso.Event) { e.Seq++ },
		"id":         func(e *sayso.Event) { e.ID += "0" },
		"stream":     func(e *sayso.Event) { e.Stream += "0" },
		"pos":        func(e *sayso.Event) { e.Pos++ },
		"type":       func(e *sayso.Event) { e.Type = sayso.EventExpired },
		"version":    func(e *sayso.Event) { e.Version++ },
		"wall clock": func(e *sayso.Event) { e.At.Wall = e.At.Wall.Add(1) },
		"boot":       func(e *sayso.Event) { e.At.Boot += "2" },
		"boot clock": func(e *sayso.Event) { e.At.Since++ },
		"principal":  func(e *sayso.Event) { e.Actor.Principal = "eve" },
		"kind":       func(e *sayso.Event) { e.Actor.Kind = sayso.PrincipalAdmin },
		"channel":    func(e *sayso.Event) { e.Actor.Channel = "moon" },
		"session":    func(e *sayso.Event) { e.SessionID += "2" },
		"run":        func(e *sayso.Event) { e.RunID += "2" },
		"request":    func(e *sayso.Event) { e.RequestID += "2" },
		"call id":    func(e *sayso.Event) { e.CallID += "2" },
		"payload":    func(e *sayso.Event) { e.Payload = append(slices.Clone(e.Payload), ' ') },
		"commitment": func(e *sayso.Event) { e.Commitment = other },
		"prev":       func(e *sayso.Event) { e.Prev = other },
		"hash":       func(e *sayso.Event) { e.Hash = other },
		"kind, a part": func(e *sayso.Event) {
			e.Actor = sayso.Actor{Principal: e.Actor.Principal + string(e.Actor.Kind[:1]), Kind: e.Actor.Kind[1:], Channel: e.Actor.Channel}
		},
		"content":       func(e *sayso.Event) { e.Content = []byte(`{}`) },
		"empty content": func(e *sayso.Event) { e.Content = []byte{} },
	}
	verify := func(events []sayso.Event) (head sayso.Head, err error) {
		for i := range events {
			if head, err = events[i].Verify(head); err != nil {
				return head, err
			}
		}
		return head, nil
	}
	log := chained()
	whole, err := verify(log)
	if err != nil {
		t.Fatal(err)
	}
	for i := range log {
		for name, change := range changes {
			events := slices.Clone(log)
			change(&events[i])
			if _, err := verify(events); err == nil {
				t.Errorf("the %s of event %d was changed, and the log verifies", name, i+1)
			}
		}
		for name, events := range map[string][]sayso.Event{
			"removed": slices.Delete(slices.Clone(log), i, i+1), "there twice": slices.Insert(slices.Clone(log), i, log[i]),
		} {
			if head, err := verify(events); err == nil && head.Hash == whole.Hash {
				t.Errorf("event %d is %s, and the log verifies", i+1, name)
			}
		}
		if i > 0 {
			events := slices.Clone(log)
			events[i-1], events[i] = events[i], events[i-1]
			if _, err := verify(events); err == nil {
				t.Errorf("events %d and %d changed places, and the log verifies", i, i+1)
			}
		}
	}
}

// outcome is what a stream comes to, in a form for any language.
type outcome struct {
	State       sayso.State  `json:"state"`
	Len         int          `json:"len"`
	Holder      string       `json:"holder"`
	Digest      sayso.Digest `json:"digest"`
	Allows      sayso.Digest `json:"allows"` // digest of the call that may run; empty if none may
	Source      sayso.Source `json:"source"`
	Answers     int          `json:"answers"`
	CallIDs     []string     `json:"call_ids"`
	Redeemable  bool         `json:"redeemable"`  // clocks apart
	Undelivered bool         `json:"undelivered"` // asking again gets this outcome
	Redeemed    bool         `json:"redeemed"`
	Voided      string       `json:"voided"`
	Finished    bool         `json:"finished"`
	Erased      bool         `json:"erased"`
}

func outcomeOf(r sayso.Request) *outcome {
	o := &outcome{
		State: r.State, Len: r.Life.Len, Holder: r.Life.Holder, Digest: r.Digest, Answers: len(r.Life.Answers), CallIDs: r.Life.CallIDs,
		Redeemable: r.Unspent(), Undelivered: r.Undelivered(), Redeemed: r.Life.Redeemed, Voided: r.Life.Voided,
		Finished: r.Life.Finished, Erased: r.Erased,
	}
	if r.Decision != nil {
		o.Source = r.Decision.Source
		if r.Decision.Allowed() {
			o.Allows = r.Decision.Digest
		}
	}
	return o
}

// foldVector is a line of folds.json.
type foldVector struct {
	Name    string        `json:"name"`
	Events  []eventVector `json:"events"`
	Outcome *outcome      `json:"outcome,omitempty"` // absent if the stream cannot be
}

// foldVectors makes folds.json from the situations, and from streams that
// cannot be.
func foldVectors(t *testing.T) []foldVector {
	t.Helper()
	var all []foldVector
	add := func(name string, events []sayso.Event) {
		v := foldVector{Name: name}
		for _, e := range events {
			v.Events = append(v.Events, vectorOf(e))
		}
		if r, err := sayso.Fold(events); err == nil {
			v.Outcome = outcomeOf(r)
		}
		all = append(all, v)
	}
	lived := func(by ...sayso.EventType) []sayso.Event {
		return newLife(storetest.Wish{Session: "s1", CallID: "toolu_1", Holder: "lease-1"}).then(by...).events
	}
	for _, s := range situations {
		add(s.name, lived(s.by...))
	}
	erased := lived(sayso.EventResolved, sayso.EventContentErased)
	for i := range erased {
		erased[i].Content, erased[i].Salt = nil, nil
	}
	add("erased: no call has the digest that may run", erased)
	add("refused: no events", nil)
	add("refused: no beginning", lived(sayso.EventResolved)[1:])
	add("refused: a hole", slices.Delete(lived(sayso.EventParked, sayso.EventResolved), 1, 2))
	add("refused: two decisions", lived(sayso.EventResolved, denied))
	add("refused: redeemed before a decision", lived(sayso.EventRedeemed))
	add("refused: redeemed after a denial", lived(denied, sayso.EventRedeemed))
	add("refused: redeemed twice", lived(sayso.EventResolved, sayso.EventRedeemed, sayso.EventRedeemed))
	add("refused: redeemed and void", lived(sayso.EventResolved, sayso.EventVoided, sayso.EventRedeemed))
	add("refused: answered after expiry", lived(sayso.EventExpired, sayso.EventAnswered))
	twice := lived(sayso.EventResolved)
	twice[1].Payload = sayso.Args(`{"effect":"deny","effect":"allow","source":"person"}`)
	add("refused: a member twice", twice)
	return all
}

func TestVectors_folds(t *testing.T) {
	if *update {
		golden(t, filepath.Join("testdata", "vectors", "folds.json"), lines(t, foldVectors(t)))
	}
	var all []foldVector
	vectors(t, "folds.json", &all)
	for _, v := range all {
		r, err := sayso.Fold(eventsOf(t, v.Events))
		if v.Outcome == nil {
			if err == nil {
				t.Errorf("%s: got state %s, want an error", v.Name, r.State)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		if diff := cmp.Diff(v.Outcome, outcomeOf(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v.Name, diff)
		}
	}
}

// What every surface shows of an event holds nothing that only the engine may
// know, and is read back as it was written.
func TestEvent_public(t *testing.T) {
	l := newLife(storetest.Wish{Command: "deploy"}).then(sayso.EventAnswered)
	private, err := jcs.Marshal(map[string]any{
		"shown": map[string]any{"note": "go"}, "full": map[string]any{"args": "hunter2"}, "private": map[string]any{"args": "hunter2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.events[1].Content = private
	for _, e := range l.events {
		public, err := e.Public()
		if err != nil {
			t.Fatal(err)
		}
		written := text(t, public)
		if public.Content != nil || public.Salt != nil || bytes.Contains(written, []byte("hunter2")) || bytes.Contains(written, []byte("salt")) {
			t.Errorf("%s shows %s", e.Type, written)
		}
		var read sayso.Event
		if err := jcs.Unmarshal(written, &read); err != nil {
			t.Fatal(err)
		}
		if again := text(t, read); !bytes.Equal(again, written) {
			t.Errorf("%s is written\n%s\nand, read, written again\n%s", e.Type, written, again)
		}
	}
	public, err := l.events[1].Public()
	if err != nil || !bytes.Contains(public.Payload, []byte(`"note":"go"`)) || !bytes.Contains(public.Payload, []byte(`"effect":"allow"`)) {
		t.Errorf("the payload of an answer is shown as %s, %v", public.Payload, err)
	}
	asked, err := l.events[0].Public()
	if err != nil {
		t.Fatal(err)
	}
	r, err := sayso.RequestIn(&asked)
	if err != nil || r.ID != l.id || r.Description != "deploy" || r.State != sayso.StateOpen {
		t.Errorf("the request in the event is %+v, %v", r, err)
	}
}

func TestCallKey_isUnambiguous(t *testing.T) {
	keys := map[string][3]string{}
	parts := []string{"", "a", "b", "ab", "a\x00", "\x00\x00\x00\x00\x00\x00\x00\x01a"}
	for _, point := range parts {
		for _, session := range parts {
			for _, call := range parts {
				key := sayso.CallKey(point, session, call)
				if other, taken := keys[key]; taken {
					t.Errorf("%q and %q have one key", other, [3]string{point, session, call})
				}
				keys[key] = [3]string{point, session, call}
			}
		}
	}
}
