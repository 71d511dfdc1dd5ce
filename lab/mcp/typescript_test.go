//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

// module is the program of one of the released servers.
func module(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(servers(t), "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
}

// All that the official client for TypeScript gets of a server it gets through the
// gate: over standard input, and over HTTP from a program and from a server that
// speaks HTTP.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	program := module(t, "server-everything")
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

// So it is with the server of files, which is a program.
func TestTypeScript_files(t *testing.T) {
	t.Parallel()
	program := module(t, "server-filesystem")
	files, onFiles, back := folder(t)
	var list [][2]any
	for _, name := range sortedNames(onFiles) {
		list = append(list, [2]any{name, onFiles[name]})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	calls := "CALLS=" + string(text)
	does := func(env []string, server ...string) []string {
		t.Helper()
		got := typescript(t, append(env, calls), server...)
		back()
		return got
	}
	direct := does(nil, "node", program, files)
	if len(direct) != len(list)+3 || !strings.Contains(strings.Join(direct, "\n"), "one\\nfour") {
		t.Fatalf("%d answers: %s", len(direct), direct)
	}
	cmd := gated(t, allowAll, []string{"node", program, files})
	equal(t, direct, does(cmd.Env, cmd.Args...))
	server := fmt.Sprintf("version: 1\nservers:\n  srv: {command: node, args: [%q, %q]}\n", program, files)
	f := listening(t, allowAll, server, 1)
	equal(t, direct, does([]string{"TOKEN=" + f.token}, f.at["srv"]))
	asked := listening(t, "version: 1\n", server, 1)
	answered := approving(t, asked)
	equal(t, direct, does([]string{"TOKEN=" + asked.token}, asked.at["srv"]))
	if n := answered(); n != len(list) {
		t.Errorf("of %d calls people were asked about %d", len(list), n)
	}
}

// The tasks of 2025-11-25, which are experimental in the official libraries, pass as
// they are: made, asked about, answered, listed, cancelled; and people are asked about
// the call that makes one.
func TestTypeScript_tasks(t *testing.T) {
	t.Parallel()
	program, tasks := module(t, "server-everything"), "TASKS=1"
	direct := typescript(t, []string{tasks}, "node", program, "stdio")
	if len(direct) != 12 || !strings.Contains(direct[0], "sampled") || !strings.Contains(direct[1], "Ada") || !strings.Contains(direct[3], "snake") || !strings.Contains(direct[8], "cancelled") {
		t.Fatalf("%d answers: %s", len(direct), strings.Join(direct, "\n"))
	}
	address := overHTTP(t, program)
	server := fmt.Sprintf("version: 1\nservers:\n  program: {command: node, args: [%q, stdio]}\n  http: {url: %q}\n", program, address)
	f, asked := listening(t, "version: 1\nrules:\n  - allow: {server: [program, http]}\n", server, 2), listening(t, "version: 1\n", server, 2)
	answered := approving(t, asked)
	cmd := gated(t, allowAll, []string{"node", program, "stdio"})
	got := map[string][]string{}
	var mu sync.Mutex // guards got
	t.Run("ways", func(t *testing.T) {
		for name, w := range map[string]struct{ env, server []string }{
			"stdio":          {append(cmd.Env, tasks), cmd.Args},
			"program":        {[]string{tasks, "TOKEN=" + f.token}, []string{f.at["program"]}},
			"program, asked": {[]string{tasks, "TOKEN=" + asked.token}, []string{asked.at["program"]}},
			"HTTP":           {[]string{tasks, "TOKEN=" + f.token}, []string{f.at["http"]}},
			"HTTP, direct":   {[]string{tasks}, []string{address}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel() // most of the time they wait
				all := typescript(t, w.env, w.server...)
				mu.Lock()
				defer mu.Unlock()
				got[name] = all
			})
		}
	})
	for _, name := range []string{"stdio", "program", "program, asked"} {
		equal(t, direct, got[name])
	}
	equal(t, got["HTTP, direct"], got["HTTP"])
	if n := answered(); n != 5 { // four calls, and what the first one has the client's model do
		t.Errorf("people were asked %d times, want 5", n)
	}
}
