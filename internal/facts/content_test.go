package facts_test

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
)

// edits are the facts of an edit of a file.
func edits(t *testing.T, app, path string) sayso.PathFact {
	t.Helper()
	f := facts.Gather(t.Context(), call(t, app, "file-edit", obj{"path": path}), facts.Options{})
	o, ok := f.Operand("path")
	if !ok {
		t.Fatalf("no operand: %+v", f)
	}
	return o
}

// The content of the file that a call would change is a fact, and of no other.
func TestGather_pinsWhatIsChanged(t *testing.T) {
	app := place(t) + "/app"
	x := sayso.Digest(sha256.Sum256([]byte("x")))
	for _, tt := range []struct {
		tool, path string
		want       sayso.Digest
	}{
		{"file-edit", "sub/x", x},
		{"file-write", "sub/x", x},
		{"file-write", "../x", sayso.Digest(sha256.Sum256([]byte("not the project's")))},
		{"file-read", "sub/x", sayso.Digest{}},
		{"file-delete", "sub/x", sayso.Digest{}},
		{"file-write", "sub/new", sayso.Digest{}},
		{"file-write", "sub", sayso.Digest{}},
		{"file-write", "loop", sayso.Digest{}},
	} {
		f := facts.Gather(t.Context(), call(t, app, tt.tool, obj{"path": tt.path}), facts.Options{})
		if o, _ := f.Operand("path"); o.Digest != tt.want || f.Truncated {
			t.Errorf("%s %s: %+v", tt.tool, tt.path, f)
		}
	}
	two := facts.Gather(t.Context(), call(t, app, "file-write", obj{"path": "out/../x"}), facts.Options{})
	for _, o := range two.Operands {
		if len(two.Operands) < 2 || !o.Digest.IsZero() {
			t.Errorf("a path with two readings: %+v", two.Operands)
		}
	}
	before := facts.Gather(t.Context(), call(t, app, "file-edit", obj{"path": "sub/x"}), facts.Options{})
	if err := os.WriteFile(app+"/sub/x", []byte("y"), 0o600); err != nil {
		t.Fatal(err)
	}
	if before.Equal(facts.Gather(t.Context(), call(t, app, "file-edit", obj{"path": "sub/x"}), facts.Options{})) {
		t.Error("another content is the same fact")
	}
}

func TestContent(t *testing.T) {
	app := place(t) + "/app"
	o := edits(t, app, "sub/x")
	if text, err := facts.Content(o); err != nil || text != "x" {
		t.Fatalf("%q, %v", text, err)
	}
	through := edits(t, app, "far")
	if text, err := facts.Content(through); err != nil || text != "s" {
		t.Errorf("through a link: %q, %v", text, err)
	}
	big := filepath.Join(app, "big")
	if err := os.WriteFile(big, []byte(strings.Repeat("x", facts.MaxContent+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(app, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := edits(t, app, "run.sh")
	if err := os.Remove(app + "/run.sh"); err != nil {
		t.Fatal(err)
	}
	swapped := edits(t, app, "sub/x")
	unpinned := o
	unpinned.Digest = sayso.Digest{}
	fifo := edits(t, app, "fifo")
	fifo.State = sayso.PathFile // as if it had been one when it was looked at
	for _, tt := range []struct {
		name string
		o    sayso.PathFact
		want error
	}{
		{"too large", edits(t, app, "big"), facts.ErrTooLarge},
		{"a folder", edits(t, app, "sub"), facts.ErrNoFile},
		{"nothing", edits(t, app, "new"), facts.ErrNoFile},
		{"no place", edits(t, app, "loop"), facts.ErrNoFile},
		{"gone", gone, fs.ErrNotExist},
		{"not pinned", unpinned, facts.ErrUnpinned},
		{"a pipe that nobody writes to", fifo, facts.ErrNoFile},
		{"changed", func() sayso.PathFact {
			if err := os.WriteFile(app+"/sub/x", []byte("y"), 0o600); err != nil {
				t.Fatal(err)
			}
			return o
		}(), facts.ErrChanged},
	} {
		text, err := facts.Content(tt.o)
		if text != "" || !errors.Is(err, tt.want) || strings.Contains(err.Error(), app) {
			t.Errorf("%s: %q, %v", tt.name, text, err)
		}
	}
	if err := os.Remove(app + "/sub/x"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(app+"/../x", app+"/sub/x"); err != nil {
		t.Fatal(err)
	}
	if text, err := facts.Content(swapped); text != "" || err == nil {
		t.Errorf("a link put there since: %q, %v", text, err)
	}
}
