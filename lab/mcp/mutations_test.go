//go:build unix

package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mutant is a definition of a tool with one place changed.
type mutant struct {
	tool int // which of the list
	what string
	text []byte
}

// mutants are all definitions that differ from those of a list in one place: at
// every JSON pointer the value changed and removed, and beside it another added.
// With another name it is another tool, so that place is left.
func mutants(list []byte) (all []mutant, err error) {
	var tools []map[string]any
	if err := json.Unmarshal(list, &tools); err != nil {
		return nil, err
	}
	for i, tool := range tools {
		same, err := json.Marshal(tool)
		if err != nil {
			return nil, err
		}
		emit := func(what string) {
			text, _ := json.Marshal(tool) // it could be written before
			if !bytes.Equal(text, same) {
				all = append(all, mutant{i, what, text})
			}
		}
		mutate(tool, "", emit)
	}
	return all, nil
}

// others are what a value is changed to.
var others = []any{"another", 7.5, true, false, nil, []any{}, map[string]any{}}

func mutate(v any, at string, emit func(what string)) {
	each := func(key string, inner any, set func(any)) {
		for _, other := range others {
			set(other)
			emit("change " + at + "/" + key)
		}
		if text, ok := inner.(string); ok {
			for _, other := range []string{text + " ", text + "\u200b", strings.ToUpper(text)} {
				set(other)
				emit("change " + at + "/" + key)
			}
		}
		set(inner)
		mutate(inner, at+"/"+key, emit)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if at == "" && key == "name" {
				continue
			}
			inner := v[key]
			each(key, inner, func(x any) { v[key] = x })
			delete(v, key)
			emit("remove " + at + "/" + key)
			v[key] = inner
		}
		v["another"] = "member"
		emit("add " + at + "/another")
		delete(v, "another")
	case []any:
		for i, inner := range v {
			each(strconv.Itoa(i), inner, func(x any) { v[i] = x })
		}
	}
}

// The test's own program is a server that changes its definitions, where the
// environment says so.
func init() {
	if file := os.Getenv("LAB_MUTANT"); file != "" {
		if err := serveMutants(file, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// call is what the server and the test read of a message.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor string `json:"cursor"`
		Name   string `json:"name"`
	} `json:"params"`
	Result struct {
		Tools   []json.RawMessage `json:"tools"`
		IsError bool              `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`
}

// mutating answers for a server whose list is the one in a file and, for the cursor
// N, the same with the mutant N in it. A call of a tool leaves a line behind.
type mutating struct {
	tools []json.RawMessage
	all   []mutant
	ran   io.Writer
}

func newMutating(file string, ran io.Writer) (*mutating, error) {
	list, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m := &mutating{ran: ran}
	if m.all, err = mutants(list); err != nil {
		return nil, err
	}
	return m, json.Unmarshal(list, &m.tools)
}

func (m *mutating) answer(c call) []byte {
	result := []byte(`{}`)
	switch c.Method {
	case largeMethod:
		return largeResult(c.ID)
	case "initialize":
		result = []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"mutating","version":"1"}}`)
	case "tools/list":
		tools := slices.Clone(m.tools)
		if n, err := strconv.Atoi(c.Params.Cursor); err == nil {
			tools[m.all[n].tool] = m.all[n].text
		}
		result = slices.Concat([]byte(`{"tools":[`), bytes.Join(raw(tools), []byte(",")), []byte(`]}`))
	case "tools/call":
		fmt.Fprintln(m.ran, c.Params.Name)
		result = []byte(`{"content":[{"type":"text","text":"ran"}]}`)
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), c.ID, []byte(`,"result":`), result, []byte(`}`))
}

func raw(tools []json.RawMessage) (all [][]byte) {
	for _, t := range tools {
		all = append(all, t)
	}
	return all
}

func serveMutants(file string, in io.Reader, out io.Writer) error {
	ran, err := os.OpenFile(file+".ran", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	m, err := newMutating(file, ran)
	if err != nil {
		return err
	}
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the client has gone
		}
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		if c.Method == stormMethod {
			storm := bytes.Repeat([]byte(changedNotice+"\n"), stormSize)
			if _, err := out.Write(storm); err != nil {
				return err
			}
		}
		if c.ID != nil {
			if _, err := out.Write(append(m.answer(c), '\n')); err != nil {
				return err
			}
		}
	}
}

// asker is a server that is asked.
type asker interface {
	ask(method, params string) call
}

// wire is a server on standard input and output, spoken to line by line.
type wire struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	n   int
}

func start(t *testing.T, cmd *exec.Cmd) *wire {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	w := &wire{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	w.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lab","version":"1"}}`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

// ask makes a request and returns its answer.
func (w *wire) ask(method, params string) call {
	w.t.Helper()
	w.n++
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.n, method, params))
	for {
		line, err := w.out.ReadBytes('\n')
		if err != nil {
			w.t.Fatal(err)
		}
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			w.t.Fatalf("%s: %v", line, err)
		}
		if c.Method == "" && string(c.ID) == strconv.Itoa(w.n) {
			return c
		}
	}
}

// Every place of every definition of two real servers, changed, removed or added to
// after the first list: the tool is left out, is refused, and never reaches the
// server, whatever policy allows; the others stay as they are. Over HTTP, where the
// same is judged, every sixteenth is tried.
func TestMutations(t *testing.T) {
	modules := filepath.Join(servers(t), "node_modules", "@modelcontextprotocol")
	for name, command := range map[string][]string{
		"everything": {"node", filepath.Join(modules, "server-everything", "dist", "index.js"), "stdio"},
		"filesystem": {"node", filepath.Join(modules, "server-filesystem", "dist", "index.js"), t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			listed := start(t, exec.Command(command[0], command[1:]...)).ask("tools/list", `{}`).Result.Tools
			file := filepath.Join(t.TempDir(), "tools.json")
			list := slices.Concat([]byte("["), bytes.Join(raw(listed), []byte(",")), []byte("]"))
			if err := os.WriteFile(file, list, 0o600); err != nil {
				t.Fatal(err)
			}
			all, err := mutants(list)
			if err != nil || len(listed) < 5 || len(all) < 100*len(listed)/2 {
				t.Fatalf("%d mutants of %d tools, %v", len(all), len(listed), err)
			}
			cmd := gated(t, allowAll, []string{os.Args[0]})
			cmd.Env = append(cmd.Env, "LAB_MUTANT="+file)
			unchanged(t, start(t, cmd), listed, all, 1)
			if ran, err := os.ReadFile(file + ".ran"); err != nil || strings.Count(string(ran), "\n") != len(listed) {
				t.Errorf("the server ran %q, %v", ran, err)
			}
			address, ran := overHTTPMutating(t, file)
			unchanged(t, reach(t, address), listed, all, 16)
			if n := ran.Load(); n != int64(len(listed)) {
				t.Errorf("over HTTP the server ran %d calls", n)
			}
			t.Logf("%d mutants of %d tools", len(all), len(listed))
		})
	}
}

// unchanged goes through the mutants of a list, or every so many of them, and then
// has each tool called once.
func unchanged(t *testing.T, w asker, listed []json.RawMessage, all []mutant, every int) {
	t.Helper()
	if got := w.ask("tools/list", `{}`).Result.Tools; !slices.EqualFunc(got, listed, bytesEqual) {
		t.Fatal("the first list did not pass as it was")
	}
	names := make([]string, len(listed))
	for i, tool := range listed {
		var named struct{ Name string }
		if err := json.Unmarshal(tool, &named); err != nil {
			t.Fatal(err)
		}
		names[i] = named.Name
	}
	for n := 0; n < len(all); n += every {
		m := all[n]
		rest := slices.Delete(slices.Clone(listed), m.tool, m.tool+1)
		if got := w.ask("tools/list", fmt.Sprintf(`{"cursor":"%d"}`, n)).Result.Tools; !slices.EqualFunc(got, rest, bytesEqual) {
			t.Fatalf("%s: %s: %d tools are in the list, of %d", names[m.tool], m.what, len(got), len(rest))
		}
		r := w.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, names[m.tool])).Result
		if !r.IsError || len(r.Content) != 1 || !strings.Contains(r.Content[0].Text, "`sayso tools accept srv`") {
			t.Fatalf("%s: %s: a call was answered with %+v", names[m.tool], m.what, r)
		}
	}
	w.ask("tools/list", `{}`)
	for _, name := range names {
		if r := w.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, name)).Result; r.IsError || len(r.Content) != 1 || r.Content[0].Text != "ran" {
			t.Errorf("%s, as it was trusted: %+v", name, r)
		}
	}
}

func bytesEqual(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
