// Package acp reads what an agent and an editor say to each other in the Agent
// Client Protocol, as far as it is about permission, and writes the answers.
//
// The two exchange JSON-RPC messages, one on each line. An agent that wants to run
// something asks its editor (session/request_permission) with the call as it shows
// it and a list of options, and waits as long as it takes. What it told before of the
// same call (session/update) says more of it, and what it tells after says how it
// ended.
//
// # What it does not stop
//
// The agent decides what it asks about, and how much of the call it shows. A call
// that it does not ask about is never seen here, and one that was refused is not run
// because the agent obeys. This is where people answer, and no wall: for that there
// is the agent's own hook, or a gateway before its tools.
//
// # Which way it fails
//
// A request that cannot be read strictly, one without exactly one way to say yes
// once, and one that the gate does not allow is answered with the way to say no once
// or, where there is none, as cancelled. Both were seen to stop the call in each agent
// that was run. A yes is never one that the agent remembers: remembering is the
// gate's.
//
// # What is understood
//
// The protocol names no tools. A call is known by its kind, and by the members of
// its input that agents spell alike: the command, the address, the one path. A call
// that shows no input, as those of Gemini CLI, or two paths where one was expected, is
// not understood, and then a person is asked whatever the rules allow.
package acp
