package main

import (
	"context"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// provokeClaude runs claude once. Bash is allowed, so that nothing but a hook
// stands in the way.
func (d *doctor) provokeClaude(ctx context.Context, program string) (proof, error) {
	environ := func(url string) map[string]string {
		return map[string]string{
			"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
			"CLAUDE_CODE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": "", "CLAUDE_CODE_USE_FOUNDRY": "",
		}
	}
	return d.provoke(ctx, program, drive{
		shell: "Bash", blocked: "PreToolUse:Bash hook",
		args: []string{"-p", "go", "--model", "claude-sonnet-5", "--allowedTools", "Bash"},
		model: func(url string) ([]string, error) { // before an env in the person's own settings
			settings, err := jcs.Marshal(map[string]any{"env": environ(url)})
			return []string{"--settings", string(settings)}, err
		},
		environ: func(url string) (env []string) {
			for name, value := range environ(url) {
				env = append(env, name+"="+value)
			}
			return env
		},
	})
}
