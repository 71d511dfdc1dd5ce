// Package claudecode reads what Claude Code's hooks send and writes what they
// understand.
//
// Claude Code starts a hook as a process, writes one JSON object to its
// standard input and reads its exit status and its output. It asks the hook
// before every tool (PreToolUse), tells it after (PostToolUse,
// PostToolUseFailure), and when a session starts and ends. [Parse] reads all
// five; [Reply] writes the answer to the first.
//
// # Which way it fails
//
// Without `onFailure: block` on the handler a hook that crashes, is missing,
// exits 1 or runs past its time lets the tool RUN. With it (2.1.295 or newer)
// all of these block. What runs the tool even then is half a JSON object with
// exit status 0. So a reply is one write; a denial is said three times (JSON,
// exit status 2, the same words on standard error); and whoever runs this
// package ends before the host's own deadline.
//
// An allow skips the host's prompt, but not its deny and ask rules and not plan
// mode: there the host is as strict as it was. No reply at all leaves the call
// to the host; that is for the tools whose own screen is the question.
//
// The table of tools is tested against every tool and every field that the
// binary offers its model.
package claudecode
