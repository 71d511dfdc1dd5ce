// Package hosts is the lab: it drives the real programs that agents run in
// through one list of cases, with sayso's hook as sayso init installs it, the real
// gate, and a scripted model. What was seen is kept as a record, a file for each
// host and release in testdata/records; docs/hosts.md and what `sayso doctor`
// knows of releases are made of the records alone.
//
// A [Host] says how a program is fetched, started without an account and told to
// make calls. Each is fetched from npm at one exact version into a cache outside
// the repository, once per machine, and driven headless with a home of its own.
// Claude Code and Codex run with all tests and must do what their records say; the
// others take a while, and run by a flag:
//
//	make lab             # fetch all, run all, write records and pages anew
//	make lab HOST=gemini # one of them
package hosts
