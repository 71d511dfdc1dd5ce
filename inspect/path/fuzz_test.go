package path_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/path"
)

// FuzzResolve builds a random tree with many links on the real file system and
// asks the kernel where random paths lead.
func FuzzResolve(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, "a/b/../c")
	}
	f.Add(uint64(1), "c/../../a/")
	f.Add(uint64(2), "b//./b/b/..")
	f.Add(uint64(3), "a/new/x")
	f.Fuzz(func(t *testing.T, seed uint64, name string) {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		grow(t, rnd, root, 3)
		compare(t, root, name)
		for range 20 {
			compare(t, root, randomPath(rnd))
		}
	})
}

var names = []string{"a", "b", "c"}

func randomPath(rnd *rand.Rand) string {
	parts := make([]string, 1+rnd.IntN(5))
	for i := range parts {
		parts[i] = []string{"a", "b", "c", "..", ".", "", "new"}[rnd.IntN(7)]
	}
	return strings.Join(parts, "/")
}

func grow(t *testing.T, rnd *rand.Rand, dir string, depth int) {
	for _, n := range names {
		at := filepath.Join(dir, n)
		var err error
		switch k := rnd.IntN(6); {
		case k < 2 && depth > 0:
			if err = os.Mkdir(at, 0o700); err == nil {
				grow(t, rnd, at, depth-1)
			}
		case k < 4:
			err = os.Symlink(strings.TrimLeft(randomPath(rnd), "/")+".", at)
			if rnd.IntN(2) == 0 {
				os.Remove(at)
				err = os.Symlink("./"+randomPath(rnd), at)
			}
		case k == 4:
			err = os.WriteFile(at, []byte(at), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// compare holds Resolve against what the kernel does with the path.
func compare(t *testing.T, cwd, name string) {
	if strings.HasPrefix(name, "/") {
		return
	}
	got, err := path.Resolve(path.OS{}, cwd, name)
	if strings.IndexByte(name, 0) >= 0 || name == "" {
		if err == nil {
			t.Fatalf("%q resolved to %s", name, got.Path)
		}
		return
	}
	info, statErr := os.Stat(cwd + "/" + name)
	if statErr != nil {
		if err == nil && got.State != path.Missing {
			t.Fatalf("%q is %s (%s); the kernel says %v", name, got.Path, got.State, statErr)
		}
		inside := strings.HasPrefix(got.Path, cwd+"/") // leave the rest of the machine alone
		if err == nil && inside && errors.Is(statErr, fs.ErrNotExist) {
			missingIsWhereACreateWouldBe(t, cwd+"/"+name, got.Path)
		}
		return
	}
	if err != nil {
		t.Fatalf("%q: %v; the kernel finds it", name, err)
	}
	at, err := os.Lstat(got.Path)
	if err != nil || !os.SameFile(info, at) {
		t.Fatalf("%q is %s for us and another file for the kernel (%v)", name, got.Path, err)
	}
	if (got.State == path.Dir) != info.IsDir() {
		t.Fatalf("%q is a %s", name, got.State)
	}
}

// missingIsWhereACreateWouldBe creates the file by the name that was given and
// looks for it where Resolve said it would be.
func missingIsWhereACreateWouldBe(t *testing.T, name, resolved string) {
	if os.WriteFile(name, nil, 0o600) != nil {
		return
	}
	if at, err := os.Lstat(resolved); err != nil || !at.Mode().IsRegular() {
		t.Fatalf("%s was created elsewhere than at %s", name, resolved)
	}
	os.Remove(resolved)
}
