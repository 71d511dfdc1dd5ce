//go:build unix

package claude_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

// TestReplies is the host's side of failing closed: for each way a PreToolUse
// hook with onFailure "block" can end, whether the tool runs and what the
// model is told. The rows that run the tool are the ones the hook itself must
// never produce.
func TestReplies(t *testing.T) {
	t.Parallel()
	replace := func(reply, old, new string) string { return strings.Replace(reply, old, new, 1) }
	cut := deny[:60]
	check(t, claude.Options{}, "", []row{
		{"says nothing", "exit 0", "marker", ""},
		{"allow", printing(allow), "marker", ""},
		{"allow with another input", printing(edit), "edited", ""},
		{"another input, no decision", printing(amend), "edited", ""},
		{"another input with a member too many", printing(replace(edit, `"command"`, `"x":1,"command"`)), "edited", ""},
		{"another input that the tool refuses", printing(replace(edit, `"command"`, `"cmd"`)), "", "failed schema validation"},
		{"deny", printing(deny), "", "PreToolUse:Bash hook error: use make deploy"},
		{"deny, exit 2, text on stderr", printing(deny) + "; echo other >&2; exit 2", "", "PreToolUse:Bash hook error: use make deploy"},
		{"deny, exit 2, nothing on stderr", printing(deny) + "; exit 2", "", "use make deploy"},
		{"deny, exit 1", printing(deny) + "; exit 1", "", "use make deploy"},
		{"deny with a member too many", printing(replace(deny, `"hookEventName"`, `"x":1,"hookEventName"`)), "", "use make deploy"},
		{"deny with a long reason", printing(replace(deny, "use make", strings.Repeat("long ", 4000)+"use make")), "", "use make deploy"},
		{"ask, and nobody can be asked", printing(ask), "", "look first"},
		{"allow, exit 1", printing(allow) + "; exit 1", "", `blocking because onFailure is "block"`},
		{"allow, exit 2", printing(allow) + "; exit 2", "", "No stderr output"},
		{"exit 1", "exit 1", "", `blocking because onFailure is "block"`},
		{"exit 1, text on stderr", "echo why >&2; exit 1", "", "why"},
		{"exit 2", "exit 2", "", "No stderr output"},
		{"exit 2, text on stderr", "echo why >&2; exit 2", "", "why"},
		{"killed", "kill -9 $$", "", `blocking because onFailure is "block"`},
		{"terminated", "kill -15 $$", "", `blocking because onFailure is "block"`},
		{"unknown decision", printing(replace(deny, `"deny"`, `"nope"`)), "", "Hook JSON output validation failed"},
		{"another event's name", printing(replace(deny, "PreToolUse", "PostToolUse")), "", "incorrect event name"},
		{"two objects", printing(deny + deny), "", "looks like a JSON object but is not valid JSON"},
		{"cut short, exit 1", printing(cut) + "; exit 1", "", `blocking because onFailure is "block"`},
		{"cut short, exit 2", printing(cut) + "; exit 2", "", "No stderr output"},
		// These run the tool although onFailure is "block".
		{"cut short, exit 0", printing(cut), "marker", ""},
		{"text", "echo hello", "marker", ""},
		{"text before the object", printing("hello\n" + deny), "marker", ""},
		{"no envelope", printing(`{"permissionDecision":"deny"}`), "marker", ""},
	})
}

// TestStop: "continue": false ends the agent's turn. It is no decision: the
// call runs unless it is denied as well.
func TestStop(t *testing.T) {
	t.Parallel()
	stop := `{"continue":false,"stopReason":"stop"`
	for name, tt := range map[string]struct{ reply, ran string }{
		"alone":     {stop + "}", "marker"},
		"with deny": {stop + "," + strings.TrimPrefix(deny, "{"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			did, told := touched(t, claude.Options{Settings: claude.Settings("", claude.Shell(printing(tt.reply)))})
			if did != tt.ran || told != "" {
				t.Errorf("ran %q, want %q; the model was told %q, want nothing", did, tt.ran, told)
			}
		})
	}
}

// TestSlowReplies is TestReplies for hooks that the host gives up on. The
// calls only read, so that their hooks wait at the same time.
func TestSlowReplies(t *testing.T) {
	t.Parallel()
	const secret = "what the file says"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), secret)
	scripts := []string{
		"exec sleep 60",
		printing(deny[:60]) + "; exec sleep 60",
		printing(deny) + "; exec sleep 60",
		printing(allow) + "; exec sleep 60",
		"trap '' TERM; sleep 60; sleep 60",
		"sleep 60 & " + printing(allow) + "; exec sleep 60",
	}
	var calls []modelstub.Call
	hook := claude.Shell(runOwn(dir))
	hook.Timeout = 1
	for i, script := range scripts {
		id := fmt.Sprintf("toolu_%02d", i)
		write(t, filepath.Join(dir, id), script)
		calls = append(calls, modelstub.Call{ID: id, Name: "Bash", Input: bash("cat file")})
	}
	res := claude.Run(t, claude.Options{Dir: dir, Stub: modelstub.New(modelstub.Use(calls...)), Settings: claude.Settings("", hook)})
	if len(res.Results) != len(scripts) {
		t.Fatalf("%d results, want %d", len(res.Results), len(scripts))
	}
	for i, r := range res.Results {
		if !strings.Contains(r.Content, `timed out; blocking because onFailure is "block"`) || strings.Contains(r.Content, secret) {
			t.Errorf("%s: the model was told %q", scripts[i], r.Content)
		}
	}
}

// TestHookThatIsMissing: a program that is gone blocks the call. What the
// model is told holds the whole command line, so no secret belongs there.
func TestHookThatIsMissing(t *testing.T) {
	t.Parallel()
	hook := claude.Hook{Event: "PreToolUse", Command: "/nonexistent/gate", Args: []string{"claude-code"}, OnFailure: "block"}
	did, told := touched(t, claude.Options{Settings: claude.Settings("", hook)})
	if did != "" || !strings.Contains(told, "[/nonexistent/gate claude-code]: failed; blocking") {
		t.Errorf("ran %q, the model was told %q", did, told)
	}
}

// TestWithoutOnFailure shows why the switch is needed: what blocks above runs
// the tool here.
func TestWithoutOnFailure(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"exit 1": "exit 1", "killed": "kill -9 $$", "slow": "exec sleep 60"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook := claude.Shell(script)
			hook.OnFailure, hook.Timeout = "", 1
			if did, told := touched(t, claude.Options{Settings: claude.Settings("", hook)}); did != "marker" {
				t.Errorf("ran %q, the model was told %q", did, told)
			}
		})
	}
}

// TestLongestTimeout: a timeout of more than 2^31 ms does not wrap around to
// none.
func TestLongestTimeout(t *testing.T) {
	t.Parallel()
	hook := claude.Shell("sleep 0.3; " + printing(deny))
	hook.Timeout = 3_000_000
	if did, told := touched(t, claude.Options{Settings: claude.Settings("", hook)}); did != "" {
		t.Errorf("ran %q, the model was told %q", did, told)
	}
}
