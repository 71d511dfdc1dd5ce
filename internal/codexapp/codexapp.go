// Package codexapp asks an installed Codex what it makes of its own settings.
//
// Codex has a server for editors, `codex app-server`, that speaks JSON-RPC over
// its standard input and output, one object a line. It says of each hook whether
// Codex trusts it, which is whether Codex will run it.
package codexapp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// Hook is a hook as Codex sees it.
type Hook struct {
	Key     string `json:"key"`
	Event   string `json:"eventName"` // as in preToolUse
	Command string `json:"command"`
	Hash    string `json:"currentHash"`
	Trust   string `json:"trustStatus"`
	Enabled bool   `json:"enabled"`
	Source  string `json:"sourcePath"`
	// What it is, and of which tools and where it is asked; empty for all, and here.
	Handler     string  `json:"handlerType"`
	Async       bool    `json:"async"`
	Seconds     int     `json:"timeoutSec"`
	Matcher     *string `json:"matcher"`
	Environment *string `json:"environmentId"`
}

// Runs reports whether Codex will run the hook.
func (h Hook) Runs() bool { return h.Enabled && (h.Trust == "trusted" || h.Trust == "managed") }

// patience is how long Codex may take to answer.
const patience = 20 * time.Second

// Hooks asks a Codex program which hooks it sees in a folder.
func Hooks(ctx context.Context, program, dir string, environ []string) ([]Hook, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "app-server")
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environ, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("codex app-server: %w", err)
	}
	hooks, err := ask(in, out, dir)
	cancel() // it would go on
	_ = cmd.Wait()
	if err != nil {
		return nil, fmt.Errorf("codex app-server: %w", err)
	}
	return hooks, nil
}

// ask asks a server for its hooks.
func ask(in io.Writer, out io.Reader, dir string) ([]Hook, error) {
	for _, message := range []map[string]any{
		{"id": 1, "method": "initialize", "params": map[string]any{
			"clientInfo":   map[string]any{"name": "sayso", "version": "1"},
			"capabilities": map[string]any{"experimentalApi": true},
		}},
		{"method": "initialized"},
		{"id": 2, "method": "hooks/list", "params": map[string]any{"cwds": []string{dir}}},
	} {
		line, err := jcs.Marshal(message)
		if err != nil {
			return nil, err
		}
		if _, err := in.Write(append(line, '\n')); err != nil {
			return nil, err
		}
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		hooks, done, err := listed(lines.Bytes())
		if done || err != nil {
			return hooks, err
		}
	}
	return nil, errors.Join(errors.New("it ended without an answer"), lines.Err())
}

// listed reads a line of the server. done is false if it is not the answer.
func listed(line []byte) (hooks []Hook, done bool, err error) {
	var head struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
	}
	if err := jcs.UnmarshalLenient(line, &head); err != nil {
		return nil, false, err
	}
	if string(head.ID) != "2" || head.Method != "" {
		return nil, false, nil
	}
	var m struct {
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
		Result struct {
			Data []struct {
				Hooks []Hook `json:"hooks"`
			} `json:"data"`
		} `json:"result"`
	}
	if err := jcs.UnmarshalLenient(line, &m); err != nil {
		return nil, false, err
	}
	if m.Error != nil {
		return nil, true, errors.New(m.Error.Message)
	}
	for _, d := range m.Result.Data {
		hooks = append(hooks, d.Hooks...)
	}
	return hooks, true, nil
}
