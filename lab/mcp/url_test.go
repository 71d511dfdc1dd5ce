//go:build unix

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// behind is a command that stands in front of a server over HTTP, with a policy, and
// the home of its gate.
func behind(t *testing.T, policy, address string, more ...string) (*exec.Cmd, *front) {
	t.Helper()
	cmd := gated(t, policy, nil)
	cmd.Args = append([]string{cmd.Args[0], "mcp", "--name", "srv", "--url", address}, more...)
	home := slices.IndexFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "SAYSO_HOME=") })
	return cmd, &front{t: t, home: strings.TrimPrefix(cmd.Env[home], "SAYSO_HOME=")}
}

// All that works with a server over HTTP works through sayso mcp --url, for clients
// that start programs, and gives the same, in both generations of the protocol.
func TestURL(t *testing.T) {
	program := filepath.Join(servers(t), "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	everything, stateful, stateless := overHTTP(t, program), goOverHTTP(t, false), goOverHTTP(t, true)
	calls := demonstrated()
	sum := map[string]map[string]any{"sum": {"a": 1, "b": 2}}
	for name, tt := range map[string]struct {
		address string
		calls   map[string]map[string]any
	}{"everything": {everything, calls}, "stateful": {stateful, sum}, "stateless": {stateless, sum}} {
		t.Run(name, func(t *testing.T) {
			direct := connectOver(t, &mcp.StreamableClientTransport{Endpoint: tt.address}).everything(tt.calls)
			cmd, _ := behind(t, allowAll, tt.address)
			through := connect(t, cmd).everything(tt.calls)
			if name == "stateless" { // this client asks for what that version does not have, and is refused by both
				direct, through = without(direct, "ping", "logging"), without(through, "ping", "logging")
			}
			equal(t, direct, through)
		})
	}
	t.Run("typescript", func(t *testing.T) {
		cmd, _ := behind(t, allowAll, everything)
		equal(t, typescript(t, nil, everything), typescript(t, cmd.Env, cmd.Args...))
	})
}

// A gateway that is killed while calls wait ran none of them, and runs none when they
// are allowed afterwards. Nothing of it is left.
func TestURL_killed(t *testing.T) {
	var ran atomic.Int64
	s := mcp.NewServer(&mcp.Implementation{Name: "go", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "count", Description: "counts"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		ran.Add(1)
		return &mcp.CallToolResult{}, nil, nil
	})
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(srv.Close)
	cmd, f := behind(t, "version: 1\n", srv.URL)
	side := connect(t, cmd)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := side.session.ListTools(ctx, nil); err != nil {
		t.Fatal(err)
	}
	const calls = 4
	answers := make(chan error, calls)
	for range calls {
		go func() {
			_, err := side.session.CallTool(ctx, &mcp.CallToolParams{Name: "count"})
			answers <- err
		}()
	}
	var open []struct {
		ID     string `json:"id"`
		Digest string `json:"digest"`
	}
	for len(open) < calls {
		if ctx.Err() != nil {
			t.Fatal("they do not wait")
		}
		if err := json.Unmarshal([]byte(f.run("inbox", "--json")), &open); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range calls {
		if err := <-answers; err == nil {
			t.Error("a call was answered")
		}
	}
	for _, r := range open {
		if out, err := f.tries("approve", r.ID, "--yes", "--digest", r.Digest); err != nil {
			t.Logf("%v: %s", err, out) // one that cannot be allowed any more runs neither
		}
	}
	if n := ran.Load(); n > 0 {
		t.Errorf("%d calls ran", n)
	}
}

// A result of 100 MB passes as it came, and is not kept in memory; one that breaks
// off in the middle ends the gateway, and nothing stands behind it.
func TestURL_large(t *testing.T) {
	piece := bytes.Repeat([]byte("x"), 1<<20)
	const pieces = 100
	breaks := atomic.Bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"data":"`)
		for i := range pieces {
			if _, err := w.Write(piece); err != nil || breaks.Load() && i == pieces/2 {
				panic(http.ErrAbortHandler)
			}
		}
		_, _ = io.WriteString(w, `"}}`)
	}))
	t.Cleanup(srv.Close)
	for _, breaking := range []bool{false, true} {
		breaks.Store(breaking)
		cmd, _ := behind(t, "version: 1\n", srv.URL)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		from, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var told bytes.Buffer
		cmd.Stderr = &told
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a"}}`)
		length := len(`{"jsonrpc":"2.0","id":1,"result":{"data":"`) + pieces<<20 + len(`"}}`) + 1
		out, err := io.ReadAll(io.LimitReader(from, int64(length)))
		if !breaking && err == nil { // the gateway still runs
			if most := memory(t, cmd.Process.Pid); most > 128<<20 {
				t.Errorf("it took %d MiB of memory", most>>20)
			}
		}
		in.Close()
		err = errors.Join(err, cmd.Wait())
		if whole := len(out) == length; whole == breaking || (err != nil) != breaking {
			t.Errorf("breaking %v: %d bytes, %v: %s", breaking, len(out), err, &told)
		}
		if breaking && (bytes.ContainsRune(out, '\n') || !strings.Contains(told.String(), "broke off in the middle")) {
			t.Errorf("something stands behind half an answer, or nothing is told: %s", &told)
		}
	}
}

// memory is the most that a process held at once; zero where the system does not tell.
func memory(t *testing.T, pid int) (bytes int64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if runtime.GOOS != "linux" {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	_, most, ok := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(most, &bytes); !ok || err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return bytes << 10
}

// The error of a server that is not there reaches the client and the person.
func TestURL_down(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	cmd, _ := behind(t, "version: 1\n", srv.URL)
	c := mcp.NewClient(&mcp.Implementation{Name: "lab", Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil); err == nil || !strings.Contains(fmt.Sprint(err), "could not be reached") {
		t.Error(err)
	}
}

// The conformance suite finds through sayso mcp --url what it finds without it. It
// speaks HTTP alone, so that a front for HTTP starts that as a program.
func TestURL_conformance(t *testing.T) {
	conformance.Path(t)
	program := everythingServer(t)
	self, err := sayso()
	if err != nil {
		t.Fatal(err)
	}
	for _, rev := range revisions {
		t.Run(rev.name, func(t *testing.T) {
			address := startServer(t, program, rev.flag)
			f := listening(t, "version: 1\nrules:\n  - allow: {server: [program, behind]}\n",
				fmt.Sprintf("version: 1\nservers:\n  program: {command: %q, args: [mcp, --name, behind, --url, %q]}\n", self, address), 1)
			defer approving(t, f)()
			direct := &way{name: "direct", results: conform(t, rev.name, address)}
			if direct.results[polling] != nil {
				direct.results[kept] = conform(t, rev.name, startServer(t, program, rev.flag, "LAB_KEEPS=1"), polling)[polling]
			}
			w := &way{name: "url", server: "program"}
			w.goes(t, direct, rev.name, withToken(t, f.at["program"], f.token))
		})
	}
}
