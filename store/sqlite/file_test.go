package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/store/sqlite"
)

func TestOpen_makesAPrivatePlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "log.db")
	l := open(t, path, &sqlite.Options{Checkpoint: true})
	lived(t, l, 3)
	if _, err := l.Hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	archive(t, l, later())
	err := filepath.WalkDir(filepath.Dir(path), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpen_refusesPlaces(t *testing.T) {
	chmod := func(mode os.FileMode, of func(string) string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			if err := os.Chmod(of(path), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	file := func(path string) string { return path }
	for _, tt := range []struct {
		name  string
		spoil func(*testing.T, string)
		says  string
	}{
		{"a folder that the group reads", chmod(0o750, filepath.Dir), "chmod 700"},
		{"a folder that all enter", chmod(0o701, filepath.Dir), "chmod 700"},
		{"a file that the group reads", chmod(0o640, file), "chmod 600"},
		{"a file that all write", chmod(0o602, file), "chmod 600"},
		{"a link", func(t *testing.T, path string) {
			t.Helper()
			if err := os.Rename(path, path+"2"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+"2", path); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
		{"another user's file", func(t *testing.T, path string) {
			t.Helper()
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away; type: sudo -E go test ./store/sqlite")
			}
			if err := os.Chown(path, 12345, 12345); err != nil {
				t.Fatal(err)
			}
		}, "belongs to user 12345"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := place(t)
			if err := open(t, path, nil).Close(); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, path)
			l, err := sqlite.Open(t.Context(), path, nil)
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Open says %v, without %q", err, tt.says)
			}
		})
	}
}

func TestOpen_refusesOtherFileSystems(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc on this system; on Linux, type: go test ./store/sqlite")
	}
	// The file systems of the network are known by number; what can be tried
	// everywhere is that a place without any file is an error and not a panic.
	if _, err := sqlite.Open(t.Context(), "/proc/self/sayso/log.db", nil); err == nil {
		t.Error("a log was opened in /proc")
	}
}
