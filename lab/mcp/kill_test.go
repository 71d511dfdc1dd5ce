//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tries runs sayso with the home of the gateway, and returns what it printed.
func (f *front) tries(args ...string) (string, error) {
	program, err := sayso()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SAYSO_HOME="+f.home, "SAYSO_NOTICE=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A gateway that is killed while calls wait ran none of them, and runs none when
// they are allowed afterwards: neither for a client with a session nor for one
// without.
func TestKilledOverHTTP(t *testing.T) {
	var ran atomic.Int64
	way := func(stateless bool) string {
		s := mcp.NewServer(&mcp.Implementation{Name: "go", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "count", Description: "counts"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			ran.Add(1)
			return &mcp.CallToolResult{}, nil, nil
		})
		srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	f := listening(t, "version: 1\n", fmt.Sprintf("version: 1\nservers:\n  stateful: {url: %q}\n  stateless: {url: %q}\n", way(false), way(true)), 2)
	const calls = 4
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	answers := make(chan error, 2*calls)
	for _, name := range []string{"stateful", "stateless"} {
		side := connectOver(t, f.to(name))
		if _, err := side.session.ListTools(ctx, nil); err != nil {
			t.Fatal(err)
		}
		for range calls {
			go func() {
				p := &mcp.CallToolParams{Name: "count", Meta: mcp.Meta{}}
				_, err := side.session.CallTool(ctx, p)
				answers <- err
			}()
		}
	}
	var open []struct {
		ID     string `json:"id"`
		Digest string `json:"digest"`
	}
	for len(open) < 2*calls {
		if ctx.Err() != nil {
			t.Fatal("they do not wait")
		}
		if err := json.Unmarshal([]byte(f.run("inbox", "--json")), &open); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 2 * calls {
		if err := <-answers; err == nil {
			t.Error("a call was answered")
		} else if errors.Is(err, context.DeadlineExceeded) {
			t.Error("a client waits for a gateway that is gone")
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
