package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// codexDoubt is why Codex does not start our hooks although they stand in a
// file. It skips a hook that nobody said in Codex that they trust, says nothing,
// and runs the tool.
func codexDoubt(getenv func(string) string, p Place) *Doubt {
	config, err := Read(filepath.Join(codexFolder(getenv), "config.toml"))
	if err != nil {
		return &Doubt{Why: fmt.Sprintf("whether codex trusts the hooks in %s is not known: %v", p.Path, err), Type: "sayso doctor"}
	}
	text, err := Read(p.Path)
	if err != nil {
		return &Doubt{Why: err.Error(), Type: "sayso doctor"}
	}
	if codexSwitchedOff(config) {
		return &Doubt{Why: filepath.Join(codexFolder(getenv), "config.toml") + " switches hooks off: no hook runs", Type: "codex features enable hooks"}
	}
	states := codexStates(config)
	for _, e := range []codex.Event{codex.PreToolUse, codex.PermissionRequest} {
		key, hash, err := codexIdentity(p.Path, text, e)
		switch state := states[key]; {
		case err != nil:
			return &Doubt{Why: err.Error(), Type: "sayso init codex"}
		case state.disabled:
			return &Doubt{Why: fmt.Sprintf("the hook for %s in %s is switched off in codex, so it skips it without a word, and calls run", e, p.Path), Type: trustHow}
		case state.hash == "":
			return &Doubt{Why: fmt.Sprintf("codex does not trust the hook for %s in %s yet: it skips it without a word, and calls run", e, p.Path), Type: trustHow}
		case state.hash != hash:
			return &Doubt{Why: fmt.Sprintf("the hook for %s in %s is another than the one that codex was told to trust: it skips it without a word, and calls run", e, p.Path), Type: trustHow}
		}
	}
	return nil
}

// trustHow is how a person tells Codex that they trust hooks.
const trustHow = "codex, and in it /hooks"

// codexIdentity is the name under which Codex keeps whether our hook for an event is
// trusted, and the hash of what it is.
func codexIdentity(path string, text []byte, e codex.Event) (key, hash string, err error) {
	root, err := codexFormat.object(text)
	if err != nil {
		return "", "", err
	}
	name := snake(string(e))
	for gi, g := range elements(root.get("hooks").get(string(e))) {
		for hi, h := range elements(g.get("hooks")) {
			if codexFormat.program(text, h) == "" {
				continue
			}
			hash, err := codexHash(name, text, g, h)
			return fmt.Sprintf("%s:%s:%d:%d", path, name, gi, hi), hash, err
		}
	}
	return "", "", fmt.Errorf("%s has no hook of ours for %s", path, e)
}

// codexHash is the hash that Codex takes of a hook: over its event, its matcher
// and itself, with the defaults filled in, in canonical JSON.
func codexHash(event string, text []byte, g, h *node) (string, error) {
	timeout := 600
	if t := h.get("timeout"); t != nil {
		n, err := strconv.Atoi(string(t.raw(text)))
		if err != nil {
			return "", fmt.Errorf("the timeout of the hook is no whole number")
		}
		timeout = max(n, 1)
	}
	handler := map[string]any{
		"type": "command", "command": stringOf(text, h.get("command")), "timeout": timeout, "async": truth(text, h.get("async")),
	}
	if m := h.get("statusMessage"); m != nil {
		handler["statusMessage"] = stringOf(text, m)
	}
	identity := map[string]any{"event_name": event, "hooks": []any{handler}}
	if m := g.get("matcher"); m != nil {
		identity["matcher"] = stringOf(text, m)
	}
	whole, err := canonical(identity)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(whole)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// snake is the name of an event as Codex writes it in keys.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// codexState is what Codex's configuration says of one hook.
type codexState struct {
	hash     string
	disabled bool
}

// codexStates reads the tables [hooks.state."KEY"] of a config.toml, as Codex
// writes them. What is written in another way is not found, and then the hook
// counts as not trusted: doctor asks Codex itself.
func codexStates(config []byte) map[string]codexState {
	states := map[string]codexState{}
	key, within := "", false
	for line := range bytes.Lines(config) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "[") {
			key, within = stateKey(text)
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		if !within || !ok {
			continue
		}
		state := states[key]
		switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
		case "trusted_hash":
			state.hash, _ = tomlString(value)
		case "enabled":
			state.disabled = value != "true"
		}
		states[key] = state
	}
	return states
}

// codexSwitchedOff reports whether a config.toml switches hooks off altogether.
func codexSwitchedOff(config []byte) bool {
	table := ""
	for line := range bytes.Lines(config) {
		text, _, _ := strings.Cut(string(line), "#")
		text = strings.Join(strings.Fields(text), "")
		if strings.HasPrefix(text, "[") {
			table = text
			continue
		}
		name, value, _ := strings.Cut(text, "=")
		if table == "" && name == "features.hooks" || table == "[features]" && name == "hooks" {
			return value != "true"
		}
		if table == "" && name == "features" && strings.Contains(value, "hooks=false") {
			return true
		}
	}
	return false
}

// stateKey is the key in the head of a table [hooks.state."KEY"].
func stateKey(head string) (string, bool) {
	rest, ok := strings.CutPrefix(head, "[hooks.state.")
	if !ok {
		return "", false
	}
	rest, ok = strings.CutSuffix(rest, "]")
	if !ok {
		return "", false
	}
	return tomlString(rest)
}

// tomlString reads a string of TOML: as it stands between single quotes, or
// with the escapes that JSON has too between double ones.
func tomlString(text string) (string, bool) {
	if n := len(text); n > 1 && text[0] == '\'' && text[n-1] == '\'' && !strings.Contains(text[1:n-1], "'") {
		return text[1 : n-1], true
	}
	var s string
	if err := jcs.Unmarshal([]byte(text), &s); err != nil {
		return "", false
	}
	return s, true
}
