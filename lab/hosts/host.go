//go:build unix

package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/npm"
)

// Host is a program that agents run in, how it is driven without an account, and
// how its model makes the calls of the lab. To add one, write such a value, put it
// into [All], and run its cases with -update.
type Host struct {
	Name    string // as sayso calls it
	Title   string // as people call it
	Version string // the exact release that the tests run
	// Often says that the host is cheap enough to be run with all tests; the
	// others are run by a flag.
	Often bool

	Shell  string   // its tool that runs a line of bash
	Before string   // the event that asks before a tool
	Events []string // all events that a hook is told of

	Deny string // a denial as the host spells it, without its last brace
	Word string // a decision that does not exist

	// Wired are the files, below the home folder, that sayso init writes hooks
	// into.
	Wired []string

	// Switches are files of a project that are said to switch hooks off.
	Switches []Switch

	program   func(t testing.TB) string // fetched if need be
	arguments func(prompt, url string) []string
	environ   func(url, home string) []string
	files     func(Setup) map[string]any // below the home folder: text, or what becomes JSON

	trust func(dir string) map[string]any // such files, by which a person trusts a folder; nil if there are none

	// ready is what a person does after sayso init, so that the host starts the
	// hook; nil if there is nothing.
	ready func(program, dir, home string, environ []string) error

	command func(line string) string               // the input of a call of its shell; [Command] if nil
	many    func(lines []string) []modelstub.Call  // calls of its shell that are made at once; one message of them if nil
	deploy  modelstub.Call                         // a call of the tool deploy of the MCP server "lab"
	inAgent func(call modelstub.Call) Conversation // an agent of the host's own makes a call

	// interactive starts a shell that goes on, and typed is a call that types into
	// it, by what the model was told of the first; nil if there is no tool for it.
	interactive modelstub.Call
	typed       func(told, text string) modelstub.Call
}

// Switch is a file of a project, and what it says.
type Switch struct{ File, Text string }

// Conversation is what a model says to a host, and to the agents that the host
// starts beside, where the host asks for both at once.
type Conversation struct {
	Turns  []modelstub.Turn
	Beside func(request []byte) bool // tells requests of such an agent; nil if there are none
	Agent  []modelstub.Turn
}

// Stub is a model that says it.
func (c Conversation) Stub() *modelstub.Stub {
	stub := modelstub.New(c.Turns...)
	if c.Beside != nil {
		stub.Beside(c.Beside, c.Agent...)
	}
	return stub
}

// Setup is what the person's settings of a host hold.
type Setup struct {
	Hooks map[string]string // lines of a shell, by event
	Wait  int               // how many seconds the host waits for a hook
	MCP   string            // the program of the MCP server "lab"; none if empty
}

// All are the hosts of the lab, in the order of the tables.
var All = []Host{Claude, Codex, Copilot, Gemini, Opencode}

// Find returns the host of that name.
func Find(name string) (Host, bool) {
	for _, h := range All {
		if h.Name == name {
			return h, true
		}
	}
	return Host{}, false
}

// fromNPM is a program that npm links.
func fromNPM(title, version, name, spec string) func(testing.TB) string {
	p := npm.Package{Title: title + " " + version, Cache: name + "-" + version, Spec: spec + "@" + version, File: "node_modules/.bin/" + name}
	return p.Path
}

// Program is the path of the host's program, which is fetched first if the cache
// has none.
func (h Host) Program(t testing.TB) string { t.Helper(); return h.program(t) }

// Ready does what a person does after sayso init.
func (h Host) Ready(t testing.TB, dir, home string, env []string) {
	t.Helper()
	if h.ready == nil {
		return
	}
	if err := h.ready(h.Program(t), dir, home, h.environment("", home, env)); err != nil {
		t.Fatalf("making %s ready: %v", h.Title, err)
	}
}

// Write puts settings below a home folder.
func (h Host) Write(home string, s Setup) error {
	if s.Wait == 0 {
		s.Wait = 10
	}
	return put(home, h.files(s))
}

// Trust has the host trust a folder, as it does where a person said so.
func (h Host) Trust(home, dir string) error {
	if h.trust == nil {
		return nil
	}
	return put(home, h.trust(dir))
}

// put writes files below a home folder. Text goes behind what is there.
func put(home string, files map[string]any) error {
	for name, settings := range files {
		path, text := filepath.Join(home, name), ""
		if more, ok := settings.(string); ok {
			old, err := os.ReadFile(path)
			if err != nil && !os.IsNotExist(err) {
				return err
			}
			text = string(old) + more
		} else {
			b, err := jcs.MarshalIndent(settings)
			if err != nil {
				return err
			}
			text = string(b)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// limits are the time limits of hooks in a host's settings.
var limits = regexp.MustCompile(`"(timeout|timeoutSec)":\s*(\d+)`)

// plugins are the time limits in plugins.
var plugins = regexp.MustCompile(`askingMS = \d+`)

// Hurry has the host wait for hooks that sayso init wrote only for so many
// seconds, so that a test need not wait an hour.
func (h Host) Hurry(home string, seconds int) error {
	for _, name := range h.Wired {
		path := filepath.Join(home, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		unit := 1
		if h.Name == "gemini" { // which counts milliseconds
			unit = 1000
		}
		short := plugins.ReplaceAllString(limits.ReplaceAllString(string(text), fmt.Sprintf(`"$1": %d`, seconds*unit)), fmt.Sprintf("askingMS = %d", seconds*1000))
		if err := os.WriteFile(path, []byte(short), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Every is one line for each event, with %s in it replaced by the event.
func (h Host) Every(line string) map[string]string {
	hooks := map[string]string{}
	for _, event := range h.Events {
		hooks[event] = strings.ReplaceAll(line, "%s", event)
	}
	return hooks
}

// Call is a call of the host's shell.
func (h Host) Call(id, line string) modelstub.Call {
	input := Command(line)
	if h.command != nil {
		input = h.command(line)
	}
	return modelstub.Call{ID: id, Name: h.Shell, Input: input}
}

// Many are calls of the host's shell that its model makes at once.
func (h Host) Many(lines []string) []modelstub.Call {
	if h.many != nil {
		return h.many(lines)
	}
	var calls []modelstub.Call
	for i, line := range lines {
		calls = append(calls, h.Call(fmt.Sprintf("toolu_%02d", i), line))
	}
	return calls
}

// Deploy is a call of the tool deploy of the MCP server "lab".
func (h Host) Deploy(id string) modelstub.Call {
	call := h.deploy
	call.ID = id
	return call
}

// InAgent has an agent that the host starts make a call.
func (h Host) InAgent(call modelstub.Call) Conversation { return h.inAgent(call) }

// Typing is a call that starts a shell that goes on, and how its model types into
// it; nil if it has no tool for that.
func (h Host) Typing() (start modelstub.Call, typed func(told, text string) modelstub.Call) {
	return h.interactive, h.typed
}

// Command is the input of a call of most hosts' shell.
func Command(line string) string {
	return object(map[string]string{"command": line, "description": "a step of the lab"})
}

func object(v any) string {
	text, err := jcs.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a line that is no text: %v", err))
	}
	return string(text)
}

// inLine is a conversation in which the host waits for its agent: one asks after
// the other.
func inLine(start modelstub.Call, call modelstub.Call, end ...modelstub.Turn) Conversation {
	return Conversation{Turns: append([]modelstub.Turn{modelstub.Use(start), modelstub.Use(call)}, end...)}
}

// mcpEnv tells a test binary that it is started as the server.
var mcpEnv = map[string]any{"LAB_MCP_SERVER": "1"}
