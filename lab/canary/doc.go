// Package canary holds the test that no secret gets out: random ones are put
// into every field of every tool of the host, in the ways that secrets are
// written, and sent through the real hook, broker, database and server. None of
// them, nor any part of eight characters, may then be on any surface: events,
// API, command line, logs, metrics, errors, crash output, desktop notices.
//
//	go test ./lab/canary -canaries 10000
package canary
