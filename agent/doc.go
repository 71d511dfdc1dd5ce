// Package agent is what the hooks of all hosts have in common: what a run of
// one was told, and what it answers.
//
// Each host has a package of its own below this one, which reads the host's
// JSON and writes it: pure functions, without I/O, tested against payloads that
// the real program sent. They know nothing of each other. What starts them,
// asks the gate and ends in time is package internal/hook.
//
// A host's package says only what is particular to it: the names of its events
// and members, which words its model writes about a call, and how it is told yes
// and no. The rest is here: [Read] and [Fill] read strictly, [Reply] and [Deny]
// answer, so that no host can forget what makes a yes. What every one promises is a
// test, package agenttest.
//
// # Which way hosts fail
//
// A hook of most hosts that crashes, says something unreadable or runs past its
// time lets the call RUN. So a denial is said in each way that a host listens
// to, what cannot be read is denied, and the words of a denial are never empty.
package agent
