// Package race holds the laboratory in which processes race: people who answer
// one request at once through commands, a Unix socket, loopback HTTP and the
// database itself, callers that redeem one approval, withdraw it or use one
// grant at once, while the server between them is killed and started again.
//
// What everybody asked, when, and what they were told is kept as a history, and
// the history is checked against a sequential object: a request is decided
// once, an approval is spent once, a grant has so many uses. There is no code
// here but tests.
package race
