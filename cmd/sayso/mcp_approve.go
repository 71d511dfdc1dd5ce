package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/agent/claudecode"
	driver "github.com/sayso-dev/sayso/internal/drive"
)

func (a *app) mcpApproveCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "approve", Short: "is the tool that Claude Code asks in the place of its prompt", Args: cobra.NoArgs,
		Long: `Serves one MCP tool over its standard input and output, which Claude Code calls in
the place of its prompt. It hears only of calls that Claude Code would prompt for;
sayso claude, and the hook, hear of all.

Claude Code does not say in which folder a command begins, so people are asked
wherever that matters. With
CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR=1 each begins in the project.`,
		Example: `  echo '{"mcpServers":{"sayso":{"command":"sayso","args":["mcp","approve"]}}}' > sayso.json
  export CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR=1
  claude -p "run the tests" --mcp-config sayso.json --permission-prompt-tool mcp__sayso__approve`,
		RunE: func(c *cobra.Command, _ []string) error { return a.mcpApprove(context.WithoutCancel(c.Context())) },
	}
	c.Flags().Duration("patience", 0, "how long a call waits for people (SAYSO_PATIENCE; without, until there is a decision)")
	return c
}

func (a *app) mcpApprove(ctx context.Context) error {
	desk, closing, err := a.desk(ctx, claudecode.Host)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &driver.Approve{
		Desk: desk, Session: cmp.Or(a.getenv("CLAUDE_CODE_SESSION_ID"), clientSession("approve")), Version: versionOf(),
		Dir: a.getenv("CLAUDE_PROJECT_DIR"), Stays: a.getenv("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR") == "1",
	}
	err = s.Run(ctx, a.in, a.out)
	cancel()
	desk.Close(ctx, s.Session)
	return errors.Join(err, closing())
}
