//go:build unix

package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sayso-dev/sayso/lab/claude"
)

// TestLive runs the stories that need the real Claude Code.
func TestLive(t *testing.T) {
	program := claude.Binary(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/live",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SAYSO_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("SAYSO_NOTICE", "off")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("CLAUDE", program)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waiting": waiting, "decided": decided,
		},
		RequireExplicitExec: true,
	})
}
