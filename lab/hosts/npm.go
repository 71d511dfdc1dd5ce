//go:build unix

package hosts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso/internal/filelock"
)

// Dir returns the folder that the host is installed in, installing it first if
// the cache has none. The cache is $SAYSO_TEST_CACHE, else ~/.cache/sayso-test.
// A host that cannot be had fails the test, so that it is never a silent pass;
// with SAYSO_OFFLINE=1 the test is skipped instead.
func (h Host) Dir(t testing.TB) string {
	t.Helper()
	dir, err := h.fetch()
	switch {
	case err == nil:
		return dir
	case os.Getenv("SAYSO_OFFLINE") == "1":
		t.Skipf("the real %s %s is not in the cache and SAYSO_OFFLINE=1 forbids fetching it; type: SAYSO_OFFLINE= go test ./...", h.Name, h.Version)
	default:
		t.Fatalf("cannot get the real %s %s: %v; connect to an npm registry, or set SAYSO_OFFLINE=1 to skip the tests that need it", h.Name, h.Version, err)
	}
	return ""
}

// fetch returns the installed folder, or installs it under a file lock, so that
// test binaries that start together download it once. The install is renamed
// into place when it is complete: a cut download is never used.
func (h Host) fetch() (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, h.Name+"-"+h.Version)
	if _, err := os.Stat(h.program(dir)); err == nil {
		return dir, nil
	}
	if os.Getenv("SAYSO_OFFLINE") == "1" {
		return "", errors.New("not cached, and offline")
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	alone, err := filelock.Wait(dir+".lock", filelock.Exclusive)
	if err != nil {
		return "", err
	}
	defer func() { _ = alone.Close() }() // nothing was written to it
	if _, err := os.Stat(h.program(dir)); err == nil {
		return dir, nil // another process was faster
	}
	return dir, h.install(cache, dir)
}

func cacheDir() (string, error) {
	if dir := os.Getenv("SAYSO_TEST_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".cache", "sayso-test"), nil
}

func (h Host) install(cache, dir string) error {
	tmp, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	cmd := exec.Command("npm", "install", "--prefix", tmp, "--ignore-scripts", "--no-audit", "--no-fund", h.Package+"@"+h.Version)
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, out)
	}
	if _, err := os.Stat(h.program(tmp)); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}

// program is the file that npm links to start the host.
func (h Host) program(dir string) string {
	return filepath.Join(dir, "node_modules", ".bin", h.Bin)
}
