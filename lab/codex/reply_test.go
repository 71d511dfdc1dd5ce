//go:build unix

package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/codex"
)

// What a PreToolUse hook can print.
const (
	deny    = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"use make deploy"}}`
	mute    = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`
	surplus = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"use make deploy","x":1}}`
	allow   = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`
	edit    = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"touch edited-ID"},` +
		`"additionalContext":"Allowed by ana with edited arguments"}}`
)

func printing(reply string) string { return "cat >/dev/null; printf '%s' '" + reply + "'" }

// TestReply is the table that the adapter is built on: what Codex does with a
// call whose hook does this. One session makes all the calls.
func TestReply(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, script string
		ran          string // "marker" if the call runs as it was made, "edited" if as rewritten, else nothing
		told         string // part of what the model is told
	}{
		{"silent", "cat >/dev/null", "marker", ""},
		{"deny, status 0", printing(deny), "", "use make deploy"},
		{"deny, status 2, words", printing(deny) + "; echo no >&2; exit 2", "", "no"},
		{"words, status 2", "cat >/dev/null; echo use make deploy >&2; exit 2", "", "use make deploy"},
		{"edit", printing(edit), "edited", ""},
		// From here on the hook failed, and the tool runs.
		{"allow, nothing more", printing(allow), "marker", ""},
		{"deny, status 2, no words", printing(deny) + "; exit 2", "marker", ""},
		{"deny, status 1", printing(deny) + "; exit 1", "marker", ""},
		{"deny, no reason", printing(mute), "marker", ""},
		{"deny, and something more", printing(surplus), "marker", ""},
		{"half a deny", printing(deny[:len(deny)/2]), "marker", ""},
		{"garbage", printing("no, never"), "marker", ""},
		{"status 2 alone", "cat >/dev/null; exit 2", "marker", ""},
		{"status 1", "cat >/dev/null; exit 1", "marker", ""},
		{"killed", "kill -9 $$", "marker", ""},
		{"missing", "exec /no/such/hook", "marker", ""},
		{"too slow", "sleep 30", "marker", ""},
	}
	dir, scripts := t.TempDir(), t.TempDir()
	var turns []modelstub.Turn
	for i, r := range rows {
		id := fmt.Sprintf("call_%02d", i)
		codex.Write(t, filepath.Join(scripts, id), strings.ReplaceAll(r.script, "ID", id))
		turns = append(turns, modelstub.Use(modelstub.Call{ID: id, Name: "exec_command", Input: command(t, "touch marker-"+id)}))
	}
	home := t.TempDir()
	hooks(t, home, `id=$(head -c 100000 | tee "`+scripts+`/in" | grep -o '"tool_use_id":"[^"]*' | cut -d '"' -f 4); exec sh "`+scripts+`/$id" <"`+scripts+`/in"`, 3)
	res := codex.Run(t, codex.Options{Stub: modelstub.New(turns...), Dir: dir, Home: home, Args: []string{"--dangerously-bypass-hook-trust"}})
	for i, r := range rows {
		id := fmt.Sprintf("call_%02d", i)
		t.Run(r.name, func(t *testing.T) {
			if got := ran(dir, "-"+id); got != r.ran {
				t.Errorf("ran %q, want %q; the model was told %q", got, r.ran, res.Told(id))
			}
			if told := res.Told(id); !strings.Contains(told, r.told) || told == "" {
				t.Errorf("the model was told %q, want %q in it", told, r.told)
			}
		})
	}
}

// A denial holds also where the hook did not listen to the end of a large call.
func TestReply_unheard(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	hooks(t, home, `exec 0<&-; echo no >&2; exit 2`, 10)
	stub := modelstub.New(modelstub.Use(modelstub.Call{ID: "call_1", Name: "exec_command", Input: command(t, "touch marker; : "+strings.Repeat("x", 100_000))}))
	res := codex.Run(t, codex.Options{Stub: stub, Dir: dir, Home: home, Args: []string{"--dangerously-bypass-hook-trust"}})
	if told := res.Told("call_1"); ran(dir, "") != "" || !strings.Contains(told, "PreToolUse hook: no") {
		t.Errorf("ran %q, and the model was told %.300q", ran(dir, ""), told)
	}
}

// A hook that nobody trusts is skipped without a word, and the tool runs.
func TestTrust(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	hooks(t, home, "cat >/dev/null; echo no >&2; exit 2", 10)
	o := codex.Options{Home: home, Dir: t.TempDir()}
	for _, want := range []string{"marker", ""} {
		o.Stub = modelstub.New(modelstub.Use(modelstub.Call{ID: "call_1", Name: "exec_command", Input: command(t, "touch marker")}))
		codex.Run(t, o)
		if got := ran(o.Dir, ""); got != want {
			t.Errorf("ran %q, want %q", got, want)
		}
		if err := codex.Trust(codex.Binary(t), o); err != nil {
			t.Fatal(err)
		}
		o.Dir = t.TempDir()
	}
}

// hooks writes a hooks.json with one script for PreToolUse.
func hooks(t *testing.T, home, script string, timeout int) {
	t.Helper()
	path := filepath.Join(home, "hook.sh")
	codex.Write(t, path, script)
	text, err := jcs.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{"hooks": []any{
		map[string]any{"type": "command", "command": "sh '" + path + "'", "timeout": timeout},
	}}}}})
	if err != nil {
		t.Fatal(err)
	}
	codex.Write(t, filepath.Join(home, ".codex", "hooks.json"), string(text))
}

func command(t *testing.T, line string) string {
	t.Helper()
	text, err := jcs.Marshal(map[string]string{"cmd": line})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ran lists the marker files with suffix that calls left in dir.
func ran(dir, suffix string) string {
	var names []string
	for _, name := range []string{"marker", "edited"} {
		if _, err := os.Stat(filepath.Join(dir, name+suffix)); err == nil {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}
