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
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result,omitzero"`
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
// when the one before was answered: list, or call NAME ARGUMENTS. It prints what
// came back, and ends as the server ended.
func mcpClient() {
	at := slices.Index(os.Args, "--")
	cmd := exec.Command(os.Args[at+1], os.Args[at+2:]...)
	cmd.Stderr = os.Stderr
	to, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	in := bufio.NewReader(from)
	for i, step := range os.Args[1:at] {
		mcpStep(i+1, step, to, in)
	}
	_ = to.Close()
	_ = cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

func mcpStep(id int, step string, to io.Writer, from *bufio.Reader) {
	if step == "list" {
		fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", id)
	} else {
		words := strings.SplitN(step, " ", 3)
		fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, words[1], words[2])
	}
	line, err := from.ReadBytes('\n')
	if err != nil {
		fmt.Println("the server is gone")
		return
	}
	var m rpc
	if err := jcs.UnmarshalLenient(line, &m); err != nil {
		panic(err)
	}
	for _, tool := range m.Result.Tools {
		fmt.Println("tool:", tool.Name)
	}
	for _, c := range m.Result.Content {
		if m.Result.IsError {
			c.Text = "refused: " + c.Text
		}
		fmt.Println(c.Text)
	}
}
