// Package acp drives the real agents that speak the Agent Client Protocol, behind
// sayso acp, with an editor that plays a script and a model that does too.
//
// A few runs of opencode are among the other tests; Gemini CLI, Copilot CLI and the rest
// are run by a flag:
//
//	go test ./lab/acp -args -real
package acp
