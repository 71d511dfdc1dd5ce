//go:build unix

package mcp

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

// installed is this process's one look at the cache.
var installed = sync.OnceValues(install)

// servers is the folder with the servers of servers/package-lock.json. Where they
// cannot be had the test fails, unless SAYSO_OFFLINE=1 says that nothing may be
// fetched.
func servers(t *testing.T) string {
	t.Helper()
	dir, err := installed()
	switch {
	case err == nil:
		return dir
	case os.Getenv("SAYSO_OFFLINE") == "1":
		t.Skip("the real MCP servers are not in the cache and SAYSO_OFFLINE=1 forbids fetching them; type: SAYSO_OFFLINE= .ci/examples")
	default:
		t.Fatalf("cannot get the real MCP servers: %v; connect to an npm registry, or set SAYSO_OFFLINE=1", err)
	}
	return ""
}

// install puts the servers into the cache, $SAYSO_TEST_CACHE or
// ~/.cache/sayso-test, under the name that their lock file has by its content.
func install() (string, error) {
	cache := os.Getenv("SAYSO_TEST_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(home, ".cache", "sayso-test")
	}
	dir := filepath.Join(cache, "mcp-servers-2026.8.31")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
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
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
		return dir, nil // another process was faster
	}
	tmp, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(tmp, os.DirFS("servers")); err != nil {
		return "", err
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return dir, os.Rename(tmp, dir)
}
