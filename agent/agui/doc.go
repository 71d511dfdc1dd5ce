// Package agui carries requests and answers over AG-UI, the protocol between an agent
// and the application that its user sits before.
//
// There a run does not wait. It ends with an interrupt that says what it waits for
// (RUN_FINISHED with an outcome), and the next run on the same thread brings the
// answers to all that is open (resume). This package is for both ends of that:
//
//   - an agent's server whose tools are guarded here. A request that waits for people
//     becomes an interrupt: [Of], [Finished]. What the next run brings becomes
//     answers for the inbox: [Answers].
//   - an application that puts what an agent of others interrupts for to the gate.
//     [Heard] follows the agent's events, [Heard.Admission] makes of an interrupt
//     what the gate is asked, and [Resume] of the decision what the next run brings.
//
// All of it is pure: no connection, no clock. Who the person is that sent a run, the
// server knows and this package does not; it names the channel ([Channel]), so that
// the log says that the answer came through a program.
//
// # Which way it fails
//
// An answer that is late, unknown, given twice, missing or not of the form that was
// asked for is an error, and none of the answers beside it counts; the server says so
// by [Failed]. An interrupt that cannot be answered with a yes or a no, or whose call was not
// heard, is never put to the gate as something else: it is abandoned.
package agui
