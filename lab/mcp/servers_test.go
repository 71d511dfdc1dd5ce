//go:build unix

package mcp

import (
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso/lab/npm"
)

// released are the servers of servers/package-lock.json.
var released = npm.Package{Title: "MCP servers", Cache: "mcp-servers-2026.8.31", Lock: "servers", File: "node_modules"}

// servers is the folder that they are installed in.
func servers(t *testing.T) string {
	t.Helper()
	return filepath.Dir(released.Path(t))
}

// suiteVersion is that of the conformance suite in suite/package.json.
const suiteVersion = "0.2.0-alpha.12"

// conformance is the suite of suite/package-lock.json.
var conformance = npm.Package{Title: "MCP conformance suite", Cache: "mcp-conformance-" + suiteVersion, Lock: "suite", File: "node_modules/@modelcontextprotocol/conformance/dist/index.js"}
