//go:build unix

package hosts

import (
	"bufio"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// mcpReplies are all that the server "lab" ever says: it has a tool that changes
// something and one that is marked as read-only.
var mcpReplies = map[string]string{
	"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"lab","version":"1"}}`,
	"tools/list": `{"tools":[` +
		`{"name":"deploy","description":"Deploy","inputSchema":{"type":"object","properties":{"env":{"type":"string"}}}},` +
		`{"name":"look","description":"Look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"env":{"type":"string"}}}}]}`,
	"tools/call": `{"content":[{"type":"text","text":"deployed"}]}`,
}

// ServeMCP answers as the MCP server "lab" until its input ends.
func ServeMCP(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var req struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
		}
		if err := jcs.UnmarshalLenient(lines.Bytes(), &req); err != nil || len(req.ID) == 0 {
			continue // a notification
		}
		reply, ok := mcpReplies[req.Method]
		if !ok {
			reply = `{}`
		}
		_, _ = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, reply) // a host that has gone asks no more
	}
}
