// Package claude runs the real Claude Code binary in tests, against a scripted
// model.
//
// Binary fetches one exact version from npm into a cache outside the
// repository, once per machine. Start and Run drive it headless with a home of
// its own, so that neither the settings nor the account of the person who runs
// the tests is touched. What the host does with a hook's reply is measured
// here, not assumed: the tests of this package are the table that the
// claude-code adapter is built on.
package claude

// Version is the exact release that the tests run.
const Version = "2.1.330"
