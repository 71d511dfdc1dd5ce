//go:build unix

package machine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Version is the release that the programs of machines are.
const Version = "v0.4.0"

const root = "github.com/sayso-dev/sayso"

var (
	ordinary = sync.OnceValues(func() (string, error) { return build("", "sayso", "sayso-hook") })
	crashing = sync.OnceValues(func() (string, error) { return build("failpoint", "sayso-hook") })
)

// Programs is the folder of the two programs of this tree, built once.
func Programs(t testing.TB) string { return must(t, ordinary) }

// Crashing is the path of a hook that panics with the text of
// SAYSO_HOOK_PANIC, built once.
func Crashing(t testing.TB) string { return filepath.Join(must(t, crashing), "sayso-hook") }

func must(t testing.TB, built func() (string, error)) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var (
	mu      sync.Mutex
	folders []string // that were built into
)

func build(tags string, names ...string) (string, error) {
	dir, err := os.MkdirTemp("", "sayso-machine-")
	if err != nil {
		return "", err
	}
	mu.Lock()
	folders = append(folders, dir)
	mu.Unlock()
	for _, name := range names {
		cmd := exec.Command("go", "build", "-trimpath", "-tags", tags, "-ldflags", "-X "+root+"/internal/version.Version="+Version,
			"-o", filepath.Join(dir, name), root+"/cmd/"+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
}

// Main runs the tests of a package and removes what was built for them.
func Main(m *testing.M) {
	code := m.Run()
	mu.Lock()
	defer mu.Unlock()
	for _, dir := range folders {
		_ = os.RemoveAll(dir) // what is left of it lies in the temporary folder
	}
	os.Exit(code)
}
