// Package mcp runs real MCP servers with and without the gate, driven by the
// client of the official Go SDK. It is a module of its own: what the SDK needs is
// no dependency of ours.
package mcp
