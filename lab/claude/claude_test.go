//go:build unix

package claude_test

import (
	"fmt"
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

// A row is one call whose hook runs a script of its own.
type row struct {
	name, script string
	ran          string // "marker" if the call should run as it was made, "edited" if as rewritten, else nothing
	told         string // part of what the model should be told
}

// check makes the call of every row in one session, one after the other.
func check(t *testing.T, o claude.Options, settings string, rows []row) {
	t.Helper()
	o.Dir = t.TempDir()
	scripts := t.TempDir()
	var turns []modelstub.Turn
	for i, r := range rows {
		id := fmt.Sprintf("toolu_%02d", i)
		write(t, filepath.Join(scripts, id), strings.ReplaceAll(r.script, "touch edited", "touch edited-"+id))
		turns = append(turns, modelstub.Use(modelstub.Call{ID: id, Name: "Bash", Input: bash("touch marker-" + id)}))
	}
	o.Stub = modelstub.New(turns...)
	o.Settings = claude.Settings(settings, claude.Shell(runOwn(scripts)))
	told := map[string]string{}
	for _, r := range claude.Run(t, o).Results {
		told[r.ID] = r.Content
	}
	for i, r := range rows {
		id := fmt.Sprintf("toolu_%02d", i)
		t.Run(r.name, func(t *testing.T) {
			if got := ran(o.Dir, "-"+id); got != r.ran {
				t.Errorf("ran %q, want %q", got, r.ran)
			}
			if !strings.Contains(told[id], r.told) {
				t.Errorf("the model was told %q, want %q in it", told[id], r.told)
			}
		})
	}
}

// runOwn is a script that runs the file in dir that is named after the call.
func runOwn(dir string) string {
	return `exec sh "` + dir + `/$(grep -o '"tool_use_id":"[^"]*' | cut -d '"' -f 4)"`
}

// touched runs one session that makes the touch call, and returns what ran and
// what the model was told.
func touched(t *testing.T, o claude.Options) (string, string) {
	t.Helper()
	o.Dir = t.TempDir()
	o.Stub = modelstub.New(modelstub.Use(touch))
	res := claude.Run(t, o)
	if len(res.Results) == 0 {
		return ran(o.Dir, ""), ""
	}
	return ran(o.Dir, ""), res.Results[0].Content
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
