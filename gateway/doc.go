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
// [Server] is the process of a server on this machine, with the relay on its
// standard input and output.
package gateway
