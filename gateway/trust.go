package gateway

import (
	"context"
	"fmt"

	"github.com/sayso-dev/sayso"
)

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
	r.mu.Lock()
	defer r.mu.Unlock()
	twice := map[string]int{}
	for i := range l.tools {
		t, name := &l.tools[i], l.names[i]
		looks := appearance(r.o.Name, name)
		first, taken := r.looks[looks]
		if !taken {
			r.looks[looks] = name
		}
		if at, again := twice[name]; again {
			t.why = "two tools have this name"
			l.tools[at].why, l.tools[at].standing = t.why, deceptive
			r.tools[name] = *t
		} else if taken && first != name {
			t.why = "its name looks like that of " + first
		}
		twice[name] = i
		if t.why != "" {
			t.standing = deceptive
		}
		r.tools[name] = *t
	}
	return nil
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
	r.mu.Lock()
	t, known = r.tools[name]
	self := r.self
	r.mu.Unlock()
	if self != trusted {
		if !r.accepted(ctx, sayso.Definition{Text: r.o.Identity}) {
			return t, known, fmt.Sprintf(toldServer, r.o.Name)
		}
		r.mu.Lock()
		r.self = trusted
		r.mu.Unlock()
	}
	if !known {
		if why := unclear(name); why != "" {
			return t, false, fmt.Sprintf(toldName, "the tool cannot be told from another, "+why)
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.tools[name]; now.digest == t.digest {
		r.tools[name] = t
	}
	return t, true, ""
}
