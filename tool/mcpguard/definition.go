package mcpguard

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/schema"
)

// definition is what the server says of a tool.
type definition struct {
	digest      string
	schema      any
	annotations *sayso.Annotations
}

// maxPages is how many pages of a list are looked through for a tool.
const maxPages = 10_000

// definitionOf finds a tool in the list that this client is given. What is not there
// is not there to be called, as the SDK answers itself.
func definitionOf(ctx context.Context, r *mcp.CallToolRequest, next mcp.MethodHandler) (definition, error) {
	p := &mcp.ListToolsParams{Meta: r.Params.Meta}
	for range maxPages {
		res, err := next(ctx, listMethod, &mcp.ListToolsRequest{Session: r.Session, Params: p, Extra: r.Extra})
		if err != nil {
			return definition{}, fmt.Errorf("looking for the definition of the tool: %w", err)
		}
		list, ok := res.(*mcp.ListToolsResult)
		if !ok {
			break
		}
		for _, t := range list.Tools {
			if t.Name == r.Params.Name {
				return define(t)
			}
		}
		if list.NextCursor == "" {
			break
		}
		p = &mcp.ListToolsParams{Meta: r.Params.Meta, Cursor: list.NextCursor}
	}
	return definition{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", r.Params.Name)}
}

// define reads a definition. Its digest is the one that the gateway has of the
// same definition in a list.
func define(t *mcp.Tool) (definition, error) {
	text, err := jcs.Marshal(t)
	if err == nil {
		text, err = jcs.Object(text)
	}
	if err != nil {
		return definition{}, fmt.Errorf("the definition of the tool %q cannot be read strictly: %w", t.Name, err)
	}
	d := definition{digest: sayso.Definition{Tool: t.Name, Text: text}.Digest().String(), schema: t.InputSchema}
	if h := t.Annotations; h != nil {
		d.annotations = &sayso.Annotations{ReadOnly: &h.ReadOnlyHint, Destructive: h.DestructiveHint, Idempotent: &h.IdempotentHint, OpenWorld: h.OpenWorldHint}
	}
	return d, nil
}

// takes reports arguments that the tool's own schema does not take.
func (d definition) takes(args sayso.Args) error {
	text, err := jcs.Marshal(d.schema)
	if err != nil {
		return fmt.Errorf("its schema cannot be read: %w", err)
	}
	return schema.Takes(text, args)
}
