//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
	"github.com/sayso-dev/sayso/lab/codex"
	"github.com/sayso-dev/sayso/lab/hosts"
	"github.com/sayso-dev/sayso/lab/npm"
)

// secret is what the server over HTTP is to be shown.
const secret = "Bearer canary-7Jq2xWv9"

// web is the server lab over HTTP.
type web struct {
	*httptest.Server
	mu    sync.Mutex // guards what follows
	shown map[string]bool
	calls int
}

// reached opens it. Who does not show the secret is told nothing.
func reached(t *testing.T) *web {
	t.Helper()
	s := &web{shown: map[string]bool{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what did not come whole is no message
	s.mu.Lock()
	s.shown[r.Header.Get("Authorization")] = true
	if bytes.Contains(body, []byte(`"tools/call"`)) {
		s.calls++
	}
	s.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != secret:
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case !bytes.Contains(body, []byte(`"id"`)):
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		hosts.ServeMCP(bytes.NewReader(append(body, '\n')), w)
	}
}

// saw checks that the server was shown the secret by all who came, and called so often.
func (s *web) saw(t *testing.T, calls int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shown[secret] || len(s.shown) != 1 || s.calls != calls {
		t.Errorf("the server was called %d times, not %d, and was shown %v", s.calls, calls, s.shown)
	}
}

// Each client has a server over HTTP in its list, with what it is authorised by in the
// client's own way: behind the gate its calls wait, and reach the server with that.
func TestClientsHTTP_claude(t *testing.T) {
	t.Parallel()
	g, up := listed(t), reached(t)
	g.client(claude.Binary(t), "mcp", "add", "--scope", "user", "--transport", "http", "lab", up.URL, "--header", "Authorization: Bearer ${LAB_TOKEN}")
	g.behindTheGate("claude-code", ".claude/.claude.json")
	s := claude.Start(t, claude.Options{
		Stub: modelstub.New(modelstub.Use(deploy())), Dir: g.dir, Home: g.home, Mode: "bypassPermissions", Env: []string{"LAB_TOKEN=canary-7Jq2xWv9"},
	})
	r := g.opened(1)[0]
	if r.Server != "lab" || r.Tool != "deploy" || r.Host != "mcp" {
		t.Errorf("asked: %+v", r)
	}
	up.saw(t, 0)
	g.approve(r)
	told(t, g.end(s), false, "deployed")
	g.want("requested answered resolved redeemed finished")
	up.saw(t, 1)
}

func TestClientsHTTP_codex(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"token": "", "headers": "http_headers = { Authorization = \"" + secret + "\" }\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, up := listed(t), reached(t)
			if more == "" {
				g.write(filepath.Join(g.home, ".codex", "config.toml"), "model_reasoning_effort = \"low\" # mine\n")
				g.client(codex.Binary(t), "mcp", "add", "lab", "--url", up.URL, "--bearer-token-env-var", "LAB_TOKEN")
			} else {
				g.write(filepath.Join(g.home, ".codex", "config.toml"), fmt.Sprintf("[mcp_servers.lab]\nurl = %q\n%s", up.URL, more))
			}
			g.behindTheGate("codex", ".codex/config.toml")
			call := script(`text(await tools.mcp__lab__deploy({env: "prod"}));`)
			wait := codex.Start(t, codex.Options{
				Stub: modelstub.New(modelstub.Use(call)), Dir: g.dir, Home: g.home, Config: g.read(".codex/config.toml"), Env: []string{"LAB_TOKEN=canary-7Jq2xWv9"},
			})
			g.approve(g.opened(1)[0])
			if res := wait(); len(res.Results) != 1 || !strings.Contains(res.Results[0].Content, "deployed") {
				t.Errorf("the model was told %+v\n%s", res.Results, res.Stderr)
			}
			g.want("requested answered resolved redeemed finished")
			up.saw(t, 1)
		})
	}
}

func TestClientsHTTP_others(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host      hosts.Host
		list, run string
		entry     map[string]any // but for the address
		url       string
	}{
		{hosts.Gemini, ".gemini/settings.json", "mcp_lab_deploy", map[string]any{"trust": true}, "httpUrl"},
		{hosts.Copilot, ".copilot/mcp-config.json", "lab-deploy", map[string]any{"type": "http", "tools": []any{"*"}}, "url"},
	} {
		t.Run(c.host.Name, func(t *testing.T) {
			t.Parallel()
			c.host.Program(t)
			g, up := listed(t), reached(t)
			if err := c.host.Write(g.home, hosts.Setup{}); err != nil {
				t.Fatal(err)
			}
			c.entry[c.url], c.entry["headers"] = up.URL, map[string]any{"Authorization": "Bearer ${LAB_TOKEN}"}
			g.lists(c.list, c.entry)
			g.behindTheGate(c.host.Name, c.list)
			wait, _ := c.host.Start(t, hosts.Options{
				Stub: modelstub.New(modelstub.Use(modelstub.Call{ID: "toolu_1", Name: c.run, Input: `{"env":"prod"}`})), Dir: g.dir, Home: g.home,
				Env: []string{"LAB_TOKEN=canary-7Jq2xWv9"},
			})
			g.approve(g.opened(1)[0])
			if res := wait(); len(res.Results) != 1 || !strings.Contains(res.Results[0].Content, "deployed") {
				t.Errorf("the model was told %+v\n%s%s", res.Results, res.Stdout, res.Stderr)
			}
			g.want("requested answered resolved redeemed finished")
			up.saw(t, 1)
		})
	}
}

// lists puts the server lab into a list, whatever else stands there.
func (g *gate) lists(name string, entry map[string]any) {
	g.t.Helper()
	all := map[string]any{}
	if text, err := os.ReadFile(filepath.Join(g.home, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		g.t.Fatal(err)
	} else if len(text) > 0 {
		if err := json.Unmarshal(text, &all); err != nil {
			g.t.Fatal(err)
		}
	}
	all["mcpServers"] = map[string]any{"lab": entry}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		g.t.Fatal(err)
	}
	g.write(filepath.Join(g.home, name), string(text)+"\n")
}

func TestClientsHTTP_opencode(t *testing.T) {
	t.Parallel()
	release := npm.Package{
		Title: "opencode 1.18.33", Cache: "opencode-1.18.33", Spec: "opencode-ai@1.18.33",
		File: "node_modules/opencode-" + runtime.GOOS + "*/bin/opencode",
	}
	program := release.Path(t)
	g, up := listed(t), reached(t)
	list := filepath.Join(g.home, ".config", "opencode", "opencode.jsonc")
	g.write(list, "{\n  // mine\n  \"mcp\": {\"lab\": {\"type\": \"remote\", \"url\": \""+up.URL+"\", \"headers\": {\"Authorization\": \""+secret+"\"}, \"enabled\": true}},\n}\n")
	g.behindTheGate("opencode", ".config/opencode/opencode.jsonc")
	out := g.client(program, "mcp", "list")
	if !strings.Contains(out, "connected") || !strings.Contains(out, "sayso mcp --name lab") {
		t.Errorf("opencode says of its servers:\n%s", out)
	}
	if pinned := g.sayso("tools"); !strings.Contains(pinned, "deploy") {
		t.Errorf("the gate has seen no tools of it:\n%s", pinned)
	}
	up.saw(t, 0)
}
