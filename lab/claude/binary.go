//go:build unix

package claude

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sayso-dev/sayso/internal/filelock"
)

const npmPackage = "@anthropic-ai/claude-code"

// fetched is this process's one look at the cache.
var fetched = sync.OnceValues(fetch)

// Binary returns the path of the Claude Code executable, installing it first
// if the cache has none. The cache is $SAYSO_TEST_CACHE, else
// ~/.cache/sayso-test. A binary that cannot be had fails the test, so that a
// missing agent is never a silent pass; with SAYSO_OFFLINE=1 the test is
// skipped instead.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := fetched()
	switch {
	case err == nil:
		return path
	case os.Getenv("SAYSO_OFFLINE") == "1":
		t.Skipf("the real Claude Code %s is not in the cache and SAYSO_OFFLINE=1 forbids fetching it; type: SAYSO_OFFLINE= go test ./...", Version)
	default:
		t.Fatalf("cannot get the real Claude Code %s: %v; connect to an npm registry, or set SAYSO_OFFLINE=1 to skip the tests that need it", Version, err)
	}
	return ""
}

// fetch returns the cached executable, or installs it under a file lock, so
// that test binaries that start together download it once. The install is
// renamed into place when it is complete: a cut download is never used.
func fetch() (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "claude-"+Version)
	if path, err := executable(dir); err == nil {
		return path, nil
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
	if path, err := executable(dir); err == nil {
		return path, nil // another process was faster
	}
	if err := install(cache, dir); err != nil {
		return "", err
	}
	return executable(dir)
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

// executable finds the native binary in an install. The release carries it in
// an optional dependency per platform, of which npm takes the fitting one. The
// wrapper package's own script, which would copy it, may not run under npm 11,
// and is not needed.
func executable(dir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", npmPackage+"-*", "claude"))
	if err != nil {
		return "", err
	}
	for _, path := range found {
		if st, err := os.Stat(path); err == nil && st.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("no claude executable for this platform under %s", dir)
}

func install(cache, dir string) error {
	tmp, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	cmd := exec.Command("npm", "install", "--prefix", tmp, "--ignore-scripts", "--no-audit", "--no-fund",
		npmPackage+"@"+Version)
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, out)
	}
	if _, err := executable(tmp); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}
