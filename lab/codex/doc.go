// Package codex runs the real Codex binary in tests, against a scripted model.
//
// What Codex makes of a hook's reply is measured here, not assumed: the tests of
// this package are the table that the codex adapter is built on, and drive it
// with sayso in its hooks, as `sayso init codex` puts it there.
package codex
