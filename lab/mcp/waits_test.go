//go:build unix

package mcp

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asksFirst is a server whose tool wants to know something of the client before it
// goes on.
func asksFirst() {
	s := mcp.NewServer(&mcp.Implementation{Name: "asks", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "deploy", Description: "sends it out"}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		answer, ok := r.Params.InputResponses["name"].(*mcp.ElicitResult)
		if !ok {
			return &mcp.CallToolResult{RequestState: "one", InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{
				Message: "As whom?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}},
			}}}, nil, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint("deployed as ", answer.Content["name"])}}}, nil, nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(0)
}

// With the official client in both generations of the protocol: a person answers
// in the client, the server asks its own question there, and people are asked once.
func TestWaits_elicitation(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28", "2026-07-28 served"} {
		version, served := strings.CutSuffix(version, " served")
		for decision, want := range map[string]string{"allow": "deployed as Ada", "deny": "Denied by"} {
			t.Run(fmt.Sprintf("%s %s served=%v", version, decision, served), func(t *testing.T) {
				t.Parallel() // most of the time somebody reads
				var ours, theirs atomic.Int32
				c := mcp.NewClient(&mcp.Implementation{Name: "lab", Version: "1"}, &mcp.ClientOptions{
					ElicitationHandler: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						if !strings.HasPrefix(r.Params.Message, "May the tool deploy of srv run?") {
							theirs.Add(1)
							return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
						}
						ours.Add(1)
						select { // as long as a person takes to read: what comes sooner is nobody's, by the clock of another process
						case <-time.After(1200 * time.Millisecond):
						case <-ctx.Done():
						}
						return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}, nil
					},
				})
				cmd := gated(t, "version: 1\nrules:\n  - {ask: mcp__srv__deploy, elicit: true}\n", []string{os.Args[0]})
				cmd.Env = append(cmd.Env, "LAB_SERVER=1")
				if served {
					serve(t, cmd)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				session, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				if got := session.InitializeResult().ProtocolVersion; got != version {
					t.Fatalf("they speak %s", got)
				}
				if _, err := session.ListTools(ctx, nil); err != nil {
					t.Fatal(err)
				}
				result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "deploy", Arguments: map[string]any{}})
				if text := shown(result, err); !strings.Contains(text, want) {
					t.Errorf("got %s", text)
				}
				out := recorded(t, cmd, "log")
				if n := strings.Count(out, "approval.requested"); n != 1 || ours.Load() != 1 || !strings.Contains(out, "elicitation: a program may have answered") {
					t.Errorf("asked %d times, %d of them at the client:\n%s", n, ours.Load(), out)
				}
				if got := strings.Contains(recorded(t, cmd, "log", "--json"), `"channel":"socket"`); got != served {
					t.Errorf("asked over the socket: %v", got)
				}
				if asked := theirs.Load() == 1; asked != (decision == "allow") {
					t.Errorf("the server asked: %v", asked)
				}
			})
		}
	}
}

// serve runs sayso serve for the home of a command, so that the gate is there and
// not in the command's own process.
func serve(t *testing.T, like *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(like.Path, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = like.Env
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(said)
	for {
		if !lines.Scan() {
			t.Fatal("sayso serve ended")
		}
		if strings.Contains(lines.Text(), "listening on") {
			break
		}
	}
	go func() {
		for lines.Scan() { // what it says must go somewhere
		}
	}()
}

// recorded is what sayso prints for the home of a command.
func recorded(t *testing.T, like *exec.Cmd, args ...string) string {
	t.Helper()
	cmd := exec.Command(like.Path, args...)
	cmd.Env = like.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sayso %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
