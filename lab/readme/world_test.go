//go:build linux

package readme_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

// pages are what is tested here.
var pages = []string{"README.md", "docs/guide.md"}

// address is what the pages clone.
const address = "https://github.com/sayso-dev/sayso"

// newTerminal is the terminal of somebody new: an empty home, Claude Code in
// PATH, and this repository's last commit at the address that the pages clone.
func newTerminal(t *testing.T) *terminal {
	t.Helper()
	home, bin := t.TempDir(), t.TempDir()
	if err := os.Symlink(claude.Binary(t), filepath.Join(bin, "claude")); err != nil {
		t.Fatal(err)
	}
	s := &terminal{t: t, dir: home, env: []string{
		"HOME=" + home, "PATH=" + filepath.Join(home, ".local", "bin") + ":" + bin + ":" + os.Getenv("PATH"),
		"TERM=xterm", "LANG=C.UTF-8", "SAYSO_NOTICE=off", "SAYSO_PATIENCE=5m", "SAYSO_LISTEN=127.0.0.1:0", "IS_SANDBOX=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + root(t) + ".insteadOf", "GIT_CONFIG_VALUE_0=" + address,
	}}
	s.env = append(s.env, goSettings(t)...) // what Go fetched and built for others it need not again
	return s
}

// goSettings are where Go keeps what it fetched and built.
func goSettings(t *testing.T) (env []string) {
	t.Helper()
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	var set map[string]string
	if err := jcs.Unmarshal(bytes.TrimSpace(out), &set); err != nil {
		t.Fatal(err)
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	return env
}

// home is the person's.
func (s *terminal) home() string { return strings.TrimPrefix(s.env[0], "HOME=") }

// agent starts Claude Code in a folder, on a model that follows a script.
func (s *terminal) agent(dir string, turns ...modelstub.Turn) *claude.Session {
	s.t.Helper()
	return claude.Start(s.t, claude.Options{
		Stub: modelstub.New(turns...), Dir: dir, Home: s.home(), Env: []string{"SAYSO_NOTICE=off"}, Timeout: limit,
	})
}
