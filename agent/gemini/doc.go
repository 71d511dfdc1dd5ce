// Package gemini reads what Gemini CLI's hooks send and writes what they
// understand.
//
// Gemini CLI starts a hook as a line of a shell, writes one JSON object to its
// standard input and reads its exit status and its output. It asks the hook
// before every tool (BeforeTool), tells it after (AfterTool), and when a session
// starts and ends.
//
// # Which way it fails
//
// A hook that exits 1, is killed, runs past its time, prints something
// unreadable or exits 2 without a word lets the tool RUN. There is no switch
// that turns this around. What blocks is a denial in JSON, and exit status 2
// with words on standard error: so a denial is said in both ways, whoever runs
// this package ends before the host's own deadline, and the line that starts
// the hook turns every other end of it into exit status 2 with words.
//
// An allow does not skip the host's own confirmation: there the host is as
// strict as it was.
//
// # What it does not say
//
// The host gives a call no id. The same call made twice at once is two requests,
// and how a call ended is not known.
package gemini
