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

	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
)

// liveTime is how long claude may take to make one call.
const liveTime = 90 * time.Second

// live starts the installed claude with the person's own settings, and has a
// model of ours ask for a call that no policy can allow.
func (d *doctor) live(ctx context.Context, program string) {
	claude, err := d.claudeProgram()
	if err != nil {
		d.add("live proof", notProved, "sayso doctor --claude PATH", "%v", err)
		return
	}
	version, err := install.ClaudeVersion(ctx, claude)
	if err != nil {
		d.add("live proof", notProved, "", "%v", err)
		return
	}
	if err := install.OldEnough(version); err != nil {
		d.add("claude", fail, "claude update", "%v", err)
		return
	}
	d.add("claude", ok, "", "%s is version %s", claude, version)
	if program == "" {
		d.add("live proof", notProved, "", "there is no hook to prove")
		return
	}
	if _, off, _ := d.paths.IsOff(d.now()); off {
		d.add("live proof", notProved, "sayso off --end", "the gate is off")
		return
	}
	p, err := d.provoke(ctx, claude)
	if err != nil {
		d.add("live proof", notProved, "", "claude could not be driven: %v", err)
		return
	}
	d.judge(p)
}

// judge says what a proof shows.
func (d *doctor) judge(p proof) {
	switch {
	case p.ran:
		d.add("live proof", fail, "sayso init claude-code", "claude ran a call that is denied: the gate does not hold")
	case p.stopped:
		d.add("live proof", ok, "", "claude asked for a call that is denied; the hook stopped it, and it did not run")
	case p.asked:
		d.add("live proof", notProved, "", "the call did not run, but it was not our hook that stopped it: %s", p.told)
	default:
		d.add("live proof", notProved, "", "claude never made the call: %s", p.told)
	}
	d.add("interactive", notProved, "", "claude was driven without a terminal; in an interactive session, hooks of a project wait until its folder is trusted")
}

func (d *doctor) claudeProgram() (string, error) {
	if d.claude != "" {
		return d.claude, nil
	}
	path, err := exec.LookPath("claude")
	if err != nil {
		return "", errors.New("there is no claude in PATH, so it was not driven")
	}
	return path, nil
}

// proof is what one run of claude showed.
type proof struct {
	ran     bool   // the marker was touched
	asked   bool   // the model was told what became of its call
	stopped bool   // and that it was our hook that stopped it
	told    string // in what words
}

// provoke runs claude once. The call would touch a marker, and is denied by a
// rule that no policy lifts, whatever the person's policy says: it answers a
// request.
func (d *doctor) provoke(ctx context.Context, claude string) (proof, error) {
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
	out, err := d.start(ctx, claude, dir, url)
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

// start runs claude to its end, with our model in place of the real one.
func (d *doctor) start(ctx context.Context, claude, dir, url string) (string, error) {
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

func firstLineOf(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if runes := []rune(line); len(runes) > 200 {
		line = string(runes[:200]) + "…"
	}
	return line
}
