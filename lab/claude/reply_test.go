//go:build unix

package claude_test

import (
	"strings"
	"testing"

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
	tests := []struct {
		name, script string
		ran          string // marker files afterwards
		told         string // part of what the model is told
	}{
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
		{"two objects", printing(deny + deny), "", "use make deploy"},
		{"cut short, exit 1", printing(cut) + "; exit 1", "", `blocking because onFailure is "block"`},
		{"cut short, exit 2", printing(cut) + "; exit 2", "", "No stderr output"},
		{"stop without a decision", printing(`{"continue":false,"stopReason":"stop"}`), "marker", ""},
		{"deny and stop", printing(replace(deny, `{`, `{"continue":false,"stopReason":"stop",`)), "", ""},
		// These run the tool although onFailure is "block".
		{"cut short, exit 0", printing(cut), "marker", ""},
		{"text", "echo hello", "marker", ""},
		{"text before the object", printing("hello\n" + deny), "marker", ""},
		{"no envelope", printing(`{"permissionDecision":"deny"}`), "marker", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			did, told := touched(t, claude.Options{Settings: claude.Settings("", claude.Shell(tt.script))})
			if did != tt.ran {
				t.Errorf("ran %q, want %q", did, tt.ran)
			}
			if !strings.Contains(told.Content, tt.told) {
				t.Errorf("the model was told %q, want %q in it", told.Content, tt.told)
			}
		})
	}
}

// TestSlowReplies is TestReplies for a hook that the host gives up on.
func TestSlowReplies(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"silent":                "exec sleep 60",
		"half a reply":          printing(deny[:60]) + "; exec sleep 60",
		"a whole deny":          printing(deny) + "; exec sleep 60",
		"a whole allow":         printing(allow) + "; exec sleep 60",
		"deaf to SIGTERM":       "trap '' TERM; sleep 60; sleep 60",
		"a child holds its out": "sleep 60 & " + printing(allow) + "; exec sleep 60",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook := claude.Shell(script)
			hook.Timeout = 1
			did, told := touched(t, claude.Options{Settings: claude.Settings("", hook)})
			if did != "" || !strings.Contains(told.Content, `timed out; blocking because onFailure is "block"`) {
				t.Errorf("ran %q, the model was told %q", did, told.Content)
			}
		})
	}
}

// TestHookThatIsMissing: a program that is gone blocks the call. What the
// model is told holds the whole command line, so no secret belongs there.
func TestHookThatIsMissing(t *testing.T) {
	t.Parallel()
	hook := claude.Hook{Event: "PreToolUse", Command: "/nonexistent/gate", Args: []string{"claude-code"}, OnFailure: "block"}
	did, told := touched(t, claude.Options{Settings: claude.Settings("", hook)})
	if did != "" || !strings.Contains(told.Content, "[/nonexistent/gate claude-code]: failed; blocking") {
		t.Errorf("ran %q, the model was told %q", did, told.Content)
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
				t.Errorf("ran %q, the model was told %q", did, told.Content)
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
		t.Errorf("ran %q, the model was told %q", did, told.Content)
	}
}
