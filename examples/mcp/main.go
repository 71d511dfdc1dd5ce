// Command mcp is an MCP server, built with the official Go SDK, whose tools are
// behind a gate.
//
//	sayso serve --listen 127.0.0.1:7717
//	export SAYSO_TOKEN=$(sayso token create --name notes --kind tool)
//	go build -o notes . && claude mcp add notes -e SAYSO_TOKEN=$SAYSO_TOKEN -- $PWD/notes http://127.0.0.1:7717 ~/notes
//	sayso watch          # in another terminal
//
// Any client can use it, and needs to know nothing of the gate: a call waits until
// people have answered, and one that they deny comes back with their words.
package main

import (
	"context"
	"io/fs"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/tool/mcpguard"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: SAYSO_TOKEN=… notes GATE FOLDER")
	}
	c, err := client.New(os.Args[1], os.Getenv("SAYSO_TOKEN"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	folder, err := os.OpenRoot(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	defer folder.Close()
	if err := newServer(c.Gate(), folder).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

// note is what the tools take.
type note struct {
	Name string `json:"name" jsonschema:"the name of the note, a file in the folder"`
	Text string `json:"text,omitempty" jsonschema:"all that is to be in it"`
}

// newServer makes a server of notes in a folder.
func newServer(gate sayso.Gate, folder *os.Root) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	s.AddReceivingMiddleware(mcpguard.Middleware(gate, "notes", nil)) // before any other
	mcp.AddTool(s, &mcp.Tool{Name: "read", Description: "Reads a note.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, n note) (*mcp.CallToolResult, any, error) {
			text, err := fs.ReadFile(folder.FS(), n.Name)
			return said(string(text)), nil, err
		})
	mcp.AddTool(s, &mcp.Tool{Name: "write", Description: "Writes a note, in the place of what is there."},
		func(_ context.Context, _ *mcp.CallToolRequest, n note) (*mcp.CallToolResult, any, error) {
			return said("written"), nil, folder.WriteFile(n.Name, []byte(n.Text), 0o600)
		})
	return s
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
