package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sayso-dev/sayso/internal/agentproc"
	"github.com/sayso-dev/sayso/internal/hook"
	"github.com/sayso-dev/sayso/internal/version"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sayso": func() {
			// The tests themselves may run under an agent; what counts in them
			// is the environment of the script.
			detectAgent = func() (agentproc.Agent, bool) { return agentproc.Marked(os.Getenv) }
			main()
		},
		"mcp-server": mcpServer, "mcp-http": mcpHTTP, "mcp-client": mcpClient, "mcp-listed": mcpListed, "xdg-open": browser, "open": browser, "mcp-caller": mcpCaller, "acp-agent": acpAgent, "acp-editor": acpEditor,
		"sayso-hook": func() {
			hook.Main(hook.Env{
				Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
				Exit: os.Exit, Version: version.Version,
			})
		},
	})
}
