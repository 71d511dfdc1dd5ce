//go:build unix

package claude

import (
	"testing"

	"github.com/sayso-dev/sayso/lab/npm"
)

// release is where the executable comes from. It lies in an optional dependency
// per platform; the wrapper package's own script, which would copy it, may not run
// under npm 11, and is not needed.
var release = npm.Package{
	Title: "Claude Code " + Version, Cache: "claude-" + Version, Spec: "@anthropic-ai/claude-code@" + Version,
	File: "node_modules/@anthropic-ai/claude-code-*/claude",
}

// Binary returns the path of the Claude Code executable, and fetches it first if
// the cache has none.
func Binary(t testing.TB) string {
	t.Helper()
	return release.Path(t)
}
