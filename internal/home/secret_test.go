package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

func TestReadSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if _, err := home.ReadSecret(path); !errors.Is(err, sayso.ErrNotFound) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("whsec_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := home.ReadSecret(path); err != nil || s != "whsec_x" {
		t.Errorf("got %q, %v", s, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		s, err := home.ReadSecret(path)
		if err == nil || s != "" || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), "whsec") {
			t.Errorf("mode %o: %q, %v", mode, s, err)
		}
	}
	if s, err := home.ReadSecret(filepath.Dir(path)); err == nil {
		t.Errorf("a folder: %q", s)
	}
}
