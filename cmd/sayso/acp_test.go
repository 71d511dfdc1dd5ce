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

// acpMessage is a message of the Agent Client Protocol, as the programs below read it.
type acpMessage struct {
	ID     jsontext.Value `json:"id,omitempty"`
	Method string         `json:"method,omitempty"`
	Params struct {
		Prompt []struct {
			Text string `json:"text"`
		} `json:"prompt"`
		Update struct {
			Content struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"update"`
	} `json:"params,omitzero"`
	Result struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	} `json:"result,omitzero"`
}

func readACP(in *bufio.Reader) (m acpMessage, ok bool) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return m, false
	}
	if err := jcs.UnmarshalLenient(line, &m); err != nil {
		panic(err)
	}
	return m, true
}

// acpAgent is an agent that asks for permission to run what it is told, and then
// writes a line into the file ran. With --unseen it shows the title alone. Told to
// crash, it ends with status 7.
func acpAgent() {
	fmt.Fprintln(os.Stderr, "the agent has begun")
	input := `,"rawInput":{"command":%q}`
	if slices.Contains(os.Args, "--unseen") {
		input = `,"_meta":{"not":%q}`
	}
	in := bufio.NewReader(os.Stdin)
	for n := 0; ; n++ {
		m, ok := readACP(in)
		switch {
		case !ok:
			return
		case m.Method == "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentInfo":{"name":"Scripted","version":"1.0"}}}`+"\n", m.ID)
		case m.Method == "session/new":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s%d"}}`+"\n", m.ID, os.Getppid())
		case m.Method == "session/prompt":
			said := m.Params.Prompt[0].Text
			if said == "crash" {
				os.Exit(7)
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s%d","toolCall":{"toolCallId":"c%d","kind":"execute","title":%q`+input+`},`+
				`"options":[{"optionId":"ja","kind":"allow_once"},{"optionId":"immer","kind":"allow_always"},{"optionId":"nein","kind":"reject_once"}]}}`+"\n", os.Getppid(), n, said, said)
			answer, _ := readACP(in)
			what := answer.Result.Outcome.Outcome + " " + answer.Result.Outcome.Option
			if what == "selected ja" {
				ran, err := os.OpenFile("ran", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					panic(err)
				}
				fmt.Fprintln(ran, said)
				_ = ran.Close()
			}
			fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`+"\n", what)
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`+"\n", m.ID)
		}
	}
}

// acpEditor PROMPT... -- COMMAND ARGS... starts an agent, says each prompt when the one
// before has been answered, and prints what the agent says. It ends as the agent does.
func acpEditor() {
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
	cwd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	asks := []string{`"method":"initialize","params":{"protocolVersion":1}`, fmt.Sprintf(`"method":"session/new","params":{"cwd":%q,"mcpServers":[]}`, cwd)}
	for _, prompt := range os.Args[1:at] {
		asks = append(asks, fmt.Sprintf(`"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":%q}]}`, prompt))
	}
	for id, ask := range asks {
		fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%d,%s}`+"\n", id, ask)
		if !acpTurn(in) {
			fmt.Println("the agent is gone")
			break
		}
	}
	_ = to.Close()
	_, _ = io.Copy(os.Stdout, in)
	_ = cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

// acpTurn reads until the agent has answered.
func acpTurn(in *bufio.Reader) bool {
	for {
		m, ok := readACP(in)
		switch {
		case !ok:
			return false
		case m.Method == "" && m.ID != nil:
			return true
		case m.Method == "session/request_permission":
			fmt.Println("the editor was asked")
		case m.Method == "session/update":
			fmt.Println(strings.TrimSpace(m.Params.Update.Content.Text))
		}
	}
}
