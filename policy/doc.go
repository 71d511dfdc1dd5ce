// Package policy is the decision point: a call and its facts in, a verdict
// out. It opens nothing, waits for nothing and remembers nothing, so equal
// questions get equal answers until the policy itself changes.
//
// A [Policy] is made by [New] of the files of up to two tiers, the person's
// and the organisation's, each read by [Parse]; [Load] does both. A Policy of
// no files has the built-ins alone, and they are enough to work with: reading
// inside the workspace is allowed, our own state is denied, the rest asks.
//
// # How a verdict comes about
//
//   - Final built-ins deny before all else: nobody can allow an agent to answer
//     its own requests or to touch our state.
//   - Every rule that matches speaks, in every tier; the strictest that spoke
//     decides. The order of rules means nothing.
//   - Floors speak too: a call that was not understood, a file that steers
//     other programs, a path that leads nowhere. No rule is looser than they.
//   - If no rule spoke, the other built-ins do; if they are silent, the
//     strictest default holds, which is to ask unless a file says otherwise.
//
// # What a pattern can promise
//
// An allow covers only what was understood to the end; a deny may cover more
// than it says, never less. So an allow on a command is its exact text, while
// a deny on a command looks at every place of the line where a program may
// stand. Paths are compared where they lead, and a deny also where they seem
// to lead. Addresses are compared in their parsed form.
//
// # Errors
//
// A file that does not load whole is not loaded at all. [Parse] returns every
// mistake it finds as [Errors], each with file, line and column, what is wrong
// and what to write.
package policy
