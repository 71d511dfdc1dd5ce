package sqlite_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// open opens the log at path until the test ends.
func open(t testing.TB, path string, opts *sqlite.Options) *sqlite.Log {
	t.Helper()
	l, err := sqlite.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// place is a path in a folder that is not there yet.
func place(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "log.db") }

var _ sayso.Log = (*sqlite.Log)(nil)

// pathOf is the file of a log.
func pathOf(_ testing.TB, l *sqlite.Log) string { return l.Path() }

// holds reports whether a file contains text. It reads in another process:
// closing the file of an open database would drop our locks on it.
func holds(path, text string) (bool, error) {
	err := exec.Command("grep", "-q", "-F", "-e", text, path).Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}
