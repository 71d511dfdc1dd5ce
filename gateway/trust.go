package gateway

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/sayso-dev/sayso"
)

// serverTrust is what is known of a server: whether it is the one that is trusted, and
// what it said of its tools last. Those who talk to the same server share it.
type serverTrust struct {
	mu              sync.Mutex // guards what follows
	identity        sayso.Args
	standing        standing // of the server itself
	unconfirmed     bool     // it is compared when it has answered, as it is not the one that is trusted
	tools           map[string]tool
	appearances     map[string]string // the name that has an appearance
	definitionBytes int               // bytes of the definitions in tools
	full            bool              // it listed more tools than are remembered
}

func newServerTrust() *serverTrust {
	return &serverTrust{tools: map[string]tool{}, appearances: map[string]string{}}
}

// checkIdentity compares what a server is with what is trusted under its name.
func (k *serverTrust) checkIdentity(ctx context.Context, o Options, identity sayso.Args) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.compareIdentity(ctx, o, identity)
}

// expectIdentity does so with a server that is only an address as yet: one that is not trusted
// under its name is compared, or is trusted where none is, when it has answered. An address
// that nothing answers at, as one that was mistyped, would be in the way of the right one.
func (k *serverTrust) expectIdentity(ctx context.Context, o Options, identity sayso.Args) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	pins, err := o.Pins.Pins(ctx)
	if err != nil {
		return fmt.Errorf("looking whether %s is the server that it was: %w", o.Name, err)
	}
	if pin, there := pins.Of(o.Name)[""]; there && pin.Trusts(sayso.Definition{Text: identity}) {
		return k.compareIdentity(ctx, o, identity)
	}
	k.identity, k.standing, k.unconfirmed = identity, quarantined, true
	return nil
}

// awaitsAnswer reports whether a server that is only an address as yet is to be trusted
// when it has answered: still nothing is trusted under its name. Calls that come before are
// judged all the same, and are no answer.
func (k *serverTrust) awaitsAnswer(ctx context.Context, o Options) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.unconfirmed {
		return false, nil
	}
	pins, err := o.Pins.Pins(ctx)
	if err != nil {
		return false, err
	}
	_, there := pins.Of(o.Name)[""]
	return !there, nil
}

// confirmIdentity handles that the server did, so that it is known by what it is from then on.
func (k *serverTrust) confirmIdentity(ctx context.Context, o Options) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.unconfirmed {
		return nil
	}
	return k.compareIdentity(ctx, o, k.identity)
}

// compareIdentity is meet. The mutex is held.
func (k *serverTrust) compareIdentity(ctx context.Context, o Options, identity sayso.Args) error {
	k.identity, k.standing = identity, quarantined
	if identity == nil {
		k.standing = trusted
		return nil
	}
	ok, err := o.Pins.Meet(ctx, o.Actor, o.Name, []sayso.Definition{{Text: identity}})
	if err != nil {
		return fmt.Errorf("looking whether %s is the server that it was: %w", o.Name, err)
	}
	k.unconfirmed = false
	if len(ok) == 1 && ok[0] {
		k.standing = trusted
	} else {
		o.Note(o.Name + " is not the server that it was: its tools do not run until you have looked; type: sayso tools accept " + o.Name)
	}
	return nil
}

// identityTrusted says what the server is, and whether that is trusted.
func (k *serverTrust) identityTrusted() (identity sayso.Args, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.identity, k.standing == trusted
}

// hasIdentity reports whether it is known what the server is.
func (k *serverTrust) hasIdentity() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.identity != nil
}

// acceptIdentity takes a server as trusted that is still the one that was asked about.
func (k *serverTrust) acceptIdentity(identity sayso.Args) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if bytes.Equal(k.identity, identity) {
		k.standing, k.unconfirmed = trusted, false
	}
}

// tool is what the server said of a tool, if it did.
func (k *serverTrust) tool(name string) (tool, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.tools[name]
	return t, ok
}

// isFull reports whether the server listed more tools than are remembered.
func (k *serverTrust) isFull() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.full
}

// judgeTools says of each tool of a list how it stands, and remembers it.
func (r *Relay) judgeTools(ctx context.Context, l *toolList) error {
	var seen []sayso.Definition
	var of []int
	for i, t := range l.tools {
		if t.why == "" { // else nobody could call it, whatever it is
			seen, of = append(seen, t.definition), append(of, i)
		}
	}
	ok, err := r.checkDefinitions(ctx, seen)
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
	r.trust.mu.Lock()
	defer r.trust.mu.Unlock()
	twice := map[string]int{}
	for i := range l.tools {
		t, name := &l.tools[i], l.names[i]
		if !r.trust.reserve(t, name) {
			t.standing, r.trust.full = quarantined, true
			continue
		}
		looks := sayso.Appearance(r.o.Name, name)
		first, taken := r.trust.appearances[looks]
		if taken && pins.Earlier(r.o.Name, name, first) {
			r.trust.markDeceptive(first, name)
			if at, listed := twice[first]; listed {
				l.tools[at] = r.trust.tools[first]
			}
			taken = false
		}
		if !taken {
			r.trust.appearances[looks] = name
		}
		if at, again := twice[name]; again {
			t.why = "two tools have this name"
			l.tools[at].why, l.tools[at].standing = t.why, deceptive
			r.trust.tools[name] = *t
		} else if taken && first != name {
			t.why = likeAnother + first
		}
		twice[name] = i
		if t.why != "" {
			t.standing = deceptive
		}
		r.trust.tools[name] = *t
	}
	return nil
}

const likeAnother = "its name looks like that of "

// markDeceptive leaves out a tool that was listed before the one that it looks like,
// which was known earlier. The mutex is held.
func (k *serverTrust) markDeceptive(name, other string) {
	t := k.tools[name]
	t.standing, t.why = deceptive, likeAnother+other
	k.tools[name] = t
}

// What is remembered of one server: so many tools, and so many bytes of what it
// said of them. Those beyond that are left out of its lists, and do not run.
const (
	maxTools           = 2048
	maxDefinitionBytes = 64 << 20
)

// reserve reports whether there is room for what a server says of a tool, and takes
// it. The mutex is held.
func (k *serverTrust) reserve(t *tool, name string) bool {
	was, listed := k.tools[name]
	said := k.definitionBytes + len(t.definition.Text) - len(was.definition.Text)
	if !listed && len(k.tools) >= maxTools || said > maxDefinitionBytes || len(name) > maxNameBytes {
		return false
	}
	k.definitionBytes = said
	return true
}

// checkDefinitions asks whether definitions are trusted. An answer that is not about all of
// them is none.
func (r *Relay) checkDefinitions(ctx context.Context, seen []sayso.Definition) ([]bool, error) {
	if len(seen) == 0 {
		return nil, nil
	}
	ok, err := r.o.Pins.Meet(ctx, r.o.Actor, r.o.Name, seen)
	if err == nil && len(ok) != len(seen) {
		err = fmt.Errorf("%w: the definitions were not all judged", sayso.ErrUnavailable)
	}
	return ok, err
}

// isAccepted reports whether a definition in quarantine has been accepted since.
func (r *Relay) isAccepted(ctx context.Context, d sayso.Definition) bool {
	ok, err := r.checkDefinitions(ctx, []sayso.Definition{d})
	return err == nil && ok[0]
}

// What the model is told of a tool that does not run, whatever people say of the
// call.
const (
	serverChangedText = "Refused: this server is not the one that was trusted under its name, and nobody has accepted the change. " +
		"Nothing ran. Stop and report that `sayso tools accept %s` is needed."
	toolChangedText = "Refused: the definition of this tool is not the one that was trusted, and nobody has accepted the change. " +
		"Nothing ran. Stop and report that `sayso tools accept %s` is needed."
	toolNameText = "Refused: %s. Nothing ran. Stop and report this to the user."
)

// serverTrusted reports whether the server is the one that is trusted, or will be once it
// has answered.
func (r *Relay) serverTrusted(ctx context.Context) bool {
	identity, ok := r.trust.identityTrusted()
	if ok {
		return true
	}
	if first, err := r.trust.awaitsAnswer(ctx, r.o); first || err != nil {
		return err == nil
	}
	if !r.isAccepted(ctx, sayso.Definition{Text: identity}) {
		return false
	}
	r.trust.acceptIdentity(identity)
	return true
}

// checkTool says whether a tool may be called at all, and why not. known says that
// the server listed it.
func (r *Relay) checkTool(ctx context.Context, name string) (t tool, known bool, why string) {
	t, known = r.trust.tool(name)
	if !r.serverTrusted(ctx) {
		return t, known, fmt.Sprintf(serverChangedText, r.o.Name)
	}
	if !known {
		if why := nameProblem(name); why != "" {
			return t, false, fmt.Sprintf(toolNameText, "the tool cannot be told from another, "+why)
		}
		if r.trust.isFull() {
			return tool{}, false, fmt.Sprintf(toolNameText, "the server lists more tools than are looked at")
		}
		return tool{}, false, ""
	}
	switch t.standing {
	case trusted:
		return t, true, ""
	case deceptive:
		return t, true, fmt.Sprintf(toolNameText, "the tool cannot be told from another, "+t.why)
	}
	if !r.isAccepted(ctx, t.definition) {
		return t, true, fmt.Sprintf(toolChangedText, r.o.Name)
	}
	t.standing = trusted
	r.trust.mu.Lock()
	defer r.trust.mu.Unlock()
	if now := r.trust.tools[name]; now.digest == t.digest {
		r.trust.tools[name] = t
	}
	return t, true, ""
}
