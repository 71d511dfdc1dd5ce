//go:build unix

package claude_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

// TestQuestions: AskUserQuestion and ExitPlanMode are questions to the user by
// themselves. A hook that says nothing leaves them to the host's own screen,
// and so does a bare allow; but an allow that carries an input answers in the
// user's place. A gate must therefore have no opinion on them.
func TestQuestions(t *testing.T) {
	t.Parallel()
	const questions = `{"questions":[{"question":"Which?","header":"Pick","multiSelect":false,"options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]}]}`
	answered := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":` +
		strings.TrimSuffix(questions, "}") + `,"answers":{"Which?":"B"}}}}`
	approved := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{}}}`
	const screen = "Tool permission request failed" // the host asked, and nobody was there
	tests := []struct {
		name, tool, input, mode, script, told string
	}{
		{"question/nothing", "AskUserQuestion", questions, "default", "exit 0", screen},
		{"question/allow", "AskUserQuestion", questions, "default", printing(allow), screen},
		{"question/allow in bypass", "AskUserQuestion", questions, "bypassPermissions", printing(allow), screen},
		{"question/deny", "AskUserQuestion", questions, "default", printing(deny), "use make deploy"},
		{"question/answered by the hook", "AskUserQuestion", questions, "default", printing(answered), `"Which?"="B"`},
		{"plan/nothing", "ExitPlanMode", `{}`, "plan", "exit 0", screen},
		{"plan/allow", "ExitPlanMode", `{}`, "plan", printing(allow), screen},
		{"plan/deny", "ExitPlanMode", `{}`, "plan", printing(deny), "use make deploy"},
		{"plan/approved by the hook", "ExitPlanMode", `{}`, "plan", printing(approved), "User has approved exiting plan mode"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := attended(claude.Options{Mode: tt.mode, Settings: claude.Settings("", claude.Shell(tt.script))})
			if got := told(t, o, tt.tool, tt.input); !strings.Contains(got, tt.told) {
				t.Errorf("the model was told %q, want %q in it", got, tt.told)
			}
		})
	}
}

// TestQuestionsUnattended: without anybody to ask the tools do not exist, and
// no hook is asked.
func TestQuestionsUnattended(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"AskUserQuestion", "ExitPlanMode", "EnterPlanMode"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			got := told(t, claude.Options{Settings: claude.Settings("", claude.Shell(printing(deny)))}, tool, `{}`)
			if !strings.Contains(got, "No such tool available: "+tool) {
				t.Errorf("the model was told %q", got)
			}
		})
	}
}

// told runs one call of a tool and returns what the model was told.
func told(t *testing.T, o claude.Options, tool, input string) string {
	t.Helper()
	o.Stub = modelstub.New(modelstub.Use(modelstub.Call{ID: "toolu_01", Name: tool, Input: input}))
	res := claude.Run(t, o)
	if len(res.Results) != 1 {
		t.Fatalf("%d results, want 1; stderr: %s", len(res.Results), res.Stderr)
	}
	return res.Results[0].Content
}
