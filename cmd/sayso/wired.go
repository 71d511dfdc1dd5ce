package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/redact"
)

// wiring says what the settings of Claude Code say, the strongest last.
func wiring(places []install.Place) status.Wiring {
	is := func(what status.Protection, why string) status.Wiring {
		return status.Wiring{Host: claudecode.Host, State: what, Why: why}
	}
	found := ""
	for _, p := range places {
		v, err := surveyed(p)
		switch {
		case err != nil:
			return is(status.Unknown, p.Path+": "+err.Error())
		case v.DisableAllHooks:
			return is(status.NotProtected, p.Path+" sets disableAllHooks")
		case v.ManagedOnly && !v.Installed:
			return is(status.NotProtected, p.Path+" sets allowManagedHooksOnly, and has no hook of ours")
		case v.Installed:
			if err := runnable(v.Program); err != nil {
				return is(status.Unknown, p.Path+" names a hook that cannot run: "+err.Error())
			}
			found = p.Path
		}
	}
	if found == "" {
		return is(status.NotProtected, "no agent has the hook; `sayso init claude-code` puts it in")
	}
	return is(status.Protected, "the hook is in "+found)
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
	places := slices.DeleteFunc(install.ClaudePlaces(a.getenv, ""), func(p install.Place) bool {
		return p.Scope != install.ScopeUser && p.Scope != install.ScopeManaged
	})
	m.Wired = []status.Wiring{wiring(places)}
	return m
}

func surveyed(p install.Place) (install.Survey, error) {
	text, err := install.Read(p.Path)
	if err != nil {
		return install.Survey{}, err
	}
	return install.SurveyClaude(text)
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
