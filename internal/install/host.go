package install

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// Host is a host whose settings our hook is put into.
type Host struct {
	Name    string // in calls
	Told    string // what our hook is told of who starts it, if it is not the name
	Title   string // as people call it
	Program string // the executable; empty for a host that is not started by us
	Update  string // what to type for a newer release
	// Oldest is the first release that the gate holds in, and Older what is wrong
	// with those before it, with a verb for the first that has it right.
	Oldest, Older string
	// Scopes are those that we edit; the first is meant if none is named.
	Scopes []Scope
	// Places lists the settings files that count for somebody who starts the
	// host in a directory, the strongest last. They need not exist.
	Places func(getenv func(string) string, dir string) []Place
	// Put returns settings with our hooks in them, and Take without any. Settings
	// that are so already come back unchanged. Hooks of ours that are out of date
	// are replaced.
	Put  func(settings []byte, h Hook) ([]byte, error)
	Take func(settings []byte) ([]byte, error)
	// Survey reads what matters to us in settings.
	Survey func(settings []byte) (Survey, error)
	// Doubt says why the host may not start a hook that stands in a place; nil
	// if nothing is known to be in the way.
	Doubt func(getenv func(string) string, p Place) *Doubt
	// Off says which file switches hooks off for somebody who starts the host in
	// a directory, whichever files hold them; nil if none is known to. Where the
	// directory is empty, projects are left out.
	Off func(getenv func(string) string, dir string) *Doubt
	// Wall is a rule of the host's own that has it ask by itself; nil if there is
	// none that can be put.
	Wall *Wall
}

// Doubt is why a hook that is installed may not run, and what to type about it.
type Doubt struct{ Why, Type string }

// Hosts are all of them, the one that is meant first first.
func Hosts() []Host {
	return []Host{claudeCode, codexHost, geminiHost, copilotHost, opencodeHost, vscodeHost, cursorHost, antigravityHost}
}

// Find returns the host of that name.
func Find(name string) (Host, bool) {
	all := Hosts()
	i := slices.IndexFunc(all, func(h Host) bool { return h.Name == name })
	if i < 0 {
		return Host{}, false
	}
	return all[i], true
}

// Hook is what our hook is told of who starts it.
func (h Host) Hook() string { return cmp.Or(h.Told, h.Name) }

// Proof says what shows that the gate is live in the host: not every one can be
// driven by us.
func (h Host) Proof() string {
	if h.Program == "" {
		return "have " + h.Title + " make a call, and see that the call waits: nothing else proves that the gate is live"
	}
	return "`sayso doctor` proves that the gate is live"
}

// Names are the names of all hosts.
func Names() []string {
	var names []string
	for _, h := range Hosts() {
		names = append(names, h.Name)
	}
	return names
}

// Place is the file of one scope that we may edit. Where a project is the
// person's own folder, its file is theirs.
func (h Host) Place(places []Place, scope Scope) (string, error) {
	if !slices.Contains(h.Scopes, scope) {
		return "", fmt.Errorf("%w: the scope is %s, not %q", sayso.ErrInvalid, h.scopes(), scope)
	}
	if !slices.ContainsFunc(places, func(p Place) bool { return p.Scope == scope }) {
		scope = ScopeUser
	}
	for _, p := range places {
		if p.Scope == scope {
			return p.Path, nil
		}
	}
	return "", fmt.Errorf("%w: %s has no settings of scope %s here", sayso.ErrInvalid, h.Title, scope)
}

// scopes lists those that we edit, for people.
func (h Host) scopes() string {
	var list []string
	for _, s := range h.Scopes {
		list = append(list, string(s))
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}
