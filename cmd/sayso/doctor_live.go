package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/sayso-dev/sayso/internal/install"
)

// liveTime is how long a host may take to make one call.
const liveTime = 90 * time.Second

// prover is how a host is driven.
type prover struct {
	// provoke has the host's model ask for one call, and says what became of it.
	provoke func(d *doctor, ctx context.Context, program string) (proof, error)
	left    string // what that leaves unproved
}

// provers are those of the hosts that can be driven.
var provers = map[string]prover{
	"gemini":      {(*doctor).provokeGemini, "gemini was driven without a terminal and in a folder that it trusts; in one that it does not, it starts no hooks of the project"},
	"copilot":     {(*doctor).provokeCopilot, "copilot was driven without a terminal"},
	"opencode":    {(*doctor).provokeOpencode, "opencode was driven without a terminal and with its plugins; with --pure it loads none, and nothing is asked"},
	"codex":       {(*doctor).provokeCodex, "codex was driven without a terminal and with its own questions off; text that is typed into a running program (write_stdin) has no hook"},
	"claude-code": {(*doctor).provokeClaude, "claude was driven without a terminal; in an interactive session, hooks of a project wait until its folder is trusted"},
}

// live starts the installed host with the person's own settings, and has a
// model of ours ask for a call that no policy can allow.
func (d *doctor) live(ctx context.Context, hook string) {
	if d.about.Program == "" {
		d.add("live proof", notProved, "", "%s cannot be started without its account; have it make a call, and see that the call waits", d.about.Title)
		return
	}
	program, err := d.program()
	if err != nil {
		d.add("live proof", notProved, "sayso doctor --"+d.about.Program+" PATH", "%v", err)
		return
	}
	version, err := install.Version(ctx, program)
	if err != nil {
		d.add("live proof", notProved, "", "%v", err)
		return
	}
	if err := d.about.Fits(version); err != nil {
		d.add("release", fail, d.about.Update, "%v", err)
		return
	}
	d.release(program, version)
	if hook == "" {
		d.add("live proof", notProved, "", "there is no hook to prove")
		return
	}
	if _, off, _ := d.paths.IsOff(d.now()); off {
		d.add("live proof", notProved, "sayso off --end", "the gate is off")
		return
	}
	by, driven := provers[d.about.Name]
	if !driven {
		d.add("live proof", notProved, "", "%s cannot be driven", d.about.Title)
		return
	}
	p, err := by.provoke(d, ctx, program)
	if err != nil {
		d.add("live proof", notProved, "", "%s could not be driven: %v", d.about.Program, err)
		return
	}
	d.judge(p)
	d.add("interactive", notProved, "", "%s", by.left)
}

// release says what is known of a release of the host: what was seen when it was
// run, or that it was not.
func (d *doctor) release(program, version string) {
	run, known := d.about.Ran(version)
	switch {
	case !known:
		d.add("release", notProved, "", "%s is version %s, which was not run with this gate: what it does when the hook fails is not known; run were %s",
			program, version, cmp.Or(d.about.Known(), "none"))
	case len(run.Open) == 0:
		d.add("release", ok, "", "%s is version %s, which was run on %s", program, version, run.Date)
	default:
		d.add("release", ok, "", "%s is version %s, which was run on %s: it lets a call through when a hook %s; ours does none of these",
			program, version, run.Date, inWords(run.Open, "or"))
	}
}

// inWords is a list for people.
func inWords(list []string, last string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + last + " " + list[len(list)-1]
}

// judge says what a proof shows.
func (d *doctor) judge(p proof) {
	switch who := d.about.Program; {
	case p.ran:
		d.add("live proof", fail, d.mends(), "%s ran a call that is denied: the gate does not hold", who)
	case p.stopped && d.off != nil:
		d.add("live proof", notProved, d.off.Type, "%s obeyed the hook in a folder of its own; in this one, %s", who, d.off.Why)
	case p.stopped:
		d.add("live proof", ok, "", "%s asked for a call that is denied; the hook stopped it, and it did not run%s", who, d.here())
	case p.asked:
		d.add("live proof", notProved, "", "the call did not run, but it was not our hook that stopped it: %s", p.told)
	default:
		d.add("live proof", notProved, "", "%s never made the call: %s", who, p.told)
	}
}

// mends is what to type where the gate does not hold: what was said before about why
// the host skips the hook, if anything was. Else the hook is written anew.
func (d *doctor) mends() string {
	for _, f := range d.list {
		if f.Host == d.about.Name && f.Check == "trust" && f.Grade == fail {
			return f.Type
		}
	}
	return "sayso init " + d.about.Name
}

// here says what a proof in a folder of its own has to do with this one.
func (d *doctor) here() string {
	if d.about.Off == nil {
		return ""
	}
	return "; that was in a folder of its own, and no settings that count in this one switch hooks off"
}

// program is the host's, that was named or that is in PATH.
func (d *doctor) program() (string, error) {
	if named := *d.programs[d.about.Name]; named != "" {
		return named, nil
	}
	path, err := exec.LookPath(d.about.Program)
	if err != nil {
		return "", fmt.Errorf("there is no %s in PATH, so it was not driven", d.about.Program)
	}
	return path, nil
}

// proof is what one run of a host showed.
type proof struct {
	ran     bool   // the marker was touched
	asked   bool   // the model was told what became of its call
	stopped bool   // and that it was our hook that stopped it
	told    string // in what words
}

func firstLineOf(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if runes := []rune(line); len(runes) > 200 {
		line = string(runes[:200]) + "…"
	}
	return line
}
