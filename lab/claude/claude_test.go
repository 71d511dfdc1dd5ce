//go:build unix

package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

// What a PreToolUse hook can print.
const (
	allow = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"fine"}}`
	deny  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"use make deploy"}}`
	ask   = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"look first"}}`
	edit  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"touch edited"}}}`
	amend = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"touch edited"}}}`
)

// touch is the call that most tests make; it leaves a file "marker".
var touch = modelstub.Call{ID: "toolu_01", Name: "Bash", Input: `{"command":"touch marker"}`}

func printing(reply string) string { return "printf '%s' '" + reply + "'" }

// ran lists the marker files that calls left in dir.
func ran(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	for _, name := range []string{"marker", "edited"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// touched runs one session that makes the touch call, and returns what ran and
// what the model was told.
func touched(t *testing.T, o claude.Options) (string, modelstub.ToolResult) {
	t.Helper()
	o.Dir = t.TempDir()
	o.Stub = modelstub.New(modelstub.Use(touch))
	res := claude.Run(t, o)
	if len(res.Results) == 0 {
		return ran(t, o.Dir), modelstub.ToolResult{}
	}
	return ran(t, o.Dir), res.Results[0]
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// fifo makes a named pipe: a hook that writes to it waits until it is read.
func fifo(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := mkfifo(path); err != nil {
		t.Fatal(err)
	}
	return path
}
