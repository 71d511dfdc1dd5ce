//go:build unix

package codex

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/codexapp"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/npm"
)

// Version is the exact release that the tests run.
const Version = "0.169.0"

// release is where the executable comes from: a file for each platform.
var release = npm.Package{
	Title: "Codex " + Version, Cache: "codex-" + Version, Spec: "@openai/codex@" + Version,
	File: "node_modules/@openai/codex-*/vendor/*/bin/codex",
}

// Binary returns the path of the Codex executable, and fetches it first if the
// cache has none.
func Binary(t testing.TB) string {
	t.Helper()
	return release.Path(t)
}

// Options say how the binary is run. Only Stub is required.
type Options struct {
	Stub   *modelstub.Stub // the model
	Dir    string          // working directory; a temporary one if empty
	Home   string          // HOME, with the settings in .codex; a temporary one if empty
	Config string          // more of config.toml
	Asks   bool            // keep Codex's own questions, which nobody answers here, and its sandbox
	Args   []string        // further arguments
	Env    []string        // further KEY=value; nothing of the caller's environment but PATH is passed on
}

// Result is what a finished run left behind.
type Result struct {
	Stdout, Stderr string
	Results        []modelstub.ToolResult // what reached the model
}

// Told is what the model was told of a call.
func (r Result) Told(id string) string {
	for _, res := range r.Results {
		if res.ID == id {
			return res.Content
		}
	}
	return ""
}

// Model is one that this release knows, so that it offers all of its tools.
const Model = "gpt-6.1-sol"

// Configure writes the person's settings: our model in place of the real one.
// What Codex was told to trust stays.
func (o Options) Configure(t testing.TB, url string) {
	t.Helper()
	path := filepath.Join(o.Home, ".codex", "config.toml")
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	_, trusted, _ := strings.Cut(string(old), trustMark)
	text := fmt.Sprintf("model = %q\nmodel_provider = \"lab\"\n%s\n[model_providers.lab]\nname = \"lab\"\nbase_url = %q\nwire_api = \"responses\"\n%s%s",
		Model, o.Config, url, trustMark, trusted)
	Write(t, path, text)
}

// trustMark stands before what a person told Codex to trust.
const trustMark = "# trusted\n"

// Trust tells a Codex program that it may run the hooks that it sees, as a
// person does with /hooks.
func Trust(program string, o Options) error { return TrustAll(program, o.Dir, o.Home, o.Environ()) }

// TrustAll is Trust for a folder and a home. What else the settings hold stays.
func TrustAll(program, dir, home string, environ []string) error {
	hooks, err := codexapp.Hooks(context.Background(), program, dir, environ)
	if err != nil {
		return err
	}
	if len(hooks) == 0 {
		return fmt.Errorf("codex sees no hooks in %s", dir)
	}
	path := filepath.Join(home, ".codex", "config.toml")
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	before, _, _ := strings.Cut(string(old), trustMark)
	var b strings.Builder
	b.WriteString(before + trustMark)
	for _, h := range hooks {
		fmt.Fprintf(&b, "[hooks.state.%q]\ntrusted_hash = %q\n", h.Key, h.Hash)
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// Write writes a file of the test.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Environ is the environment of a run.
func (o Options) Environ() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + o.Home, "CODEX_HOME=" + filepath.Join(o.Home, ".codex"), "LANG=C.UTF-8",
	}, o.Env...)
}

// Start starts the binary in a process group of its own, and returns how to wait
// for its end.
func Start(t testing.TB, o Options) (wait func() Result) {
	t.Helper()
	if o.Home == "" {
		o.Home = t.TempDir()
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	url, stop, err := o.Stub.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	o.Configure(t, url)
	args := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}
	if o.Asks {
		args = []string{"exec", "--skip-git-repo-check", "--sandbox", "workspace-write"}
	}
	args = append(args, o.Args...)
	var out, errout bytes.Buffer
	cmd := exec.Command(Binary(t), append(args, "go")...)
	cmd.Dir, cmd.Env = o.Dir, o.Environ()
	cmd.Stdout, cmd.Stderr = &out, &errout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second // a grandchild that holds the pipes must not hold the test
	if err := cmd.Start(); err != nil {
		t.Fatalf("start codex: %v", err)
	}
	done := make(chan struct{})
	go func() { // ends with the process
		defer close(done)
		_ = cmd.Wait()
	}()
	kill := func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
		<-done
	}
	t.Cleanup(kill)
	return func() Result {
		t.Helper()
		select {
		case <-done:
		case <-time.After(3 * time.Minute):
			kill()
			t.Errorf("codex did not end in time\nstdout: %s\nstderr: %s", out.String(), errout.String())
		}
		return Result{out.String(), errout.String(), o.Stub.Results()}
	}
}

// Run starts the binary and waits for its end.
func Run(t testing.TB, o Options) Result {
	t.Helper()
	return Start(t, o)()
}
