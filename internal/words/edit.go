package words

import (
	"bytes"
	"slices"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// Editable reports whether a call may be edited by changing what is shown of it.
// What is shown is not always what would run: hidden values are hidden and
// signs that deceive are spelled out. Sent back, they would be what runs.
func Editable(r sayso.Request) bool {
	return len(r.Redactions) == 0 && !slices.ContainsFunc(r.Warnings, deceives)
}

// Change is what edited arguments change, as a terminal shows it.
func Change(title string, was, args sayso.Args) present.View {
	p := present.Diff("arguments", Indented(was), Indented(args))
	return present.View{Title: title, Presentation: &p}
}

// Indented is JSON over several lines.
func Indented(args sayso.Args) string {
	text, err := jcs.MarshalIndent(args)
	if err != nil {
		return string(args)
	}
	return string(text) + "\n"
}

// Written are the arguments that a person wrote, with their members in the order
// in which they stand. It refuses what two readers could read differently.
func Written(text []byte) (sayso.Args, error) {
	if _, err := jcs.Object(text); err != nil {
		return nil, err
	}
	return jcs.Marshal(sayso.Args(text))
}

// Unchanged reports whether edited arguments are those of the call.
func Unchanged(was, args sayso.Args) bool {
	before, err := jcs.Object(was)
	after, bad := jcs.Object(args)
	return err == nil && bad == nil && bytes.Equal(before, after)
}

// deceives reports whether a warning means that the text in full is not shown as
// it is.
func deceives(w sayso.Warning) bool {
	return w.Kind != sayso.WarnTruncated && w.Kind != sayso.WarnMarkup && w.Kind != sayso.WarnConfusable
}

// EditedCall is the call of a request with other arguments, to be judged.
func EditedCall(r sayso.Request, args sayso.Args) sayso.Call {
	call := sayso.Call{Tool: r.HostTool, Server: r.Server, Host: r.Host, Kind: r.Kind, Args: args, Cwd: r.Cwd, Session: r.SessionID}
	if call.Tool == "" {
		call.Tool = r.Tool
	}
	return call
}

// EditedDanger is what is dangerous about a call with edited arguments, as the
// policy in force says; what was dangerous about the call before is not named of
// it. If that could not be found out, what was stands, and the slow answer is
// demanded.
func EditedDanger(r sayso.Request, v sayso.Verdict, err error) []sayso.Danger {
	switch {
	case err == nil:
		return v.Danger
	case slices.Contains(r.Danger, sayso.DangerDynamic):
		return r.Danger
	}
	return append(slices.Clone(r.Danger), sayso.DangerDynamic)
}
