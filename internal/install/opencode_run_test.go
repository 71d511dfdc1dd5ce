//go:build unix

package install_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/install"
)

// asks has the plugin ask about calls, as opencode has it, and says what is left of
// their arguments for the tool.
const asks = `
import { Sayso } from "./sayso.mjs"
const plugin = await Sayso({ directory: "/w", client: { session: { get: async () => ({ data: { id: "ses_1" } }) } } })
const tries = async (args, after = () => {}) => {
  const call = { tool: "bash", sessionID: "ses_1", callID: crypto.randomUUID() }
  const asked = plugin["tool.execute.before"](call, { args })
  after(call)
  await asked.then(() => console.log(JSON.stringify(args), args.timeout, args.command), (e) => console.log(e.message))
}
let looks = 0
await tries({ command: "ls", timeout: Infinity })
await tries(Object.defineProperty({}, "command", { enumerable: true, configurable: true, get: () => (++looks > 3 ? "rm" : "ls") }))
await tries(JSON.parse('{"command":"ls","__proto__":{"command":"rm"}}'))
await tries({ command: "ls" }, ({ sessionID, callID }) => plugin.event({ event: { type: "message.part.updated",
  properties: { part: { type: "tool", sessionID, callID, state: { status: "error" } } } } }))
console.log("asked", (await import("node:fs")).readFileSync("asked", "utf8").length)
`

// What runs at opencode is what was shown, whatever a plugin before ours made of it:
// the text has no word for some values, and others are computed anew each time. Nobody
// is asked about a call that is over already.
func TestOpencode_runsWhatWasShown(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node runs the plugin; type: apt-get install nodejs")
	}
	dir := t.TempDir()
	hook := filepath.Join(dir, "hook")
	text, err := install.Plugin(install.Hook{Program: hook})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"sayso.mjs": text, "asks.mjs": []byte(asks),
		"hook": []byte("#!/bin/sh\ncat >/dev/null\nprintf x >>asked\necho '{\"decision\":\"allow\"}'\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "asks.mjs")
	cmd.Dir = dir
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, failed.Bytes())
	}
	const want = `{"command":"ls","timeout":null} null ls
{"command":"ls"} undefined ls
{"command":"ls","__proto__":{"command":"rm"}} undefined ls
sayso: the call was cancelled before anybody was asked
asked 3
`
	if string(out) != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}
