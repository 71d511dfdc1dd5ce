// Package codex reads what the hooks of Codex send and writes what they
// understand.
//
// Codex starts a hook through the person's shell, writes one JSON object to its
// standard input and reads its exit status and its output. It asks the hook
// before every tool (PreToolUse), and again where it would ask the person itself
// (PermissionRequest); it tells it after (PostToolUse), and when a session
// starts and ends.
//
// # Which way it fails
//
// A hook that crashes, is missing, exits 1, runs past its time, or prints a reply
// with anything in it that Codex does not expect, lets the tool RUN. There is no switch that turns this round. What blocks is
// exit status 2 with words on standard error. So a denial is said in both ways
// that Codex listens to, nothing extra is ever printed, an allow that changes
// nothing is silence, and whoever runs this package ends before Codex's own
// deadline, and is watched by a shell that denies in its place.
//
// Silence before a tool is not an allow that skips Codex's own question: where
// its approval policy asks, PermissionRequest comes next, and there an allow
// counts. What it asks for is more than the tool: to run outside of its sandbox,
// or against its rules. So such a call names that among its arguments, is a call
// of its own, and no rule for the tool covers it.
//
// # What is not seen
//
// The text that a model types into a program that is already running
// (write_stdin) has no hook. Of a command the hook is told the line and the
// folder, and neither the shell that will read it nor whether it gets a
// terminal.
package codex
