// Package tool stops calls inside the tool: what runs was admitted, is exactly
// what was admitted, and runs once.
//
// A plain function becomes a guarded tool with [Guard]:
//
//	send := tool.Guard(gate, "send_email", sendEmail, &tool.Options[Email]{
//		Description: func(e Email) string { return "Send email to " + e.To },
//	})
//	id, err := send.Do(ctx, Email{To: "ana@example.org"}) // waits for a person, if need be
//
// The gate is a broker in this process (package broker) or a client of one
// elsewhere (package client). An error that is a [*StoppedError] says that the
// call did not run; its text is what an agent should be told. [When] asks about
// some calls only.
//
// # Tools for agents
//
// A [Set] is what the loop of an agent calls: by name, with the arguments as the
// model wrote them. [Wrap] puts a gate before all tools of a set, yours or these:
//
//   - [OpenFiles]: read, write, edit, list, delete and move files beneath the
//     folders of [sayso.PathRules];
//   - [OpenShell]: run lines of bash;
//   - [NewFetch]: get pages of the web.
//
// They know what there is to ask about their calls and what to show of them,
// and they hold what they looked at open until it is used. They also run bare:
// without a gate nobody is asked, and their folders, limits and refusals hold.
// A set of yours asks for itself if it is an [Asker]. [Run] is the gate alone,
// for frameworks that have their own idea of a tool.
//
// # In which order
//
// The call is read strictly; what it is about is opened; the gate admits it,
// which may take people and days; whatever was opened is compared with what it
// was; the receipt is redeemed against the call that is about to run; it runs;
// and its outcome is reported, also of a panic and after a cancelled context.
// If a person edited the arguments, the edited ones are read, opened, redeemed
// and run. Any error before the run means that it does not run.
//
// # What this is not
//
// Guarded code runs with all the rights of this process: the gate decides
// whether it runs, nothing confines what it then does. A shell command that was
// allowed can do whatever the account can do.
package tool
