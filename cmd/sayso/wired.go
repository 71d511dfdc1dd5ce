package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/redact"
)

// wirings say what the settings of the hosts say: of those that have our hook,
// or in which something is wrong; of the first if there are none.
func (a *app) wirings(dir string, scopes ...install.Scope) []status.Wiring {
	var all []status.Wiring
	inPath := func(program string) bool { _, err := exec.LookPath(program); return err == nil }
	for i, h := range install.Hooked(a.getenv, inPath) {
		places := h.Places(a.getenv, dir)
		if len(scopes) > 0 {
			places = slices.DeleteFunc(places, func(p install.Place) bool { return !slices.Contains(scopes, p.Scope) })
		}
		if w, there := a.wiring(h, dir, places); there || i == 0 {
			all = append(all, w)
		}
	}
	all = append(all, a.mcpWirings(dir, all)...)
	if len(all) > 1 && all[0].Why == unwired { // then another has it
		all = all[1:]
	}
	return all
}

// unwired is what is said when no host has the hook.
const unwired = "no agent has the hook; `sayso init claude-code` puts it in"

// wiring says what the settings of one host say, the strongest last. there is
// false if none names our hook. What counts in the directory can switch it off.
func (a *app) wiring(h install.Host, dir string, places []install.Place) (w status.Wiring, there bool) {
	w = status.Wiring{Host: h.Name, State: status.NotProtected, Why: unwired}
	var found *install.Place
	off := false
	for _, p := range places {
		v, err := surveyed(h, p)
		there = there || v.Program != "" || v.Differs != "" || err != nil && mentions(p.Path)
		switch {
		case off:
		case err != nil:
			w.State, w.Why, off = status.Unknown, p.Path+": "+err.Error(), true
		case v.DisableAllHooks:
			w.State, w.Why, off = status.NotProtected, p.Path+" sets disableAllHooks", true
		case v.ManagedOnly && !v.Installed:
			w.State, w.Why, off = status.NotProtected, p.Path+" sets allowManagedHooksOnly, and has no hook of ours", true
		case v.Installed:
			if err := runnable(v.Program); err != nil {
				w.State, w.Why, off = status.Unknown, p.Path+" names a hook that cannot run: "+err.Error(), true
			} else if v.State != a.paths.State {
				w.State, w.Why, off = status.Unknown, "the hook in "+p.Path+" asks another gate, which keeps its log in "+v.State+"; type: sayso init "+h.Name, true
			}
			found = &p
		case v.Differs != "":
			w.Why = differs(h, p, v)
		}
	}
	if off || found == nil {
		return w, there
	}
	if d := h.InTheWay(a.getenv, dir, *found); d != nil {
		w.Why = d.Why + "; type: " + d.Type
		return w, there
	}
	w.State, w.Why, w.Proof = status.Protected, "the hook is in "+found.Path, h.Proof()
	if h.Program == "" {
		w.State, w.Why = status.Unknown, w.Why+", and nobody has seen "+h.Title+" obey it"
	}
	return w, there
}

// differs says that a hook of ours is another than we would write it, in what,
// and what to type.
func differs(h install.Host, p install.Place, v install.Survey) string {
	return "the hook in " + p.Path + " is not as sayso init writes it (" + v.Differs + "), so it may let calls run; type: sayso init " + h.Name
}

// mentions reports whether a file that cannot be understood names our hook, or
// cannot even be read.
func mentions(path string) bool {
	text, err := install.Read(path)
	return err != nil || bytes.Contains(text, []byte("sayso"))
}

// weakest is what holds for all of them together: what is wrong with one is
// told before what is right with others, and of whom, where there are several.
func weakest(all []status.Wiring) status.Wiring {
	if len(all) == 1 {
		return all[0]
	}
	for _, state := range []status.Protection{status.NotProtected, status.Unknown} {
		if i := slices.IndexFunc(all, func(w status.Wiring) bool { return w.State == state }); i >= 0 {
			w := all[i]
			w.Why = amongst(all, state) + w.Host + ": " + w.Why
			return w
		}
	}
	return status.Wiring{State: status.Protected, Why: fmt.Sprintf("each of %d agents has the hook", len(all))}
}

// amongst says of how many agents a state is, where others are protected, and which
// these are: what is wrong with one is not to read as if it were with all.
func amongst(all []status.Wiring, state status.Protection) string {
	var protected []string
	so := 0
	for _, w := range all {
		switch w.State {
		case status.Protected:
			protected = append(protected, w.Host)
		case state:
			so++
		}
	}
	if len(protected) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d agents (%s%s protected), ", so, len(all), inWords(protected, "and"), verb(len(protected), " is", " are"))
}

// standing is what a server tells of this machine. Settings of projects it does
// not know: it runs in none.
func (a *app) standing(e *local.Engine) status.Machine {
	m := status.Machine{Locked: a.paths.Locked(), Policy: status.Policy{Version: e.Policy.Version()}}
	if o, off, _ := a.paths.IsOff(a.now()); off { // where that is doubtful, it is on
		m.Off = &status.Off{Until: o.Until, By: o.By}
	}
	wrong, stale := e.Policy.Err(), e.Policy.Stale()
	if m.Policy.Stands = stale != nil; m.Policy.Stands {
		wrong = stale
	}
	if wrong != nil {
		m.Policy.Mistake = redact.Scrub(printable(firstMistake(wrong)))
	}
	m.Wired = a.wirings("", install.ScopeUser, install.ScopeManaged)
	return m
}

func surveyed(h install.Host, p install.Place) (install.Survey, error) {
	text, err := install.Read(p.Path)
	if err != nil {
		return install.Survey{}, err
	}
	return h.Survey(text)
}

// runnable reports why a program could not be started.
func runnable(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.IsDir() || st.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is not executable", path)
	}
	return nil
}
