//go:build unix

package claude_test

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"

	"github.com/go-json-experiment/json/jsontext"
)

// TestMain makes the test binary its own MCP server when the host starts it as
// one.
func TestMain(m *testing.M) {
	if os.Getenv("LAB_MCP_SERVER") == "1" {
		serveMCP()
		return
	}
	os.Exit(m.Run())
}

// mcpConfig is the arguments that give the host a server "lab" with the tools
// deploy and look, of which look is marked read-only, and one resource.
func mcpConfig() []string {
	config := fmt.Sprintf(`{"mcpServers":{"lab":{"command":%q,"env":{"LAB_MCP_SERVER":"1"}}}}`, os.Args[0])
	return []string{"--mcp-config", config}
}

var mcpReplies = map[string]string{
	"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"lab","version":"1"}}`,
	"tools/list": `{"tools":[
		{"name":"deploy","inputSchema":{"type":"object","properties":{"env":{"type":"string"}}}},
		{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"env":{"type":"string"}}}}]}`,
	"tools/call":     `{"content":[{"type":"text","text":"deployed"}]}`,
	"resources/list": `{"resources":[{"uri":"lab://plan","name":"plan"}]}`,
	"resources/read": `{"contents":[{"uri":"lab://plan","text":"the plan"}]}`,
}

func serveMCP() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var req struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
		}
		if err := jcs.UnmarshalLenient(in.Bytes(), &req); err != nil || len(req.ID) == 0 {
			continue // a notification
		}
		reply, ok := mcpReplies[req.Method]
		if !ok {
			reply = `{}`
		}
		one, _ := jcs.Canonicalize([]byte(reply)) // on one line
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, one)
	}
}

// bash is the input of a Bash call.
func bash(command string) string {
	b, err := jcs.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return string(b)
}
