//go:build unix

package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// typescript has the official client for TypeScript make use of a server, and
// returns what it was answered.
func typescript(t *testing.T, env []string, server ...string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", append([]string{filepath.Join("suite", "client.mjs")}, server...)...)
	cmd.Env = append(append(os.Environ(), "SDK="+filepath.Join(servers(t), "node_modules", "@modelcontextprotocol", "sdk")), env...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	if err != nil {
		t.Fatalf("the client for TypeScript: %v\n%s", err, out)
	}
	return strings.Split(strings.TrimSpace(changing.ReplaceAllString(string(out), "…")), "\n")
}

// All that the official client for TypeScript gets of a server it gets through the
// gate: over standard input, and over HTTP from a program and from a server that
// speaks HTTP.
func TestTypeScript(t *testing.T) {
	program := filepath.Join(servers(t), "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	direct := typescript(t, nil, "node", program, "stdio")
	if len(direct) < 25 {
		t.Fatalf("only %d answers: %s", len(direct), direct)
	}
	cmd := gated(t, allowAll, []string{"node", program, "stdio"})
	equal(t, direct, typescript(t, cmd.Env, cmd.Args...))
	address := overHTTP(t, program)
	f := listening(t, "version: 1\nrules:\n  - allow: {server: [program, http]}\n",
		fmt.Sprintf("version: 1\nservers:\n  program: {command: node, args: [%q, stdio]}\n  http: {url: %q}\n", program, address), 2)
	equal(t, direct, typescript(t, []string{"TOKEN=" + f.token}, f.at["program"]))
	equal(t, typescript(t, nil, address), typescript(t, []string{"TOKEN=" + f.token}, f.at["http"]))
}
