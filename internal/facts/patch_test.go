package facts_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// All files of a patch are looked up, and those that are there are pinned.
func TestGather_patch(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gather := func(patch string) sayso.Facts {
		args, err := jcs.Marshal(map[string]string{"command": patch})
		if err != nil {
			t.Fatal(err)
		}
		return facts.Gather(t.Context(), sayso.Call{Host: "codex", Tool: "apply_patch", Args: args, Cwd: dir}, facts.Options{Workspace: dir})
	}
	f := gather("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-one\n+two\n*** Add File: sub/c\n+x\n*** End Patch\n")
	want := map[string]sayso.PathState{"a": sayso.PathFile, "b": sayso.PathMissing, "sub/c": sayso.PathMissing}
	if len(f.Operands) != len(want) || f.Truncated {
		t.Errorf("%+v", f)
	}
	for _, o := range f.Operands {
		if o.Arg != "command" || o.State != want[o.Path] || o.Resolved != filepath.Join(dir, o.Path) || o.Digest.IsZero() != (o.State != sayso.PathFile) {
			t.Errorf("%+v", o)
		}
	}
	if f := gather("no patch"); len(f.Operands) != 0 || !f.Truncated {
		t.Errorf("of what is no patch: %+v", f)
	}
}
