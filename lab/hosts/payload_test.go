//go:build unix

package hosts_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/hosts"
	"github.com/sayso-dev/sayso/lab/payload"
)

// labelled is a call whose payloads are kept under a label.
type labelled struct{ label, tool, input string }

// tools are the calls that are made to record what hooks are told.
var tools = map[string][]labelled{
	"gemini": {
		{"shell", "run_shell_command", `{"command":"echo hi","description":"Say hi"}`},
		{"shell-fails", "run_shell_command", `{"command":"echo broken >&2; exit 3","description":"Fail"}`},
		{"shell-elsewhere", "run_shell_command", `{"command":"pwd","dir_path":"sub"}`},
		{"read", "read_file", `{"file_path":"/home/dev/app/notes.txt"}`},
		{"write", "write_file", `{"file_path":"new.txt","content":"hello\n"}`},
		{"replace", "replace", `{"file_path":"/home/dev/app/notes.txt","instruction":"Say three","old_string":"two","new_string":"three"}`},
		{"list", "list_directory", `{"dir_path":"."}`},
		{"glob", "glob", `{"pattern":"*.txt"}`},
		{"grep", "grep_search", `{"pattern":"one","dir_path":"sub"}`},
		{"todos", "write_todos", `{"todos":[{"description":"Ship it","status":"pending"}]}`},
		{"mcp", "mcp_lab_deploy", `{"env":"prod"}`},
		{"agent", "invoke_agent", `{"agent_name":"codebase_investigator","prompt":"List the files."}`},
		{"in-agent", "list_directory", `{"dir_path":"sub"}`},
		{"agent-ends", "complete_task", `{"report":{"SummaryOfFindings":"none","ExplorationTrace":[],"RelevantLocations":[]}}`},
	},
	"opencode": {
		{"shell", "bash", `{"command":"echo hi","description":"Say hi"}`},
		{"shell-fails", "bash", `{"command":"echo broken >&2; exit 3"}`},
		{"shell-elsewhere", "bash", `{"command":"pwd","workdir":"sub"}`},
		{"read", "read", `{"filePath":"/home/dev/app/notes.txt"}`},
		{"write", "write", `{"filePath":"new.txt","content":"hello\n"}`},
		{"edit", "edit", `{"filePath":"/home/dev/app/notes.txt","oldString":"two","newString":"three"}`},
		{"edit-fails", "edit", `{"filePath":"/home/dev/app/notes.txt","oldString":"nowhere","newString":"three"}`},
		{"fetch", "webfetch", `{"url":"http://127.0.0.1:9/","format":"text"}`},
		{"todos", "todowrite", `{"todos":[{"content":"Ship it","status":"pending","priority":"high"}]}`},
		{"mcp", "lab_deploy", `{"env":"prod"}`},
		{"agent", "task", `{"description":"Look around","prompt":"Say hi.","subagent_type":"general"}`},
		{"in-agent", "bash", `{"command":"echo in an agent"}`},
	},
	"copilot": {
		{"shell", "bash", `{"command":"echo hi","description":"Say hi"}`},
		{"shell-fails", "bash", `{"command":"echo broken >&2; exit 3","description":"Fail"}`},
		{"shell-moves", "bash", `{"command":"cd sub && pwd","description":"Move"}`},
		{"shell-after", "bash", `{"command":"pwd","description":"Where am I"}`},
		{"view", "view", `{"path":"/home/dev/app/notes.txt"}`},
		{"create", "create", `{"path":"/home/dev/app/new.txt","file_text":"hello\n"}`},
		{"edit", "edit", `{"path":"/home/dev/app/notes.txt","old_str":"two","new_str":"three"}`},
		{"glob", "glob", `{"pattern":"*.txt"}`},
		{"grep", "grep", `{"pattern":"one","paths":"/home/dev/app/sub"}`},
		{"mcp", "lab-deploy", `{"env":"prod"}`},
		{"agent", "task", `{"name":"look","description":"Look around","prompt":"List the files.","agent_type":"explore"}`},
		{"in-agent", "glob", `{"pattern":"*.md"}`},
	},
}

// TestPayloads makes a call of the tools of each host and compares what the
// hooks were told, member by member, with the files that the adapters are tested
// with. Values may differ from run to run; names and kinds may not. With -update
// the files are written.
func TestPayloads(t *testing.T) {
	each(t, func(t *testing.T, h hosts.Host) {
		if tools[h.Name] == nil {
			t.Skipf("its payloads are recorded elsewhere; type: go test ./lab/claude ./lab/codex")
		}
		got := payloads(t, h)
		dir := filepath.Join("../../agent", h.Name, "testdata/payloads", h.Version)
		payload.Compare(t, dir, got, *update)
	})
}

// Neutral stand-ins for what differs from machine to machine.
const (
	neutralHome = "/home/dev"
	neutralDir  = "/home/dev/app"
)

// payloads makes the calls and returns the payloads, named EVENT.LABEL. The calls
// are made one after the other, and no payload says which it is about: they are
// told apart by their order.
func payloads(t *testing.T, h hosts.Host) map[string]jsontext.Value {
	t.Helper()
	dir, home, out := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "notes.txt"), "one\ntwo\n")
	write(t, filepath.Join(dir, "sub", "one.txt"), "one\n")
	setup := hosts.Setup{MCP: os.Args[0], Hooks: h.Every(fmt.Sprintf(`cat > "$(mktemp %s/%%s.XXXXXXXX)"`, out))}
	if err := h.Write(home, setup); err != nil {
		t.Fatal(err)
	}
	var turns []modelstub.Turn
	for i, c := range tools[h.Name] {
		input := strings.ReplaceAll(c.input, neutralDir, dir)
		turns = append(turns, modelstub.Use(modelstub.Call{ID: fmt.Sprintf("toolu_01%02d", i), Name: c.tool, Input: input}))
	}
	stub := modelstub.New(turns...)
	r := h.Run(t, hosts.Options{Stub: stub, Dir: dir, Home: home})
	if n := stub.Left(); n != 0 {
		t.Errorf("%d turns of the script were not asked for: %+v", n, r)
	}
	compareTools(t, h, stub)
	for _, res := range r.Results {
		t.Logf("%s: %.200q", res.Name, res.Content)
	}
	neutral := strings.NewReplacer(dir, neutralDir, home, neutralHome, os.Args[0], neutralHome+"/bin/lab")
	got := map[string]jsontext.Value{}
	seen := map[string]map[string]int{} // how many calls of a tool, by event
	for _, f := range inOrder(t, out) {
		v := jsontext.Value(steady(neutral.Replace(read(t, f))))
		if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
			t.Fatalf("a hook was told %q: %v", read(t, f), err)
		}
		event := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
		if seen[event] == nil {
			seen[event] = map[string]int{}
		}
		got[event+labelOf(t, h, v, seen[event])] = v
	}
	return got
}

// labelOf is the label of the call that a payload is about: of the calls of its
// tool, the one whose turn it is.
func labelOf(t *testing.T, h hosts.Host, payload jsontext.Value, seen map[string]int) string {
	t.Helper()
	var p struct {
		Snake string `json:"tool_name"`
		Camel string `json:"toolName"`
		Plain string `json:"tool"`
	}
	if err := jcs.UnmarshalLenient(payload, &p); err != nil {
		t.Fatal(err)
	}
	tool := strings.ReplaceAll(cmp.Or(p.Snake, p.Camel, p.Plain), "/", "-")
	if tool == "" {
		return ""
	}
	nth := seen[tool]
	seen[tool]++
	for _, c := range tools[h.Name] {
		if c.tool != tool {
			continue
		}
		if nth == 0 {
			return "." + c.label
		}
		nth--
	}
	t.Fatalf("a hook was told of a call of %s that was not made: %s", tool, payload)
	return ""
}

// inOrder lists the files of a folder by when they were written.
func inOrder(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	stat := func(f string) fs.FileInfo {
		st, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	slices.SortFunc(files, func(a, b string) int { return stat(a).ModTime().Compare(stat(b).ModTime()) })
	return files
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	transcript = regexp.MustCompile(`session-[0-9T-]+-[0-9a-f]{8}`)
	process    = regexp.MustCompile(`PGID: \d+`)
	sessionID  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	rootOf     = regexp.MustCompile(`"rootID":\s*"(ses_\w+)"`)
	session    = regexp.MustCompile(`ses_\w+`)
	took       = regexp.MustCompile(`"tookMS":\s*\d+`)
	instant    = regexp.MustCompile(`"timestamp":\s*(?:\d+|"[^"]*")`)
)

// steady replaces ids and times, so that recording again changes few lines.
func steady(s string) string {
	s = sessionID.ReplaceAllString(s, "7f1c0f2e-5d1c-4c5e-9d43-0d9b0a7a1c11")
	s = transcript.ReplaceAllString(s, "session-2026-11-22T10-00-7f1c0f2e")
	s = process.ReplaceAllString(s, "PGID: 4711")
	s = took.ReplaceAllString(s, `"tookMS":40`)
	if root := rootOf.FindStringSubmatch(s); root != nil {
		s = session.ReplaceAllStringFunc(s, func(id string) string {
			if id == root[1] {
				return "ses_1111111111111111111111root"
			}
			return "ses_2222222222222222222222agen"
		})
	}
	return instant.ReplaceAllStringFunc(s, func(old string) string {
		if strings.HasSuffix(old, `"`) {
			return `"timestamp":"2026-11-22T10:00:00.000Z"`
		}
		return `"timestamp":1795341600000`
	})
}
