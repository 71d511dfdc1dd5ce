package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sayso-dev/sayso/internal/codexapp"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
)

// provokeCodex runs codex once, after asking it whether it trusts the hook. The
// call would touch a marker, and is denied by a rule that no policy lifts.
func (d *doctor) provokeCodex(ctx context.Context, codex string) (proof, error) {
	d.codexTrust(ctx, codex)
	dir, err := os.MkdirTemp("", "sayso-doctor-") // made with mode 0700
	if err != nil {
		return proof{}, err
	}
	defer os.RemoveAll(dir)
	marker := filepath.Join(dir, "marker")
	input, err := jcs.Marshal(map[string]string{"cmd": "touch " + marker + " && sayso approve " + canary})
	if err != nil {
		return proof{}, err
	}
	stub := modelstub.New(modelstub.Use(modelstub.Call{ID: "call_sayso_doctor", Name: "exec_command", Input: string(input)}))
	url, stop, err := stub.Listen()
	if err != nil {
		return proof{}, err
	}
	defer stop()
	out, err := d.startCodex(ctx, codex, dir, url)
	var p proof
	for _, r := range stub.Results() {
		p.asked, p.told = true, firstLineOf(r.Content)
		p.stopped = strings.Contains(r.Content, "PreToolUse hook") && strings.Contains(r.Content, "Denied by policy")
	}
	if _, missing := os.Stat(marker); !errors.Is(missing, fs.ErrNotExist) {
		p.ran = true
	}
	if !p.ran && !p.asked {
		if err != nil {
			return p, err
		}
		p.told = firstLineOf(out)
	}
	return p, nil
}

// codexTrust has codex itself say whether it will run the hooks that ask.
func (d *doctor) codexTrust(ctx context.Context, codex string) {
	dir, err := os.Getwd()
	if err != nil {
		d.add("trust", notProved, "", "%v", err)
		return
	}
	hooks, err := codexapp.Hooks(ctx, codex, dir, d.environ)
	if err != nil {
		d.add("trust", notProved, "", "%v", err)
		return
	}
	ours := map[string]bool{}
	for _, h := range hooks {
		if h.Event != "preToolUse" && h.Event != "permissionRequest" || !strings.Contains(h.Command, "sayso") {
			continue
		}
		ours[h.Event] = ours[h.Event] || h.Runs()
		if !h.Runs() {
			d.add("trust", fail, "codex, and in it /hooks", "codex skips the hook for %s in %s: it is %s", h.Event, h.Source, trustWord(h))
		}
	}
	if ours["preToolUse"] && ours["permissionRequest"] {
		d.add("trust", ok, "", "codex says that it trusts the hooks")
	} else if len(ours) == 0 {
		d.add("trust", fail, "sayso init codex", "codex sees no hook of ours here")
	}
}

func trustWord(h codexapp.Hook) string {
	if !h.Enabled {
		return "switched off"
	}
	return h.Trust
}

// startCodex runs codex to its end, with our model in place of the real one. Its
// own questions and its sandbox are off, so that nothing but a hook stands in the
// way; hooks that it does not trust stay off.
func (d *doctor) startCodex(ctx context.Context, codex, dir, url string) (string, error) {
	provider := fmt.Sprintf(`model_providers.sayso_doctor={name="sayso doctor",base_url=%q,wire_api="responses"}`, url)
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, codex, "exec", "--skip-git-repo-check", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox",
		"-c", provider, "-c", `model_provider="sayso_doctor"`, "-m", "sayso-doctor", "go")
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, d.environ, 5*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, firstLineOf(string(out)))
	}
	return string(out), err
}
