// Package sayso holds the words and the rules of tool approval.
//
// An agent asks to make a [Call]. A [Policy] answers with a [Verdict]: deny,
// ask or allow. A call that must be asked about becomes a [Request] and waits.
// People give [Answer]s; the first that meets the request's [Requirement]
// becomes the [Decision] that stands, and its [Receipt] is redeemed once, at
// the place where the call was stopped, just before the call runs.
//
// Everything here is a value or a function of values. The package opens no
// files, starts no goroutines and never reads the clock, so each rule can be
// tested with a table and compared with the vectors in testdata/vectors. To
// run a gate see package broker; to talk to one see package client; to test
// against one see package saysotest.
//
// # The life of a call
//
//	Call → Facts → Verdict → Request → Answer(s) → Decision → Receipt → run → Outcome
//
// Each step is an [Event] in a [Log] before it takes effect. [Fold] turns the
// events of one stream back into the [Request] they tell of.
//
// # Promises
//
//   - A request is decided once: the first decision in the log stands.
//   - A decision names the digest of the call it is about, and is worth
//     nothing for any other call.
//   - Whatever goes wrong, the answer is no: the zero [Effect], [Decision] and
//     [Verdict] deny, and no function returns an allow with an error.
//   - What cannot be recorded does not run.
package sayso
