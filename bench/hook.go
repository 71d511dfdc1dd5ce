package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// hook measures the whole process that a host starts on every call: one that
// the policy allows, recorded, without a server.
func hook(ctx context.Context, w *world, dir string) ([]figure, error) {
	program := filepath.Join(dir, "sayso-hook")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "github.com/sayso-dev/sayso/cmd/sayso-hook")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building sayso-hook: %w: %s", err, out)
	}
	workspace := filepath.Join(dir, "workspace")
	if err := os.Mkdir(workspace, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(workspace, "README.md"), []byte("hello\n"), 0o644); err != nil {
		return nil, err
	}
	took := durations{}
	for i := range w.few(300, 3) {
		t, err := hookOnce(ctx, program, dir, workspace, i)
		if err != nil {
			return nil, err
		}
		took = append(took, t)
	}
	return []figure{{
		name: "sayso-hook, allowed call, p50", value: took.at(0.5), unit: seconds, must: 0.015, aim: 0.006,
		beside: fmt.Sprintf("p99 %s; a whole process, its record durable", seconds.text(took.at(0.99))),
	}}, nil
}

// hookCall is what Claude Code writes to its hook.
type hookCall struct {
	SessionID  string            `json:"session_id"`
	Transcript string            `json:"transcript_path"`
	Cwd        string            `json:"cwd"`
	Mode       string            `json:"permission_mode"`
	Event      string            `json:"hook_event_name"`
	Tool       string            `json:"tool_name"`
	Input      map[string]string `json:"tool_input"`
	ToolUseID  string            `json:"tool_use_id"`
}

func hookOnce(ctx context.Context, program, dir, workspace string, n int) (time.Duration, error) {
	input, err := jcs.Marshal(hookCall{
		SessionID: "bench", Transcript: filepath.Join(dir, "transcript.jsonl"), Cwd: workspace, Mode: "default",
		Event: "PreToolUse", Tool: "Read", Input: map[string]string{"file_path": filepath.Join(workspace, "README.md")},
		ToolUseID: fmt.Sprintf("toolu_%d", n),
	})
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, program, "claude-code")
	cmd.Env = []string{
		"SAYSO_HOME=" + filepath.Join(dir, "home"), "CLAUDE_PROJECT_DIR=" + workspace, "HOME=" + dir, "PATH=" + os.Getenv("PATH"),
	}
	cmd.Stdin = bytes.NewReader(input)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	from := time.Now()
	out, err := cmd.Output()
	took := time.Since(from)
	if err != nil {
		return 0, fmt.Errorf("sayso-hook: %w: %s", err, stderr.String())
	}
	if !bytes.Contains(out, []byte(`"permissionDecision":"allow"`)) {
		return 0, fmt.Errorf("sayso-hook did not allow: %s%s", out, stderr.String())
	}
	return took, nil
}
