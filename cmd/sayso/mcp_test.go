package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// rpc is a JSON-RPC message, as the programs below read it.
type rpc struct {
	ID     jsontext.Value `json:"id,omitempty"`
	Method string         `json:"method,omitempty"`
	Params struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments,omitempty"`
	} `json:"params,omitzero"`
	Result struct {
		rpcResult
		Type   string     `json:"resultType"`
		Task   string     `json:"taskId"`
		Status string     `json:"status"`
		Result *rpcResult `json:"result"`
	} `json:"result,omitzero"`
	Error struct {
		Message string `json:"message"`
	} `json:"error,omitzero"`
}

// arrived FILE waits until there is a file.
func arrived(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("one file is wanted")
	}
	until(ts, func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// rpcResult is a result of what is asked below.
type rpcResult struct {
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
	IsError bool `json:"isError"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// mcpServer is an MCP server with the tools that stand in tools.json. Each call
// writes a line into the file ran. The tool crash ends it with status 7.
func mcpServer() {
	fmt.Fprintln(os.Stderr, "the server has begun")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m rpc
		if err := jcs.UnmarshalLenient(in.Bytes(), &m); err != nil {
			panic(err)
		}
		if m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "tools/list":
			text, err := os.ReadFile("tools.json")
			if err != nil {
				panic(err)
			}
			tools, err := jcs.Canonicalize(text)
			if err != nil {
				panic(err)
			}
			result = `{"tools":` + string(tools) + `}`
		case "tools/call":
			ran, err := os.OpenFile("ran", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(ran, "%s %s\n", m.Params.Name, m.Params.Arguments)
			_ = ran.Close()
			if m.Params.Name == "crash" {
				os.Exit(7)
			}
			result = `{"content":[{"type":"text","text":"ran"}]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// mcpClient STEP... -- COMMAND ARGS... starts an MCP server and takes each step
// when the one before was answered: list, call NAME ARGUMENTS, task NAME ARGUMENTS
// as a client that takes tasks, get until that task is over, or kill to kill the
// gateway, write the file killed and start it again. It prints what came back, and ends as the server ended.
func mcpClient() {
	at := slices.Index(os.Args, "--")
	p := &mcpPeer{args: os.Args[at+1:]}
	p.start()
	for i, step := range os.Args[1:at] {
		p.step(i+1, step)
	}
	_ = p.to.Close()
	_ = p.cmd.Wait()
	os.Exit(p.cmd.ProcessState.ExitCode())
}

// mcpPeer is a server as its client has it.
type mcpPeer struct {
	args []string
	cmd  *exec.Cmd
	to   io.WriteCloser
	from *bufio.Reader
	task string
}

func (p *mcpPeer) start() {
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Stderr = os.Stderr
	to, err := p.cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	from, err := p.cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := p.cmd.Start(); err != nil {
		panic(err)
	}
	p.to, p.from = to, bufio.NewReader(from)
}

const takesTasks = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

func (p *mcpPeer) step(id int, step string) {
	words := strings.SplitN(step, " ", 3)
	switch words[0] {
	case "kill":
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		if err := os.WriteFile("killed", nil, 0o600); err != nil {
			panic(err)
		}
		p.start()
	case "list":
		fmt.Fprintf(p.to, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", id)
		p.tell(p.answer())
	case "call":
		fmt.Fprintf(p.to, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, words[1], words[2])
		p.tell(p.answer())
	case "task":
		fmt.Fprintf(p.to, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`+"\n", id, words[1], words[2], takesTasks)
		m := p.answer()
		p.task = m.Result.Task
		fmt.Println("task:", m.Result.Type, m.Result.Status)
		if err := os.WriteFile("given", nil, 0o600); err != nil {
			panic(err)
		}
	case "get":
		m := rpc{}
		for m.Result.Status = "working"; m.Result.Status == "working"; m = p.answer() {
			fmt.Fprintf(p.to, `{"jsonrpc":"2.0","id":%d,"method":"tasks/get","params":{"taskId":%q,%s}}`+"\n", id, p.task, takesTasks)
		}
		fmt.Println("task:", m.Result.Status)
		if m.Result.Result != nil {
			m.Result.rpcResult = *m.Result.Result
		}
		p.tell(m)
	}
}

// answer is what came back.
func (p *mcpPeer) answer() (m rpc) {
	line, err := p.from.ReadBytes('\n')
	if err != nil {
		fmt.Println("the server is gone")
		return m
	}
	if err := jcs.UnmarshalLenient(line, &m); err != nil {
		panic(err)
	}
	return m
}

func (p *mcpPeer) tell(m rpc) {
	for _, tool := range m.Result.Tools {
		fmt.Println("tool:", tool.Name)
	}
	for _, c := range m.Result.Content {
		if m.Result.IsError {
			c.Text = "refused: " + c.Text
		}
		fmt.Println(c.Text)
	}
	if m.Error.Message != "" {
		fmt.Println("error:", m.Error.Message)
	}
}
