// Package cursor reads what Cursor's hooks send and writes what they understand.
//
// Cursor starts a hook as a line of a shell, writes one JSON object to its
// standard input and reads its output. It asks the hook before every tool of the
// agent (preToolUse), tells it after (postToolUse, postToolUseFailure), and when
// a session starts and ends.
//
// Cursor needs an account, so nothing here was seen at the program itself: the
// payloads are those of its documentation.
//
// # Which way it fails
//
// Without failClosed on the handler a hook that crashes, is missing or runs past
// its time lets the tool RUN. With it all of these block, and so does a hook
// that says nothing: so whoever runs this package always says allow or deny. A
// denial is JSON with exit status 0; with exit status 2 the host would show the
// JSON itself to the person.
package cursor
