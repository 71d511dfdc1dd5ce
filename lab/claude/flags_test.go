//go:build unix

package claude_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/lab/claude"
)

// option is an argument in the help: one or two names, and what it takes.
var option = regexp.MustCompile(`(?m)^  (-{1,2}[A-Za-z-]+)(?:, (-{2}[A-Za-z-]+))?(?: ([<\[][^>\]]*[>\]]))?`)

// TestFlags: what `sayso claude` hands on is in the help of the release, with as many
// values as it is checked with. For a new release of Claude Code, what its help has new
// is refused until somebody has looked at it; what has gone or changed is seen here.
func TestFlags(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(claude.Binary(t), "--help")
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	help, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, m := range option.FindAllStringSubmatch(string(help), -1) {
		form := ""
		if m[3] != "" {
			form = m[3][:1] + m[3][len(m[3])-1:]
			if strings.Contains(m[3], "...") {
				form = m[3][:1] + "..." + m[3][len(m[3])-1:]
			}
		}
		told[m[1]] = form
		if m[2] != "" {
			told[m[2]] = form
		}
	}
	if len(told) < 50 {
		t.Fatalf("the help was not understood: %v", told)
	}
	unlisted := []string{"--append-system-prompt-file", "--system-prompt-file", "--max-turns"} // which its reference has, and not its help
	for name, form := range drive.ClaudeTakes() {
		if got, ok := told[name]; !ok && !slices.Contains(unlisted, name) {
			t.Errorf("%s is handed on, and no argument of %s", name, claude.Version)
		} else if ok && got != form {
			t.Errorf("%s takes %q, and is checked as one that takes %q", name, got, form)
		}
	}
	page, err := os.ReadFile("../../docs/claude-code.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range drive.ClaudeTakes() {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/claude-code.md does not say that %s is taken", name)
		}
	}
}
