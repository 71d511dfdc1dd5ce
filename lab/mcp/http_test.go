//go:build unix

package mcp

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// front is a gateway that listens.
type front struct {
	t     *testing.T
	home  string
	token string
	cmd   *exec.Cmd
	at    map[string]string // addresses by the names of servers
}

// run runs sayso with the home of the gateway.
func (f *front) run(args ...string) string {
	f.t.Helper()
	program, err := sayso()
	if err != nil {
		f.t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SAYSO_HOME="+f.home, "SAYSO_NOTICE=off")
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("sayso %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

var isAt = regexp.MustCompile(`sayso: (\S+) is at (\S+)`)

// listening starts a gateway in front of the servers in a file.
func listening(t *testing.T, policy, file string, count int) *front {
	t.Helper()
	program, err := sayso()
	if err != nil {
		t.Fatal(err)
	}
	f := &front{t: t, home: t.TempDir(), at: map[string]string{}}
	for name, text := range map[string]string{"policy.yaml": policy, "mcp.yaml": file} {
		if err := os.WriteFile(filepath.Join(f.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(f.home, 0o700); err != nil {
		t.Fatal(err)
	}
	f.token = f.run("token", "create", "--name", "lab", "--kind", "agent")
	f.cmd = exec.Command(program, "mcp", "--listen", "127.0.0.1:0", "--config", filepath.Join(f.home, "mcp.yaml"))
	f.cmd.Env = append(os.Environ(), "SAYSO_HOME="+f.home, "SAYSO_NOTICE=off")
	said, err := f.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for len(f.at) < count && lines.Scan() {
		if m := isAt.FindStringSubmatch(lines.Text()); m != nil {
			f.at[m[1]] = m[2]
		}
	}
	if len(f.at) < count {
		t.Fatal("the gateway does not listen")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines.Scan() {
			t.Log(lines.Text())
		}
	}()
	t.Cleanup(func() {
		_ = f.cmd.Process.Signal(syscall.SIGTERM)
		<-done
		_ = f.cmd.Wait()
	})
	return f
}

// bearer puts a token into each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// to is the way of the official client to a server behind the gateway.
func (f *front) to(name string) mcp.Transport {
	return &mcp.StreamableClientTransport{
		Endpoint:   f.at[name],
		HTTPClient: &http.Client{Transport: bearer{f.token, http.DefaultTransport}},
	}
}

// overHTTP starts the server for everything with HTTP, and returns its address.
func overHTTP(t *testing.T, program string) string {
	t.Helper()
	return serving(t, program, "streamableHttp") + "/mcp"
}

// serving starts the server for everything with a transport.
func serving(t *testing.T, program, transport string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", program, transport)
	cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.Contains(lines.Text(), strconv.Itoa(port)) {
	}
	go func() {
		for lines.Scan() { // what it says must go somewhere
		}
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

type sumOf struct {
	A int `json:"a"`
	B int `json:"b" jsonschema:"the second"`
}

// goServer is a server made with the official Go library.
func goServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "go", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "sum", Description: "adds"}, func(ctx context.Context, r *mcp.CallToolRequest, in sumOf) (*mcp.CallToolResult, any, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strconv.Itoa(in.A + in.B)}}}, nil, nil
	})
	return s
}

// goOverHTTP serves it over HTTP.
func goOverHTTP(t *testing.T, stateless bool) string {
	t.Helper()
	s := goServer()
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// without leaves out what was asked for under these names.
func without(all []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		name, _, _ := strings.Cut(s, ":")
		return slices.Contains(names, name)
	})
}

// All that works with a server works through the gateway over HTTP, and gives the
// same, whether the server is a program or speaks HTTP itself, and in both
// generations of the protocol.
func TestOverHTTP(t *testing.T) {
	modules := filepath.Join(servers(t), "node_modules", "@modelcontextprotocol")
	program, filer := filepath.Join(modules, "server-everything", "dist", "index.js"), filepath.Join(modules, "server-filesystem", "dist", "index.js")
	files, onFiles, back := folder(t)
	everything, stateful, stateless := overHTTP(t, program), goOverHTTP(t, false), goOverHTTP(t, true)
	f := listening(t, "version: 1\nrules:\n  - allow: {server: [program, files, everything, stateful, stateless]}\n", fmt.Sprintf(`version: 1
servers:
  program:
    command: node
    args: [%q, stdio]
  files:
    command: node
    args: [%q, %q]
  everything: {url: %q}
  stateful: {url: %q}
  stateless: {url: %q}
`, program, filer, files, everything, stateful, stateless), 5)
	calls := demonstrated()
	sum := map[string]map[string]any{"sum": {"a": 1, "b": 2}}
	for _, tt := range []struct {
		name   string
		direct func() mcp.Transport
		calls  map[string]map[string]any
	}{
		{"program", func() mcp.Transport { return &mcp.CommandTransport{Command: exec.Command("node", program, "stdio")} }, calls},
		{"files", func() mcp.Transport { return &mcp.CommandTransport{Command: exec.Command("node", filer, files)} }, onFiles},
		{"everything", func() mcp.Transport { return &mcp.StreamableClientTransport{Endpoint: everything} }, calls},
		{"stateful", func() mcp.Transport { return &mcp.StreamableClientTransport{Endpoint: stateful} }, sum},
		{"stateless", func() mcp.Transport { return &mcp.StreamableClientTransport{Endpoint: stateless} }, sum},
	} {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			direct := connectOver(t, tt.direct()).everything(tt.calls)
			if tt.name == "files" {
				back()
			}
			between := time.Now()
			through := connectOver(t, f.to(tt.name)).everything(tt.calls)
			t.Logf("%v without the gate, %v through it", between.Sub(began), time.Since(between))
			if tt.name == "stateless" { // this client asks for what that version does not have, and is refused by both
				direct, through = without(direct, "ping", "logging"), without(through, "ping", "logging")
			}
			equal(t, direct, through)
			if failed := slices.IndexFunc(direct, func(s string) bool { return strings.Contains(s, ": error:") }); failed >= 0 {
				t.Errorf("without the gate it fails already: %s", direct[failed])
			}
		})
	}
}

// heard is a server over HTTP that tells once somebody listens to what belongs to no
// request: with GET or, where requests stand alone, with one of its own.
type heard struct {
	http.Handler
	once    sync.Once
	listens chan struct{}
}

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == "subscriptions/listen" {
		w = begins{w, func() { h.once.Do(func() { close(h.listens) }) }}
	}
	h.Handler.ServeHTTP(w, r)
}

// begins tells that an answer has begun.
type begins struct {
	http.ResponseWriter
	tells func()
}

func (b begins) Flush() {
	_ = http.NewResponseController(b.ResponseWriter).Flush()
	b.tells()
}

// What changes at a server reaches a client over HTTP, in both generations.
func TestChangesOverHTTP(t *testing.T) {
	for name, stateless := range map[string]bool{"stateful": false, "stateless": true} {
		t.Run(name, func(t *testing.T) {
			s := goServer()
			h := &heard{Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless}), listens: make(chan struct{})}
			srv := httptest.NewServer(h)
			t.Cleanup(srv.Close)
			f := listening(t, "version: 1\n", fmt.Sprintf("version: 1\nservers:\n  srv: {url: %q}\n", srv.URL), 1)
			changed := make(chan struct{}, 16)
			c := mcp.NewClient(&mcp.Implementation{Name: "lab", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			})
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			session, err := c.Connect(ctx, f.to("srv"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if _, err := session.ListTools(ctx, nil); err != nil {
				t.Fatal(err)
			}
			select {
			case <-h.listens:
			case <-ctx.Done():
				t.Fatal("nobody listens")
			}
			mcp.AddTool(s, &mcp.Tool{Name: "more"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{}, nil, nil
			})
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatal("the client was not told")
			}
		})
	}
}
