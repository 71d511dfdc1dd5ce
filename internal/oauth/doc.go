// Package oauth logs people in to MCP servers that want to know who asks (OAuth 2.1,
// as the MCP authorization specification of 2025-11-25 and 2026-07-28 has it for
// clients), keeps what they are given, and lets requests to exactly these servers go
// with it.
//
// The protocol's own steps are golang.org/x/oauth2's: the address that a browser is sent
// to, the proof of PKCE, the exchange of a code and the renewal of a token. Here stands
// what MCP adds: who may vouch for a server (RFC 9728), what a login's own server says of
// itself (RFC 8414), the registration of a client (RFC 7591), for what a token is good
// (RFC 8707), who answered (RFC 9207), and one store for many processes.
package oauth
