//go:build unix

package mcp

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// All that works with a server works through the gateway where the server speaks the older
// transport (HTTP with SSE, 2024-11-05), for clients that start programs and for those that
// speak streamable HTTP, and gives the same.
func TestSSE(t *testing.T) {
	program := filepath.Join(servers(t), "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	s := goServer()
	srv := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(srv.CloseClientConnections)
	everything := serving(t, program, "sse") + "/sse"
	f := listening(t, "version: 1\nrules:\n  - allow: {server: [everything, go]}\n", fmt.Sprintf("version: 1\nservers:\n  everything: {url: %q}\n  go: {url: %q}\n", everything, srv.URL), 2)
	for name, tt := range map[string]struct {
		address string
		calls   map[string]map[string]any
	}{
		"everything": {everything, demonstrated()},
		"go":         {srv.URL, map[string]map[string]any{"sum": {"a": 1, "b": 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			direct := connectOver(t, &mcp.SSEClientTransport{Endpoint: tt.address}).everything(tt.calls)
			if failed := slices.IndexFunc(direct, func(s string) bool { return strings.Contains(s, ": error:") }); failed >= 0 {
				t.Errorf("without the gate it fails already: %s", direct[failed])
			}
			cmd, _ := behind(t, allowAll, tt.address)
			equal(t, direct, connect(t, cmd).everything(tt.calls))
			equal(t, direct, connectOver(t, f.to(name)).everything(tt.calls))
		})
	}
}
