package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/sayso-dev/sayso/internal/codexapp"
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
