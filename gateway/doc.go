// Package gateway stands between an MCP client and an MCP server, and lets no
// tool run that the gate did not let run.
//
// A [Relay] copies messages both ways, byte for byte and in their order, and
// looks into three kinds alone. A call of a tool (tools/call) is read strictly,
// put to the gate, held while people are asked, and then forwarded as the very
// bytes that were judged, or answered here with a result that says why it did not
// run. A list of tools is compared with the definitions that are trusted under the
// server's name, and a tool whose definition changed is left out of it until a
// person has accepted the change. A server that asks the client's model to write
// something for it (sampling) is put to the gate too.
//
// What cannot be read strictly is not forwarded: two readers of one message must
// not see two different calls.
//
// # Where relays stand
//
// [Server] is the process of a server on this machine as a client would start it, with
// one relay on its standard input and output. [Remote] is the same before a server that
// speaks HTTP. [Handler] is a handler of HTTP before several servers, each an [Upstream]:
// a relay for every session of a client, or for every request of a client that has none.
//
// # Where to begin
//
// The life of one call is in hold.go: it is kept, held while the gate is asked, and
// forwarded or refused. Around it stand what else a call may become: a task that is
// asked after later (task.go), one of several rounds (round.go), one about which its
// client's own person is asked (elicit.go). The list of tools is judged in trust.go.
package gateway
