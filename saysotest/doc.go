// Package saysotest is a whole gate for other people's tests: a real broker on
// a log in memory, and a person who answers by script.
//
//	b := saysotest.New(t)
//	b.Approve("bash:git *")
//	run(b.Gate()) // your code, with a sayso.Gate in its hands
//
// Everything is asked about, and what no line of the script speaks of is
// denied, with a note that says so: a test never hangs because nobody answers.
// The last line that matches a call counts. What was asked can be looked at
// afterwards with [Broker.Asked], and what was told to whom in the log with
// [Broker.Events].
//
// Inside a bubble of testing/synctest the broker lives by the time of the
// bubble, so that deadlines and the ends of grants can be tested in no time.
//
// [TestGateInbox] is the promises of [sayso.Gate] and [sayso.Inbox] as a test,
// for whoever implements them.
package saysotest
