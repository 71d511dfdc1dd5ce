//go:build unix

package claude_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
	"github.com/sayso-dev/sayso/lab/payload"
)

// payloadDir holds what hooks of this release are sent, a file per event and
// call, for the adapter's tests to read.
const payloadDir = "../../agent/claudecode/testdata/payloads/" + claude.Version

// TestPayloads makes a call of every tool that can be driven without an
// account and compares what the hooks were sent, member by member, with the
// files. Values may differ from run to run; names and kinds may not. With
// -update the files are written.
func TestPayloads(t *testing.T) {
	t.Parallel()
	got := map[string]jsontext.Value{}
	recorded := 0
	for name, s := range sessions() {
		t.Run(name, func(t *testing.T) { maps.Copy(got, s.record(t)); recorded++ })
	}
	if recorded < len(sessions()) {
		t.Skip("only some of the sessions were run; type: go test ./lab/claude -run 'TestPayloads$'")
	}
	payload.Compare(t, payloadDir, got, *update)
}

// session is a run that makes calls, each with the label of its files.
type session struct {
	options claude.Options
	prepare func(t *testing.T, dir string)
	calls   []labelled
	tail    []modelstub.Turn // after the calls
	events  []string         // of the hooks; callEvents if nil
}

type labelled struct{ label, tool, input string }

func sessions() map[string]session {
	plain := session{prepare: workspace, calls: plainCalls,
		options: claude.Options{Args: mcpConfig(), Env: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_USE_POWERSHELL_TOOL=1"}}}
	return map[string]session{
		"unattended": plain,
		"search": {prepare: workspace, options: claude.Options{Args: []string{"--tools", "Bash,Glob,Grep"}}, calls: []labelled{
			{"Glob", "Glob", `{"pattern":"*.txt"}`},
			{"Grep", "Grep", `{"pattern":"one","path":"/home/dev/app","output_mode":"content","-n":true}`},
		}},
		"todo": {prepare: workspace, options: claude.Options{Env: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_ENABLE_TASKS=0"}}, calls: []labelled{
			{"TodoWrite", "TodoWrite", `{"todos":[{"content":"Ship it","status":"pending","activeForm":"Shipping it"}]}`},
		}},
		"attended": {prepare: workspace, options: attended(claude.Options{Mode: "default"}), calls: []labelled{
			{"AskUserQuestion", "AskUserQuestion", `{"questions":[{"question":"Which?","header":"Pick","multiSelect":false,"options":[{"label":"A","description":"the first"},{"label":"B","description":"the second"}]}]}`},
			{"EnterPlanMode", "EnterPlanMode", `{}`},
			{"ExitPlanMode", "ExitPlanMode", `{}`},
			{"Write-plan", "Write", `{"file_path":"$PLAN","content":"# Plan\n\n1. Do it.\n"}`},
			{"ExitPlanMode-with-plan", "ExitPlanMode", `{}`},
			{"Bash-refused-by-host", "Bash", `{"command":"touch refused"}`},
		}},
		"prompt": {prepare: workspace, options: attended(claude.Options{Mode: "default"}), events: []string{"PermissionRequest"}, calls: []labelled{
			{"WebFetch", "WebFetch", `{"url":"https://localhost:1/page","prompt":"What is it about?"}`},
		}},
		"subagent": {prepare: workspace,
			calls: []labelled{
				{"Agent", "Agent", `{"description":"Look around","prompt":"List the files.","subagent_type":"general-purpose","run_in_background":false}`},
				{"Bash-in-subagent", "Bash", `{"command":"ls","description":"List files"}`},
			},
			tail: []modelstub.Turn{modelstub.Say("two files"), modelstub.Say("done")}},
	}
}

var plainCalls = []labelled{
	{"Bash", "Bash", `{"command":"echo hi","description":"Say hi"}`},
	{"Bash-fails", "Bash", `{"command":"echo broken >&2; exit 3","description":"Fail","timeout":5000}`},
	{"Bash-background", "Bash", `{"command":"exec sleep 60","run_in_background":true}`},
	{"TaskStop", "TaskStop", `{"task_id":"$TASK"}`},
	{"Read", "Read", `{"file_path":"/home/dev/app/notes.txt"}`},
	{"Read-absent", "Read", `{"file_path":"/home/dev/app/absent.txt"}`},
	{"Read-notebook", "Read", `{"file_path":"/home/dev/app/book.ipynb"}`},
	{"Write", "Write", `{"file_path":"/home/dev/app/new.txt","content":"hello\n"}`},
	{"Edit", "Edit", `{"file_path":"/home/dev/app/notes.txt","old_string":"two","new_string":"three"}`},
	{"NotebookEdit", "NotebookEdit", `{"notebook_path":"/home/dev/app/book.ipynb","cell_id":"a1","new_source":"2","cell_type":"code","edit_mode":"replace"}`},
	{"WebFetch", "WebFetch", `{"url":"https://localhost:1/page","prompt":"What is it about?"}`},
	{"WebSearch", "WebSearch", `{"query":"weather","allowed_domains":["example.com"]}`},
	{"TaskCreate", "TaskCreate", `{"subject":"Ship","description":"Ship it","activeForm":"Shipping"}`},
	{"TaskUpdate", "TaskUpdate", `{"taskId":"1","status":"in_progress"}`},
	{"TaskList", "TaskList", `{}`},
	{"TaskGet", "TaskGet", `{"taskId":"1"}`},
	{"Monitor", "Monitor", `{"description":"watch","timeout_ms":2000,"command":"echo tick"}`},
	{"Skill", "Skill", `{"skill":"hello","args":"world"}`},
	{"CronCreate", "CronCreate", `{"cron":"0 0 1 1 *","prompt":"hello","recurring":false}`},
	{"CronList", "CronList", `{}`},
	{"ListAgents", "ListAgents", `{}`},
	{"SendMessage", "SendMessage", `{"to":"nobody","message":"hello","summary":"greeting"}`},
	{"ReportFindings", "ReportFindings", `{"level":"low","findings":[]}`},
	{"EnterWorktree", "EnterWorktree", `{"name":"side"}`},
	{"Workflow", "Workflow", `{"script":"export const meta = {name:'x', description:'y'}\nreturn 1","title":"t"}`},
	{"mcp", "mcp__lab__deploy", `{"env":"prod"}`},
	{"ListMcpResourcesTool", "ListMcpResourcesTool", `{"server":"lab"}`},
	{"ReadMcpResourceTool", "ReadMcpResourceTool", `{"server":"lab","uri":"lab://plan"}`},
	{"PowerShell", "PowerShell", `{"command":"echo hi","description":"Say hi"}`},
}

// workspace is what the calls find.
func workspace(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "notes.txt"), "one\ntwo\n")
	write(t, filepath.Join(dir, "book.ipynb"), `{"cells":[{"cell_type":"code","id":"a1","metadata":{},"source":["1"],"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
	write(t, filepath.Join(dir, ".claude/skills/hello/SKILL.md"), "---\nname: hello\ndescription: say hello\n---\nSay hello.\n")
}

// Neutral stand-ins for what differs from machine to machine.
const (
	neutralHome = "/home/dev"
	neutralDir  = "/home/dev/app"
)

// record runs s and returns the payloads of its hooks, named EVENT.LABEL.
func (s session) record(t *testing.T) map[string]jsontext.Value {
	dir, home, out := t.TempDir(), t.TempDir(), t.TempDir()
	s.prepare(t, dir)
	labels := map[string]string{}
	o := s.options
	var turns []modelstub.Turn
	for i, c := range s.calls {
		id := fmt.Sprintf("toolu_01%s%02d", "Vq7dYkR2mXn4TzLb8sWc", i)
		labels[id] = c.label
		turns = append(turns, modelstub.Then(func(back []modelstub.ToolResult) modelstub.Turn {
			input := strings.ReplaceAll(c.input, neutralDir, dir)
			if len(back) > 0 {
				input = strings.ReplaceAll(input, "$TASK", task(back[0].Content))
			}
			input = strings.ReplaceAll(input, "$PLAN", plan(o.Stub))
			return modelstub.Use(modelstub.Call{ID: id, Name: c.tool, Input: input})
		}))
	}
	o.Dir, o.Home, o.Stub = dir, home, modelstub.New(append(turns, s.tail...)...)
	events := s.events
	if events == nil {
		events = callEvents
	}
	o.Settings = claude.Settings("", recorders(events, out)...)
	claude.Run(t, o)
	if n := o.Stub.Left(); n != 0 {
		t.Errorf("%d turns of the script were not asked for", n)
	}
	neutral := strings.NewReplacer(dir, neutralDir, home, neutralHome, slug(dir), slug(neutralDir), slug(home), slug(neutralHome))
	found := map[string]jsontext.Value{}
	files, _ := filepath.Glob(filepath.Join(out, "*"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		v := jsontext.Value(steady(neutral.Replace(string(b))))
		if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
			t.Fatalf("a hook was sent %q: %v", b, err)
		}
		if name := name(t, v, labels); name != "" {
			found[name] = v
		}
	}
	return found
}

// callEvents are those of a session and its calls. That of a prompt fires for calls
// that have their own files too, so it has a session for itself.
var callEvents = []string{"SessionStart", "SessionEnd", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"}

// recorders are hooks that keep what they are sent, a file each.
func recorders(events []string, dir string) []claude.Hook {
	var hooks []claude.Hook
	for _, event := range events {
		hooks = append(hooks, claude.Hook{Event: event, Command: "/bin/sh", Args: []string{"-c", `cat > "$(mktemp "$0/XXXXXXXX")"`, dir}})
	}
	return hooks
}

// name is the name of a payload's file: EVENT.LABEL, or EVENT alone for those
// of the session. Of the events that are about several calls, one example is
// kept.
func name(t *testing.T, payload []byte, labels map[string]string) string {
	t.Helper()
	var p struct {
		Event  string `json:"hook_event_name"`
		CallID string `json:"tool_use_id"`
		Tool   string `json:"tool_name"`
		Calls  []struct {
			CallID string `json:"tool_use_id"`
		} `json:"tool_calls"`
	}
	if err := jcs.UnmarshalLenient(payload, &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Calls) > 0 {
		p.CallID = p.Calls[0].CallID
		if labels[p.CallID] != "Bash" && labels[p.CallID] != "Bash-refused-by-host" {
			return ""
		}
	}
	switch {
	case p.CallID == "" && p.Tool != "": // of a prompt, which is of no call
		return p.Event + "." + p.Tool
	case p.CallID == "":
		return p.Event
	}
	return p.Event + "." + labels[p.CallID]
}

var (
	sessionID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	millis    = regexp.MustCompile(`("(?:duration_ms|durationMs|totalDurationMs)":)\d+`)
	planFile  = regexp.MustCompile(`/[^\s"\\]*/plans/[\w-]+\.md`)
	taskID    = regexp.MustCompile(`with ID: (\w+)`)
)

// steady replaces ids and times, so that recording again changes few lines.
func steady(s string) string {
	first := sessionID.FindString(s)
	s = sessionID.ReplaceAllStringFunc(s, func(id string) string {
		if id == first {
			return "7f1c0f2e-5d1c-4c5e-9d43-0d9b0a7a1c11"
		}
		return "8663056d-96f2-485e-9ddc-7dfe805f0211"
	})
	return millis.ReplaceAllString(s, "${1}12")
}

// task finds the id of a background task in the result that announces it.
func task(result string) string {
	if m := taskID.FindStringSubmatch(result); m != nil {
		return m[1]
	}
	return "none"
}

// plan finds the file that the host wants the model to write its plan to.
func plan(s *modelstub.Stub) string {
	for _, r := range s.Requests() {
		if path := planFile.Find(r.Body); path != nil {
			return string(path)
		}
	}
	return "none"
}

// slug is how the host spells a folder in the name of another.
func slug(path string) string { return regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(path, "-") }
