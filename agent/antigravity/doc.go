// Package antigravity reads what the hooks of Antigravity's CLI (agy) send and
// writes what they understand.
//
// The program is closed and needs an account, so nothing here was seen at it: what
// it sends and obeys is known from those who measured releases 1.1.2 to 1.2.5.
//
// # Which way it fails
//
// It reads JSON and not the exit status. A hook that exits 0 without a word lets
// the tool RUN; anything that is no decision denies. So a denial is JSON with
// exit status 0, whoever runs this package always says allow or deny, and the
// line that starts the hook says deny for a hook that fails.
//
// In some releases an allow does not skip the host's own question.
//
// # What it does not say
//
// The host gives a call no id that is known to be its own. The same call made
// twice at once is two requests, and how a call ended is not known. Edited
// arguments are laid over those of the model, which takes none away: so they are
// not offered.
package antigravity
