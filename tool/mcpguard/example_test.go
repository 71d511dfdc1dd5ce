package mcpguard_test

import (
	"context"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/store/memory"
	"github.com/sayso-dev/sayso/tool/mcpguard"
)

// A server whose policy allows one tool and denies the other.
func Example() {
	ctx := context.Background()
	rules, err := policy.Parse("policy.yaml", []byte("version: 1\nrules:\n  - allow: mcp__notes__greet\n  - deny: mcp__notes__forget\n"))
	if err != nil {
		log.Fatal(err)
	}
	p, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: rules})
	if err != nil {
		log.Fatal(err)
	}
	b, err := broker.New(memory.New(nil), p, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	gate := b.Gate(sayso.Actor{Principal: "notes", Kind: sayso.PrincipalTool, Owner: "ana"})

	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	server.AddReceivingMiddleware(mcpguard.Middleware(gate, "notes", nil))
	for _, name := range []string{"greet", "forget"} {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " ran"}}}, nil, nil
		})
	}

	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, ours, nil); err != nil {
		log.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, theirs, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for _, name := range []string{"greet", "forget"} {
		r, err := client.CallTool(ctx, &mcp.CallToolParams{Name: name})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: error %v\n", name, r.IsError)
	}
	// Output:
	// greet: error false
	// forget: error true
}
