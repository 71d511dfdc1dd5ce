package codex

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/patch"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// Present makes what a person is shown of a call: the command and its directory,
// the change to the file on disk, the patch where it is about several, or the
// arguments. Facts are those that the call is judged by; no other file than theirs
// is read. Where a call asks for more than its tool, the
// arguments are what says so.
func Present(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
	var in struct {
		Command    string `json:"command"`
		Escalation string `json:"sandbox_permissions"`
		Reason     string `json:"description"`
	}
	if jcs.UnmarshalLenient(c.Args, &in) != nil {
		return present.Structured(c.Args) // not of the form that the tool has
	}
	var p sayso.Presentation
	switch c.Tool {
	case "Bash":
		p = present.Command(in.Command, c.Cwd, present.Understood(in.Command)...)
	case "apply_patch":
		p = patched(in.Command, f, content)
	default:
		return present.Structured(c.Args)
	}
	if in.Escalation != "" {
		p = present.Noted(p, "Codex asks for permission: outside of its sandbox, or against its rules")
	}
	return p
}

// patched presents a patch. One of several files is shown as it is: it says it
// all, and in its own order.
func patched(text string, f sayso.Facts, content present.Content) sayso.Presentation {
	files, err := patch.Parse(text)
	switch {
	case err != nil:
		return present.Noted(present.PlainText(text), err.Error())
	case len(files) > 1 || files[0].To != "":
		return present.Noted(present.PlainText(text), "a patch, which is not compared with the files on disk")
	}
	file := files[0]
	target := present.Found(f, "command", file.Path, content)
	switch file.Do {
	case patch.Add:
		return target.Written(file.Text)
	case patch.Delete:
		return present.Noted(target.Written(""), "the file is deleted")
	}
	var edits []present.Edit
	for _, e := range file.Edits {
		edits = append(edits, present.Edit{Old: e.Old, New: e.New, AnyBreaks: true})
	}
	return target.Edited(edits...)
}
