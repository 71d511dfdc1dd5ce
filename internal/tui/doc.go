// Package tui is the inbox as a full screen in a terminal: what waits on a list,
// one request in full beside it, and the keys that answer it. It holds an
// [sayso.Inbox] and has no other door.
//
// What it promises:
//   - No key answers a request that was not on the screen for a moment, in full,
//     while the program ran without a stop; see [guard].
//   - A request that ends while it is looked at stays, marked. Another one never
//     takes its place under a key.
//   - A dangerous call takes a word that has to be typed, never one key.
//   - Nothing is sent while the connection is lost, and nothing later by itself.
//   - What others wrote is drawn by package present alone, behind its bars, or in
//     one line that is safe to look at.
package tui
