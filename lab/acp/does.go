//go:build unix

package acp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// errand is what an agent has the editor do.
type errand struct {
	Path     string   `json:"path"`
	Content  string   `json:"content"`
	Command  string   `json:"command"`
	Args     []string `json:"args"`
	Cwd      string   `json:"cwd"`
	Terminal string   `json:"terminalId"`
}

// does carries out what the agent has it do, as editors do: files are written where they
// are told, and commands run as programs or, where there are no arguments, by a shell.
func (e *Editor) does(id jsontext.Value, method string, params jsontext.Value) {
	e.t.Helper()
	var do errand
	if err := jcs.UnmarshalLenient(params, &do); err != nil {
		e.t.Fatalf("%s: %v", params, err)
	}
	e.Did = append(e.Did, method+" "+do.Path+do.Command)
	var result any = map[string]any{}
	var err error
	switch method {
	case "fs/write_text_file":
		if err = os.MkdirAll(filepath.Dir(do.Path), 0o755); err == nil {
			err = os.WriteFile(do.Path, []byte(do.Content), 0o600)
		}
	case "fs/read_text_file":
		var text []byte
		text, err = os.ReadFile(do.Path)
		result = map[string]any{"content": string(text)}
	case "terminal/create":
		cmd := exec.Command(do.Command, do.Args...)
		if len(do.Args) == 0 {
			cmd = exec.Command("sh", "-c", do.Command)
		}
		cmd.Dir = do.Cwd
		_, err = cmd.Output()
		name := fmt.Sprint("t", len(e.ended)+1)
		e.ended[name] = cmd.ProcessState.ExitCode()
		result = map[string]any{"terminalId": name}
	case "terminal/output":
		result = map[string]any{"output": "", "truncated": false, "exitStatus": map[string]any{"exitCode": e.ended[do.Terminal]}}
	case "terminal/wait_for_exit":
		result = map[string]any{"exitCode": e.ended[do.Terminal]}
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": id, "result": result}
	if err != nil {
		delete(answer, "result")
		answer["error"] = map[string]any{"code": -32002, "message": "Resource not found: " + err.Error()}
	}
	line, err := jcs.Marshal(answer)
	if err != nil {
		e.t.Fatal(err)
	}
	e.write(string(line))
}
