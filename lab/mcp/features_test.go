//go:build unix

package mcp

//lint:file-ignore SA1019 sampling, roots and logging are deprecated since 2026-07-28, and clients and servers still use them through the gate.

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sayso is the program, built once.
var sayso = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sayso-lab-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "sayso")
	cmd := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/sayso")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	if os.Getenv("LAB_TASKED") != "" {
		newTasked().serve(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	if os.Getenv("LAB_SERVER") != "" {
		asksFirst()
	}
	if program := os.Getenv("LAB_LOGIN"); program != "" {
		if err := asClient(program, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if program, err := sayso(); err == nil {
		_ = os.RemoveAll(filepath.Dir(program))
	}
	os.Exit(code)
}

// gated is a command of a server behind the gate, with a policy that allows its
// tools.
func gated(t *testing.T, policy string, args []string) *exec.Cmd {
	t.Helper()
	program, err := sayso()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, append([]string{"mcp", "--name", "srv", "--"}, args...)...)
	cmd.Env = append(os.Environ(), "SAYSO_HOME="+home, "SAYSO_NOTICE=off")
	return cmd
}

const allowAll = "version: 1\nrules:\n  - allow: {server: srv}\n"

// side is what a client sees of a server.
type side struct {
	t       *testing.T
	session *mcp.ClientSession

	mu   sync.Mutex    // guards seen
	seen []string      // what the server sent of its own accord
	more chan struct{} // for each of them

	told   chan string   // resources that changed
	logged chan struct{} // for each message of those that a tool has the server log
}

// simulated is a message that a tool has the server log, of a random level.
var simulated = regexp.MustCompile(`level[ -]message`)

func (s *side) saw(text string) {
	s.mu.Lock()
	s.seen = append(s.seen, text)
	s.mu.Unlock()
	s.more <- struct{}{}
}

// progresses is how much of its progress a tool tells of.
var progresses = map[string]int{"sum": 1, "trigger-long-running-operation": 4}

// awaited returns what the server sent of its own accord, once it is as much as it
// should be: the client may return the result of a call before it has handed on
// what came ahead of it.
func (s *side) awaited(ctx context.Context, count int) []string {
	s.t.Helper()
	for range count {
		select {
		case <-s.more:
		case <-ctx.Done():
			s.t.Fatalf("of %d lines of progress some never came", count)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// connect starts a server and a client that can do all that clients can.
func connect(t *testing.T, cmd *exec.Cmd) *side {
	t.Helper()
	return connectOver(t, &mcp.CommandTransport{Command: cmd})
}

// connectOver connects such a client to a server.
func connectOver(t *testing.T, way mcp.Transport) *side {
	t.Helper()
	s := &side{t: t, told: make(chan string, 64), more: make(chan struct{}, 64), logged: make(chan struct{}, 64)}
	c := mcp.NewClient(&mcp.Implementation{Name: "lab", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "lab", Role: "assistant", Content: &mcp.TextContent{Text: "sampled"}}, nil
		},
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{ListChanged: true},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if r.Params.URL != "" {
				return &mcp.ElicitResult{Action: "accept"}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada", "check": true}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.saw(fmt.Sprintf("progress %v of %v", r.Params.Progress, r.Params.Total))
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			if simulated.MatchString(fmt.Sprint(r.Params.Data)) {
				s.logged <- struct{}{}
			}
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			s.told <- r.Params.URI
		},
	})
	c.AddRoots(&mcp.Root{URI: "file:///lab", Name: "lab"})
	ctx, cancel := context.WithCancel(context.Background()) // some transports are open for as long as it is
	t.Cleanup(cancel)
	defer time.AfterFunc(time.Minute, cancel).Stop()
	var err error
	if s.session, err = c.Connect(ctx, way, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.session.Close() })
	return s
}

// changing is what differs from one run of a server to the next; in base64 that is a resource
// which tells the time.
var changing = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|\d+:\d\d:\d\d( [AP]M)?|[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{32}\b|"pid":\d+|"blob":"UmVzb3VyY2Ug[^"]*"`)

// shown is an answer as text, without what differs from run to run.
func shown(v any, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "error: " + err.Error()
	}
	return changing.ReplaceAllString(ours.ReplaceAllString(string(text), ""), "…")
}

// ours is what of its environment a server has from these tests, where it is behind the gate:
// that of the gate.
var ours = regexp.MustCompile(`,\\n *\\"SAYSO_(HOME|NOTICE)\\": \\"[^"]*\\"`)

// prompted are the arguments of prompts that want some.
var prompted = map[string]map[string]string{
	"args-prompt": {"city": "Graz", "state": "Styria"}, "completable-prompt": {"department": "Engineering", "name": "Alice"},
	"resource-prompt": {"resourceType": "Text", "resourceId": "1"},
}

// tasksAlone are tools that are called as tasks and in no other way: TestTypeScript_tasks does,
// and it calls those that make tasks of a client, which the client for Go does not have.
var tasksAlone = []string{"simulate-research-query"}

// everything makes use of all that a server has, and returns what came back.
func (s *side) everything(calls map[string]map[string]any) []string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var all []string
	note := func(what string, v any, err error) { all = append(all, what+": "+shown(v, err)) }
	note("server", s.session.InitializeResult(), nil)
	note("ping", nil, s.session.Ping(ctx, nil))
	tools, err := s.session.ListTools(ctx, nil)
	note("tools", tools, err)
	for _, tool := range tools.Tools {
		if calls[tool.Name] == nil && !slices.Contains(tasksAlone, tool.Name) {
			s.t.Errorf("the server has a tool %s, which nobody calls", tool.Name)
		}
	}
	if caps := s.session.InitializeResult().Capabilities; caps.Prompts != nil {
		prompts, err := s.session.ListPrompts(ctx, nil)
		note("prompts", prompts, err)
		for _, p := range prompts.Prompts {
			prompt, err := s.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: prompted[p.Name]})
			if err != nil {
				s.t.Errorf("the server has a prompt %s, which nobody gets: %v", p.Name, err)
			}
			note("prompt "+p.Name, prompt, err)
		}
		done, err := s.session.Complete(ctx, &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "completable-prompt"},
			Argument: mcp.CompleteParamsArgument{Name: "department", Value: "E"},
		})
		note("completion", done, err)
	}
	if caps := s.session.InitializeResult().Capabilities; caps.Resources != nil {
		resources, err := s.session.ListResources(ctx, nil)
		note("resources", resources, err)
		templates, err := s.session.ListResourceTemplates(ctx, nil)
		note("templates", templates, err)
		var names []string
		for _, r := range resources.Resources {
			names = append(names, r.URI)
		}
		for _, t := range templates.ResourceTemplates {
			names = append(names, strings.ReplaceAll(t.URITemplate, "{resourceId}", "1"))
		}
		for _, uri := range names {
			read, err := s.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
			if err != nil {
				s.t.Errorf("the server has a resource %s, which nobody reads: %v", uri, err)
			}
			note("resource "+uri, read, err)
		}
		if len(names) > 0 {
			note("subscribe", nil, s.session.Subscribe(ctx, &mcp.SubscribeParams{URI: names[0]}))
		}
	}
	if caps := s.session.InitializeResult().Capabilities; caps.Logging != nil {
		note("logging", nil, s.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"}))
	}
	due := 0
	for _, name := range sortedNames(calls) {
		due += progresses[name]
		p := &mcp.CallToolParams{Name: name, Arguments: calls[name], Meta: mcp.Meta{}}
		p.SetProgressToken("token-" + name)
		result, err := s.session.CallTool(ctx, p)
		note("call "+name, result, err)
		if on := s.switched(name); on != nil {
			note("it is on", on(ctx), nil)
			result, err := s.session.CallTool(ctx, p)
			note("call "+name+" again", result, err)
		}
	}
	return append(all, s.awaited(ctx, due)...)
}

// switched returns what waits for what a tool switches on; nil if it does no such thing.
func (s *side) switched(tool string) func(context.Context) string {
	switch tool {
	case "toggle-subscriber-updates":
		return func(ctx context.Context) string {
			select {
			case uri := <-s.told:
				return uri
			case <-ctx.Done():
				s.t.Error("nothing was told of a resource")
				return ""
			}
		}
	case "toggle-simulated-logging":
		return func(ctx context.Context) string {
			select {
			case <-s.logged:
				return "a message"
			case <-ctx.Done():
				s.t.Error("nothing was logged")
				return ""
			}
		}
	}
	return nil
}

func sortedNames(calls map[string]map[string]any) []string {
	var names []string
	for name := range calls {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// equal compares what came back without and through the gate.
func equal(t *testing.T, direct, through []string) {
	t.Helper()
	if len(direct) != len(through) {
		t.Errorf("%d answers without the gate, %d through it:\n%s\n\n%s", len(direct), len(through), strings.Join(direct, "\n"), strings.Join(through, "\n"))
		return
	}
	for i := range direct {
		if direct[i] != through[i] {
			t.Errorf("without the gate:\n%s\nthrough it:\n%s", direct[i], through[i])
		}
	}
}

// demonstrated are calls of all tools of server-everything.
func demonstrated() map[string]map[string]any {
	return map[string]map[string]any{
		"echo": {"message": "hello"}, "get-sum": {"a": 1, "b": 2.5}, "get-tiny-image": {}, "get-annotated-message": {"messageType": "error", "includeImage": true},
		"get-structured-content": {"location": "New York"}, "get-resource-links": {"count": 3}, "get-resource-reference": {"resourceType": "Text", "resourceId": 1},
		"trigger-long-running-operation": {"duration": 1, "steps": 4}, "trigger-sampling-request": {"prompt": "say", "maxTokens": 5},
		"trigger-elicitation-request": {}, "trigger-url-elicitation": {"url": "https://example.org/login", "message": "open it", "elicitationId": "e1"},
		"get-roots-list": {}, "get-env": {}, "gzip-file-as-resource": {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"},
		"toggle-simulated-logging": {}, "toggle-subscriber-updates": {},
	}
}

// folder is a folder with files, for a server of files, calls of all of its tools, and what
// puts the folder back as it was; that fails where nothing was written and moved there.
func folder(t *testing.T) (files string, calls map[string]map[string]any, back func()) {
	t.Helper()
	files = t.TempDir()
	at := func(name string) string { return filepath.Join(files, name) }
	lay := func() {
		for name, text := range map[string]string{"a.txt": "one\ntwo\n", "from.txt": "moved", "dot.png": "\x89PNG"} {
			if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	lay()
	back = func() {
		t.Helper()
		for _, name := range []string{"b.txt", "new", "to.txt"} {
			if err := os.Remove(at(name)); err != nil { // which is by whom it was made
				t.Error(err)
			}
		}
		lay()
	}
	return files, map[string]map[string]any{
		"read_text_file": {"path": at("a.txt"), "tail": 1}, "read_file": {"path": at("a.txt")}, "read_media_file": {"path": at("dot.png")},
		"read_multiple_files": {"paths": []any{at("a.txt"), at("none.txt")}},
		"create_directory":    {"path": at("new")}, "move_file": {"source": at("from.txt"), "destination": at("to.txt")},
		"write_file": {"path": at("b.txt"), "content": "three"}, "list_directory": {"path": files}, "list_directory_with_sizes": {"path": files, "sortBy": "name"},
		"edit_file":      {"path": at("a.txt"), "edits": []any{map[string]any{"oldText": "two", "newText": "four"}}},
		"directory_tree": {"path": files}, "search_files": {"path": files, "pattern": "*.txt"}, "list_allowed_directories": {}, "get_file_info": {"path": "/etc/passwd"},
	}, back
}

// All that works with a server works through the gate, and gives the same.
func TestFeatures(t *testing.T) {
	modules := filepath.Join(servers(t), "node_modules", "@modelcontextprotocol")
	files, onFiles, back := folder(t)
	for name, tt := range map[string]struct {
		command []string
		calls   map[string]map[string]any
	}{
		"everything": {
			[]string{"node", filepath.Join(modules, "server-everything", "dist", "index.js"), "stdio"},
			demonstrated(),
		},
		"filesystem": {
			[]string{"node", filepath.Join(modules, "server-filesystem", "dist", "index.js"), files},
			onFiles,
		},
	} {
		t.Run(name, func(t *testing.T) {
			direct := connect(t, exec.Command(tt.command[0], tt.command[1:]...)).everything(tt.calls)
			if name == "filesystem" {
				back()
			}
			through := connect(t, gated(t, allowAll, tt.command)).everything(tt.calls)
			equal(t, direct, through)
			if failed := slices.IndexFunc(direct, func(s string) bool { return strings.Contains(s, ": error:") }); failed >= 0 {
				t.Errorf("without the gate it fails already: %s", direct[failed])
			}
		})
	}
}
