// Package hosts runs the real programs of agents other than Claude Code in
// tests, against a scripted model: Gemini CLI and GitHub's Copilot CLI.
//
// Each is fetched from npm at one exact version into a cache outside the
// repository, once per machine, and driven headless with a home of its own. What
// a host does with a hook's answer is measured here, not assumed.
package hosts
