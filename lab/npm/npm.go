// Package npm keeps the programs that tests run in a cache outside the
// repository. Each is fetched from an npm registry at one exact version, once per
// machine.
package npm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso/internal/filelock"
)

// Package is what is fetched. Its folder in the cache is named after what is in
// it, so that another version is another folder.
type Package struct {
	Title string // for people, with the version: "Gemini CLI 0.61.0"
	Cache string // the folder's name: "gemini-0.61.0"
	Spec  string // NAME@VERSION; empty if there is a lock file
	Lock  string // a folder with package.json and package-lock.json
	File  string // a pattern, below the folder, of the one file that is wanted
}

// Path returns the file that is wanted, and fetches the package first if the
// cache has none. The cache is $SAYSO_TEST_CACHE, else ~/.cache/sayso-test. What
// cannot be had fails the test, so that it is never a silent pass; with
// SAYSO_OFFLINE=1 the test is skipped instead.
func (p Package) Path(t testing.TB) string {
	t.Helper()
	path, err := p.fetch()
	switch {
	case err == nil:
		return path
	case offline():
		t.Skipf("the real %s is not in the cache and SAYSO_OFFLINE=1 forbids fetching it; type: SAYSO_OFFLINE= make test", p.Title)
	default:
		t.Fatalf("cannot get the real %s: %v; connect to an npm registry, or set SAYSO_OFFLINE=1 to skip the tests that need it", p.Title, err)
	}
	return ""
}

func offline() bool { return os.Getenv("SAYSO_OFFLINE") == "1" }

// fetch installs under a file lock, so that test binaries that start together
// download once.
func (p Package) fetch() (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, p.Cache)
	if path, err := p.find(dir); err == nil {
		return path, nil
	}
	if offline() {
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
	if path, err := p.find(dir); err == nil {
		return path, nil // another process was faster
	}
	if err := p.install(cache, dir); err != nil {
		return "", err
	}
	return p.find(dir)
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

// find returns the file that is wanted. Some releases carry a program for each
// platform, of which npm takes the fitting one: hence the pattern.
func (p Package) find(dir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(p.File)))
	if err != nil {
		return "", err
	}
	for _, path := range found {
		if st, err := os.Stat(path); err == nil && st.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("nothing under %s is like %s; is there a release for this platform?", dir, p.File)
}

// install renames into place what is complete: a cut download is never used.
// Scripts of packages do not run; the wrapper of Claude Code has one, which is not
// needed.
func (p Package) install(cache, dir string) error {
	tmp, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	args := []string{"install", "--prefix", tmp, p.Spec}
	if p.Lock != "" {
		if err := os.CopyFS(tmp, os.DirFS(p.Lock)); err != nil {
			return err
		}
		args = []string{"ci"}
	}
	cmd := exec.Command("npm", append(args, "--ignore-scripts", "--no-audit", "--no-fund")...)
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm %s: %w\n%s", args[0], err, out)
	}
	if _, err := p.find(tmp); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}
