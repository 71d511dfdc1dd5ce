// Package copilot reads what the hooks of GitHub's Copilot CLI send and writes
// what they understand.
//
// Copilot starts a hook as a line of a shell, writes one JSON object to its
// standard input and reads its exit status and its output. It asks the hook
// before every tool (preToolUse), and tells it when a session starts and ends.
// The object does not say which of these it is; its members do.
//
// # Which way it fails
//
// Every exit status but 0 denies, and so does a hook that is missing or killed.
// What runs the tool is a hook that runs past its time, and one that exits 0 with
// something unreadable. So a reply is one write, and whoever runs this package
// ends before the host's own deadline.
//
// An allow skips the host's own question.
//
// # What it does not say
//
// The host gives a call no id. The same call made twice at once is two requests,
// and how a call ended is not known.
package copilot
