// Package outbox tells people who are elsewhere what waits for them: by signed
// webhooks and by chat.
//
// An [Outbox] follows the log as any reader does and keeps, for each target, how
// far it has come and what could not be delivered yet. A notice is sent at least
// once: what was sent and not recorded is sent again under the same id. What
// keeps failing is a dead letter after three days; it is listed, and can be
// tried again. Targets do not wait for each other: where one takes nothing, its
// notices stay in the log until it does.
//
// What is kept says which event goes where, never what it tells. That is read
// from the log when it is sent, with secrets hidden, so that what was erased in
// the log is told to nobody any more.
//
// Of several processes on one log, one sends: whoever holds the lock.
package outbox
