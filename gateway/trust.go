package gateway

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/sayso-dev/sayso"
)

// known is what is known of a server: whether it is the one that is trusted, and
// what it said of its tools last. Those who talk to the same server share it.
type known struct {
	mu       sync.Mutex // guards what follows
	identity sayso.Args
	self     standing // of the server itself
	due      bool     // it is trusted when it has answered, as none is known under its name
	tools    map[string]tool
	looks    map[string]string // the name that has an appearance
	said     int               // bytes of the definitions in tools
	full     bool              // it listed more tools than are remembered
}

func newKnown() *known { return &known{tools: map[string]tool{}, looks: map[string]string{}} }

// meet compares what a server is with what is trusted under its name.
func (k *known) meet(ctx context.Context, o Options, identity sayso.Args) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.compare(ctx, o, identity)
}

// expect does so with a server that is only an address as yet: where none is trusted
// under its name, it is when it has answered. An address that nothing answers at, as
// one that was mistyped, would be in the way of the right one.
func (k *known) expect(ctx context.Context, o Options, identity sayso.Args) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	pins, err := o.Pins.Pins(ctx)
	if err != nil {
		return fmt.Errorf("looking whether %s is the server that it was: %w", o.Name, err)
	}
	if _, there := pins.Of(o.Name)[""]; there {
		return k.compare(ctx, o, identity)
	}
	k.identity, k.self, k.due = identity, quarantined, true
	return nil
}

// answered hears that the server did. Calls that come before are judged with what it is
// all the same, and it is known by that from then on.
func (k *known) answered(ctx context.Context, o Options) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.due {
		return nil
	}
	return k.compare(ctx, o, k.identity)
}

// compare is meet. The mutex is held.
func (k *known) compare(ctx context.Context, o Options, identity sayso.Args) error {
	k.identity, k.self = identity, quarantined
	if identity == nil {
		k.self = trusted
		return nil
	}
	ok, err := o.Pins.Meet(ctx, o.Actor, o.Name, []sayso.Definition{{Text: identity}})
	if err != nil {
		return fmt.Errorf("looking whether %s is the server that it was: %w", o.Name, err)
	}
	k.due = false
	if len(ok) == 1 && ok[0] {
		k.self = trusted
	} else {
		o.Note(o.Name + " is not the server that it was: its tools do not run until you have looked; type: sayso tools accept " + o.Name)
	}
	return nil
}

// is says what the server is, and whether that is trusted.
func (k *known) is() (identity sayso.Args, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.identity, k.self == trusted
}

// met reports whether it is known what the server is.
func (k *known) met() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.identity != nil
}

// accept takes a server as trusted that is still the one that was asked about.
func (k *known) accept(identity sayso.Args) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if bytes.Equal(k.identity, identity) {
		k.self, k.due = trusted, false
	}
}

// tool is what the server said of a tool, if it did.
func (k *known) tool(name string) (tool, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.tools[name]
	return t, ok
}

// overfull reports whether the server listed more tools than are remembered.
func (k *known) overfull() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.full
}

// judge says of each tool of a list how it stands, and remembers it.
func (r *Relay) judge(ctx context.Context, l *listing) error {
	var seen []sayso.Definition
	var of []int
	for i, t := range l.tools {
		if t.why == "" { // else nobody could call it, whatever it is
			seen, of = append(seen, t.definition), append(of, i)
		}
	}
	ok, err := r.meet(ctx, seen)
	if err != nil {
		return err
	}
	for n, i := range of {
		if ok[n] {
			l.tools[i].standing = trusted
		}
	}
	pins, err := r.o.Pins.Pins(ctx)
	if err != nil {
		return err
	}
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	twice := map[string]int{}
	for i := range l.tools {
		t, name := &l.tools[i], l.names[i]
		if !r.known.room(t, name) {
			t.standing, r.known.full = quarantined, true
			continue
		}
		looks := sayso.Appearance(r.o.Name, name)
		first, taken := r.known.looks[looks]
		if taken && pins.Earlier(r.o.Name, name, first) {
			r.known.deceives(first, name)
			if at, listed := twice[first]; listed {
				l.tools[at] = r.known.tools[first]
			}
			taken = false
		}
		if !taken {
			r.known.looks[looks] = name
		}
		if at, again := twice[name]; again {
			t.why = "two tools have this name"
			l.tools[at].why, l.tools[at].standing = t.why, deceptive
			r.known.tools[name] = *t
		} else if taken && first != name {
			t.why = likeAnother + first
		}
		twice[name] = i
		if t.why != "" {
			t.standing = deceptive
		}
		r.known.tools[name] = *t
	}
	return nil
}

const likeAnother = "its name looks like that of "

// deceives leaves out a tool that was listed before the one that it looks like,
// which was known earlier. The mutex is held.
func (k *known) deceives(name, other string) {
	t := k.tools[name]
	t.standing, t.why = deceptive, likeAnother+other
	k.tools[name] = t
}

// What is remembered of one server: so many tools, and so many bytes of what it
// said of them. Those beyond that are left out of its lists, and do not run.
const (
	maxTools = 2048
	maxSaid  = 64 << 20
)

// room reports whether there is room for what a server says of a tool, and takes
// it. The mutex is held.
func (k *known) room(t *tool, name string) bool {
	was, listed := k.tools[name]
	said := k.said + len(t.definition.Text) - len(was.definition.Text)
	if !listed && len(k.tools) >= maxTools || said > maxSaid || len(name) > maxNameBytes {
		return false
	}
	k.said = said
	return true
}

// meet asks whether definitions are trusted. An answer that is not about all of
// them is none.
func (r *Relay) meet(ctx context.Context, seen []sayso.Definition) ([]bool, error) {
	if len(seen) == 0 {
		return nil, nil
	}
	ok, err := r.o.Pins.Meet(ctx, r.o.Actor, r.o.Name, seen)
	if err == nil && len(ok) != len(seen) {
		err = fmt.Errorf("%w: the definitions were not all judged", sayso.ErrUnavailable)
	}
	return ok, err
}

// accepted reports whether a definition in quarantine has been accepted since.
func (r *Relay) accepted(ctx context.Context, d sayso.Definition) bool {
	ok, err := r.meet(ctx, []sayso.Definition{d})
	return err == nil && ok[0]
}

// What the model is told of a tool that does not run, whatever people say of the
// call.
const (
	toldServer = "Refused: this server is not the one that was trusted under its name, and nobody has accepted the change. " +
		"Nothing ran. Stop and report that `sayso tools accept %s` is needed."
	toldChanged = "Refused: the definition of this tool is not the one that was trusted, and nobody has accepted the change. " +
		"Nothing ran. Stop and report that `sayso tools accept %s` is needed."
	toldName = "Refused: %s. Nothing ran. Stop and report this to the user."
)

// stands says whether a tool may be called at all, and why not. known says that
// the server listed it.
func (r *Relay) stands(ctx context.Context, name string) (t tool, known bool, why string) {
	t, known = r.known.tool(name)
	if identity, ok := r.known.is(); !ok {
		if !r.accepted(ctx, sayso.Definition{Text: identity}) {
			return t, known, fmt.Sprintf(toldServer, r.o.Name)
		}
		r.known.accept(identity)
	}
	if !known {
		if why := unclear(name); why != "" {
			return t, false, fmt.Sprintf(toldName, "the tool cannot be told from another, "+why)
		}
		if r.known.overfull() {
			return tool{}, false, fmt.Sprintf(toldName, "the server lists more tools than are looked at")
		}
		return tool{}, false, ""
	}
	switch t.standing {
	case trusted:
		return t, true, ""
	case deceptive:
		return t, true, fmt.Sprintf(toldName, "the tool cannot be told from another, "+t.why)
	}
	if !r.accepted(ctx, t.definition) {
		return t, true, fmt.Sprintf(toldChanged, r.o.Name)
	}
	t.standing = trusted
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	if now := r.known.tools[name]; now.digest == t.digest {
		r.known.tools[name] = t
	}
	return t, true, ""
}
