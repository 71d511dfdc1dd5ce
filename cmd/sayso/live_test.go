//go:build unix

package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sayso-dev/sayso/lab/claude"
	"github.com/sayso-dev/sayso/lab/codex"
)

// TestLive runs the stories that need the real hosts.
func TestLive(t *testing.T) {
	program, codexProgram := claude.Binary(t), codex.Binary(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/live",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SAYSO_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("SAYSO_NOTICE", "off")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("CLAUDE", program)
			e.Setenv("CODEX", codexProgram)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waiting": waiting, "decided": decided,
			"trusted": func(ts *testscript.TestScript, _ bool, _ []string) { // in codex, by /hooks
				ts.Check(codex.Trust(codexProgram, codex.Options{Dir: ts.Getenv("WORK"), Home: ts.Getenv("HOME")}))
			},
		},
		RequireExplicitExec: true,
	})
}
