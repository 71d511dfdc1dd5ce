package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Scope says whose settings a file holds.
type Scope string

// The scopes of Claude Code's settings.
const (
	ScopeUser    Scope = "user"    // of the person, in all projects
	ScopeProject Scope = "project" // of everybody who works in a project
	ScopeLocal   Scope = "local"   // of the person, in one project
	ScopeManaged Scope = "managed" // of the machine; not ours to edit
)

// Place is one settings file of Claude Code.
type Place struct {
	Scope Scope
	Path  string
}

// ClaudePlaces lists the settings files that count for somebody who starts
// Claude Code in a directory, the strongest last. They need not exist.
func ClaudePlaces(getenv func(string) string, dir string) []Place {
	config := getenv("CLAUDE_CONFIG_DIR")
	if config == "" {
		config = filepath.Join(getenv("HOME"), ".claude")
	}
	managed := "/etc/claude-code/managed-settings.json"
	if st, err := os.Stat("/Library/Application Support"); err == nil && st.IsDir() {
		managed = "/Library/Application Support/ClaudeCode/managed-settings.json"
	}
	places := []Place{
		{ScopeUser, filepath.Join(config, "settings.json")},
		{ScopeProject, filepath.Join(dir, ".claude", "settings.json")},
		{ScopeLocal, filepath.Join(dir, ".claude", "settings.local.json")},
		{ScopeManaged, managed},
	}
	if places[1].Path == places[0].Path { // in the home folder they are one file
		places = slices.Delete(places, 1, 2)
	}
	return places
}

// ClaudeTrusts reports whether the person told Claude Code that they trust a
// project. Hooks of a project that is not trusted do not run in interactive
// sessions.
func ClaudeTrusts(getenv func(string) string, project string) (bool, error) {
	dir := getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = getenv("HOME")
	}
	text, err := Read(filepath.Join(dir, ".claude.json"))
	if err != nil || len(text) == 0 {
		return false, err
	}
	var state struct {
		Projects map[string]struct {
			Trusted bool `json:"hasTrustDialogAccepted"`
		} `json:"projects"`
	}
	if err := jcs.UnmarshalLenient(text, &state); err != nil {
		return false, err
	}
	return state.Projects[project].Trusted, nil
}

// ClaudePlace is the file of one scope that we may edit. In the person's own
// folder the project's file is theirs.
func ClaudePlace(places []Place, scope Scope) (string, error) {
	if scope == ScopeProject && !slices.ContainsFunc(places, func(p Place) bool { return p.Scope == scope }) {
		scope = ScopeUser
	}
	for _, p := range places {
		if p.Scope == scope && scope != ScopeManaged {
			return p.Path, nil
		}
	}
	return "", fmt.Errorf("%w: the scope is user, project or local, not %q", sayso.ErrInvalid, scope)
}

// Read returns a settings file; one that does not exist is empty.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Replace writes a settings file as a whole and keeps its mode, and what was
// there before in a file beside it, whose path is returned. A link is followed,
// so that the file it leads to is the one that changes. If the file is no
// longer what was read, it is left alone.
func Replace(path string, read, text []byte, now time.Time) (backup string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	current, err := Read(path)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(current, read) {
		return "", fmt.Errorf("%w: %s was changed meanwhile; run the command again", sayso.ErrConflict, path)
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
		backup = path + ".before-sayso-" + now.UTC().Format("20060102T150405Z")
		if err := whole(backup, read, mode); err != nil {
			return "", fmt.Errorf("keep a copy: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return backup, whole(path, text, mode)
}

// whole writes a file so that a reader sees all of it or what was there before.
func whole(path string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".sayso-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
