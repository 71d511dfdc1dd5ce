package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/sayso-dev/sayso/internal/codexapp"
	"github.com/sayso-dev/sayso/internal/install"
)

// provokeCodex runs codex once, after asking it whether it trusts the hook. Its own
// questions and its sandbox are off, so that nothing but a hook stands in the way;
// hooks that it does not trust stay off.
func (d *doctor) provokeCodex(ctx context.Context, program string) (proof, error) {
	d.codexTrust(ctx, program)
	return d.provoke(ctx, program, drive{
		shell: "exec_command", member: "cmd", blocked: "PreToolUse hook",
		args: []string{"exec", "--skip-git-repo-check", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox", "-m", "sayso-doctor", "go"},
		model: func(url string) ([]string, error) {
			provider := fmt.Sprintf(`model_providers.sayso_doctor={name="sayso doctor",base_url=%q,wire_api="responses"}`, url)
			return []string{"-c", provider, "-c", `model_provider="sayso_doctor"`}, nil
		},
		environ: func(string) []string { return nil },
	})
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
	d.codexHooks(hooks)
}

// codexHooks goes through the hooks that Codex lists. What is not to the letter as
// sayso init writes it is no hook of ours here, whatever it is called: it may let
// calls run.
func (d *doctor) codexHooks(hooks []codexapp.Hook) {
	ours := map[string]bool{}
	for _, h := range hooks {
		if h.Event != "preToolUse" && h.Event != "permissionRequest" {
			continue
		}
		state, differs, own := install.CodexGate(h)
		switch {
		case !own && strings.Contains(h.Command, "sayso"):
			d.add("trust", warn, "", "the hook for %s in %s names sayso and is not ours: %s", h.Event, h.Source, firstLineOf(h.Command))
		case !own:
		case differs != "":
			d.add("trust", warn, "sayso init codex", "the hook for %s in %s is not as sayso init writes it (%s), so it may let calls run", h.Event, h.Source, differs)
		case state != d.paths.State:
			d.add("trust", warn, "sayso init codex", "the hook for %s in %s asks another gate, which keeps its log in %s", h.Event, h.Source, state)
		case !h.Runs():
			ours[h.Event] = ours[h.Event] || false // codex sees it
			d.add("trust", fail, "codex, and in it /hooks", "codex skips the hook for %s in %s: it is %s", h.Event, h.Source, trustWord(h))
		default:
			ours[h.Event] = true
		}
	}
	if ours["preToolUse"] && ours["permissionRequest"] {
		d.add("trust", ok, "", "codex says that it trusts the hooks")
		return
	}
	for _, event := range []string{"preToolUse", "permissionRequest"} {
		if _, seen := ours[event]; !seen {
			d.add("trust", fail, "sayso init codex", "codex sees no hook of this gate for %s here", event)
		}
	}
}

func trustWord(h codexapp.Hook) string {
	if !h.Enabled {
		return "switched off"
	}
	return h.Trust
}
