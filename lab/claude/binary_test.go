//go:build unix

package claude_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/lab/claude"
)

// TestVersion is the smallest proof that the binary is the release it is
// taken for.
func TestVersion(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(claude.Binary(t), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(string(out)), claude.Version+" (Claude Code)"; got != want {
		t.Errorf("claude --version printed %q, want %q", got, want)
	}
}

// TestBinaryThatCannotBeHad runs this test binary again with an empty cache
// and no npm: the tests that need the agent are red, or skipped if offline was
// asked for, and never silently green.
func TestBinaryThatCannotBeHad(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ offline, want string }{
		"fails":         {"", "--- FAIL: TestVersion"},
		"skips offline": {"SAYSO_OFFLINE=1", "--- SKIP: TestVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestVersion$")
			cmd.Env = []string{"SAYSO_TEST_CACHE=" + t.TempDir(), "HOME=" + t.TempDir(), tt.offline}
			out, _ := cmd.CombinedOutput() // its exit code is in what it prints
			if !strings.Contains(string(out), tt.want) {
				t.Errorf("want %q in:\n%s", tt.want, out)
			}
		})
	}
}
