package sayso_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where the page cannot be built, the programs are built without it, and only
// make web fails.
func TestMakefile_aPageThatCannotBeBuilt(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make; type: apt-get install make")
	}
	const leftOut = "the page cannot be built now, and is left out; make web shows why\n"
	const (
		fetching = "fetching what builds the page, once (PAGE= leaves it out)\n"
		building = "building bin/sayso; the first time takes a minute or two\nbuilding bin/sayso-hook; the first time takes a minute or two\n"
	)
	tests := []struct {
		name, node, npm, goal string
		out, err              string
		built, fails          bool
	}{
		{"no registry", "exit 0", "echo no registry >&2; exit 1", "build", fetching + building, leftOut, false, false},
		{"no registry, and the page is wanted", "exit 0", "echo no registry >&2; exit 1", "web", fetching, "no registry\n", false, true},
		{"old Node", "exit 1", "exit 0", "build", building, leftOut, false, false},
		{"old Node, and the page is wanted", "exit 1", "exit 0", "web", "", "Node is missing, or older than 20\n", false, true},
		{"all is there", "exit 0", "mkdir -p web/dist/page web/ui/node_modules", "build", fetching + building, "", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			text, err := os.ReadFile("Makefile")
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{
				"Makefile": string(text), "go.mod": "", "go.sum": "", "docs/openapi.json": "", "web/ui/package-lock.json": "",
				"path/npm": "#!/bin/sh\n" + tt.npm + "\n", "path/node": "#!/bin/sh\n" + tt.node + "\n",
			} {
				name = filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("make", "-s", "GO=true", tt.goal)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "path")+":"+os.Getenv("PATH"), "MAKEFLAGS=")
			var out, told bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &told
			if err := cmd.Run(); (err != nil) != tt.fails {
				t.Errorf("make %s: %v", tt.goal, err)
			}
			if said := told.String(); out.String() != tt.out || !strings.HasPrefix(said, tt.err) || !tt.fails && said != tt.err {
				t.Errorf("make %s says %q and %q", tt.goal, out.String(), said)
			}
			if _, err := os.Stat(filepath.Join(dir, "web/dist/page/index.html")); (err == nil) != tt.built {
				t.Errorf("the page: %v", err)
			}
		})
	}
}
