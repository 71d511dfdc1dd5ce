// Package mcpguard puts a gate before the tools of an MCP server that is built
// with the official Go SDK. It is a module of its own: what the SDK needs is no
// dependency of sayso.
//
//	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
//	server.AddReceivingMiddleware(mcpguard.Middleware(gate, "notes", nil))
//
// The gate is a broker in this process or a client of one elsewhere. From here on
// each tools/call is put to it, and waits for people if policy says so; every other
// method passes. A call that may run gets its receipt redeemed just before its
// handler runs, on exactly the arguments that were admitted, and what became of
// it is reported. One that may not is answered with a result that tells the model
// why, in the words that every agent of sayso is told.
//
// Add it before other middleware: what was added later stands in front of it, and
// cannot change a call that was judged.
//
// # What is read of a tool
//
// A call names its tool's definition as the server lists it at that moment: its
// digest is in the call, and in what is remembered. A definition that changes while
// people are asked voids the answer. A tool that this client is not shown in
// tools/list does not run for it. Arguments that a person edited must fit the
// tool's input schema.
//
// # Waiting
//
// A client that gave a progress token is told every 15 seconds that its call
// waits. One that gave none is told after 50 seconds that nothing is decided yet;
// the same call made again goes on waiting. A call that the client cancels is
// withdrawn, and an answer that comes later runs nothing. Over stateless HTTP a
// client cancels by closing the response, and the SDK says so only where
// StreamableHTTPOptions has PropagateRequestCancellation set. Set it: without
// it a call of a client that has gone waits on, and runs when people say yes.
//
// # Several rounds
//
// A handler that asks the client for input (revision 2026-07-28) is called again
// with the responses. That is the same call, and is not asked about again: once,
// for the same session, tool, definition and arguments, with the very state that
// the handler returned, within the hour. Another process does not know of it, and
// asks; so does this one where 64 newer calls of the session, or 4,096 of all or 32 MiB
// of their arguments, wait for their next round, or the connection ended.
package mcpguard
