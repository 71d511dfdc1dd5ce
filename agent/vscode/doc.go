// Package vscode reads what the hooks of VS Code's own agent harness send and
// writes what they understand.
//
// The harness, called Local in VS Code, is being retired: sessions of Copilot,
// Claude and Codex in VS Code run the hooks of those hosts.
//
// Nothing here was seen at the program itself: the payloads are those of its
// documentation.
//
// # Which way it fails
//
// Exit status 2 blocks. A hook that ends in any other way but 0 is a warning, and
// the tool RUNS. So a denial is said in JSON, by exit status 2 and on standard
// error, whoever runs this package ends before the host's own deadline, and the
// line that starts the hook turns every other end of it into exit status 2 with
// words.
package vscode
