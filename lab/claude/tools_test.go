//go:build unix

package claude_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

var update = flag.Bool("update", false, "write what the binary shows to the adapter's testdata")

// toolFile is the adapter's list of the host's tools.
const toolFile = "../../agent/claudecode/testdata/tools-" + claude.Version + ".json"

// hostTool is one line of the list: a tool and the members of its input.
type hostTool struct {
	Name    string   `json:"name"`
	Fields  []string `json:"fields"`
	Offered bool     `json:"offered"` // the binary offered it to the model; else only its published types name it
}

// only is what neither a run without an account nor the published types show.
var only = map[string][]string{
	// Offered when the host may talk to its maker's servers.
	"DesignSync": {"assets", "counts", "deletes", "files", "localDir", "method", "name", "path", "paths", "planId", "projectId", "writes"},
	// The host adds these to the input before it asks the hooks.
	"ExitPlanMode": {"plan", "planFilePath"},
	"SendMessage":  {"content", "recipient", "recipient_kind", "type"},
}

// TestTools compares the adapter's list with the tools that this release
// offers in the settings and modes that change the set, together with those
// its published types name. A new release that adds a tool or a field turns
// this red; run it with -update and teach the adapter's table.
func TestTools(t *testing.T) {
	t.Parallel()
	fields, offered := map[string]map[string]bool{}, map[string]bool{}
	add := func(tool string, names ...string) {
		if fields[tool] == nil {
			fields[tool] = map[string]bool{}
		}
		for _, n := range names {
			fields[tool][n] = true
		}
	}
	for _, o := range toolSets() {
		for name, names := range offers(t, o) {
			offered[name] = true
			add(name, names...)
		}
	}
	for name, names := range published(t) {
		add(name, names...)
	}
	for name, names := range only {
		add(name, names...)
	}
	got := []hostTool{}
	for name, set := range fields {
		if strings.HasPrefix(name, "mcp__") {
			continue
		}
		names := []string{}
		for n := range set {
			names = append(names, n)
		}
		slices.Sort(names)
		got = append(got, hostTool{Name: name, Fields: names, Offered: offered[name]})
	}
	slices.SortFunc(got, func(a, b hostTool) int { return strings.Compare(a.Name, b.Name) })
	if *update {
		b, err := jcs.MarshalIndent(got)
		if err != nil {
			t.Fatal(err)
		}
		write(t, toolFile, string(b)+"\n")
	}
	b, err := os.ReadFile(toolFile)
	if err != nil {
		t.Fatal(err)
	}
	var want []hostTool
	if err := jcs.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools of Claude Code %s (-listed +seen):\n%s", claude.Version, diff)
	}
}

// toolSets are runs that between them offer every tool that can be had
// without an account.
func toolSets() []claude.Options {
	return []claude.Options{
		{Args: mcpConfig(), Env: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_USE_POWERSHELL_TOOL=1", "CLAUDE_CODE_ENABLE_REFRESH_MCP_TOOLS=1"}},
		{Env: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_ENABLE_TASKS=0"}},
		{Env: []string{"ENABLE_TOOL_SEARCH=true"}},
		{Args: []string{"--tools", "Bash,Glob,Grep"}},
		attended(claude.Options{}),
	}
}

// attended makes a run in which somebody could be asked: the tools whose own
// screen is the question exist only then.
func attended(o claude.Options) claude.Options {
	o.Args = append(o.Args, "--permission-prompt-tool", "stdio", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
	o.Stdin = strings.NewReader(`{"type":"user","message":{"role":"user","content":"go"},"parent_tool_use_id":null,"session_id":""}` + "\n")
	return o
}

// offers returns the tools that one run offers the model, with their fields.
func offers(t *testing.T, o claude.Options) map[string][]string {
	t.Helper()
	o.Stub = modelstub.New()
	claude.Run(t, o)
	found := map[string][]string{}
	for _, r := range o.Stub.Requests() {
		var body struct {
			Tools []struct {
				Name   string `json:"name"`
				Schema struct {
					Properties map[string]jsontext.Value `json:"properties"`
				} `json:"input_schema"`
			} `json:"tools"`
		}
		if err := jcs.UnmarshalLenient(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		for _, tool := range body.Tools {
			found[tool.Name] = []string{}
			for field := range tool.Schema.Properties {
				found[tool.Name] = append(found[tool.Name], field)
			}
		}
	}
	if len(found) == 0 {
		t.Fatal("the binary offered the model no tools")
	}
	return found
}

var (
	inputType = regexp.MustCompile(`(?m)^export interface (\w+)Input (?:\{\}|\{\n((?:.*\n)*?)\}\n)`)
	member    = regexp.MustCompile(`(?m)^  "?([\w-]+)"?\??:`)
)

// published reads the tools and fields out of the types that the release
// ships. Their names differ from the tools' in a few cases.
func published(t *testing.T) map[string][]string {
	t.Helper()
	renamed := map[string]string{
		"FileEdit": "Edit", "FileRead": "Read", "FileWrite": "Write",
		"ListMcpResources": "ListMcpResourcesTool", "ReadMcpResource": "ReadMcpResourceTool", "ReadMcpResourceDir": "ReadMcpResourceDirTool",
	}
	modules := filepath.Dir(filepath.Dir(claude.Binary(t)))
	b, err := os.ReadFile(filepath.Join(modules, "claude-code", "sdk-tools.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, m := range inputType.FindAllStringSubmatch(string(b), -1) {
		name := m[1]
		if name == "Mcp" {
			continue // any MCP tool
		}
		if r, ok := renamed[name]; ok {
			name = r
		}
		found[name] = []string{}
		for _, f := range member.FindAllStringSubmatch(m[2], -1) {
			found[name] = append(found[name], f[1])
		}
	}
	if len(found) < 40 {
		t.Fatalf("read only %d tools from the published types", len(found))
	}
	return found
}
