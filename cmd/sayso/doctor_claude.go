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

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
)

// provokeClaude runs claude once. The call would touch a marker, and is denied by a
// rule that no policy lifts, whatever the person's policy says: it answers a
// request.
func (d *doctor) provokeClaude(ctx context.Context, claude string) (proof, error) {
	dir, err := os.MkdirTemp("", "sayso-doctor-") // made with mode 0700
	if err != nil {
		return proof{}, err
	}
	defer os.RemoveAll(dir)
	marker := filepath.Join(dir, "marker")
	input, err := jcs.Marshal(map[string]string{"command": "touch " + marker + " && sayso approve " + canary, "description": "sayso doctor"})
	if err != nil {
		return proof{}, err
	}
	stub := modelstub.New(modelstub.Use(modelstub.Call{ID: "toolu_sayso_doctor", Name: "Bash", Input: string(input)}))
	url, stop, err := stub.Listen()
	if err != nil {
		return proof{}, err
	}
	defer stop()
	out, err := d.startClaude(ctx, claude, dir, url)
	var p proof
	for _, r := range stub.Results() {
		p.asked, p.told = true, firstLineOf(r.Content)
		p.stopped = r.IsError && strings.Contains(r.Content, "PreToolUse") && strings.Contains(r.Content, "Denied by policy")
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

// startClaude runs claude to its end, with our model in place of the real one.
func (d *doctor) startClaude(ctx context.Context, claude, dir, url string) (string, error) {
	env := map[string]string{
		"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
		"CLAUDE_CODE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": "", "CLAUDE_CODE_USE_FOUNDRY": "",
	}
	settings, err := jcs.Marshal(map[string]any{"env": env}) // before an env in the person's own settings
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	// Bash is allowed, so that nothing but a hook stands in the way.
	cmd := exec.CommandContext(ctx, claude, "-p", "go", "--model", "claude-sonnet-5", "--allowedTools", "Bash", "--settings", string(settings))
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, d.environ, 5*time.Second
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, firstLineOf(string(out)))
	}
	return string(out), err
}
