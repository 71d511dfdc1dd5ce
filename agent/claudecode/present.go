package claudecode

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// Present makes what a person is shown of the call: the change to the file on
// disk for the tools that change files, the command and its directory, the parts
// of an address, and the arguments for all others. Facts are those that the call
// is judged by; no other file than theirs is read. Where there is no change to
// show, it says why.
//
// It takes the time that a difference takes: make it when a person is to see it.
func (h Hook) Present(f sayso.Facts, content present.Content) sayso.Presentation {
	var in input
	if h.Call.Server != "" || jcs.UnmarshalLenient(h.Call.Args, &in) != nil {
		return present.Structured(h.Call.Args) // not of the form that the tool has
	}
	switch h.Call.Tool {
	case "Bash":
		return present.Command(in.Command, h.Call.Cwd, present.Understood(in.Command)...)
	case "Monitor":
		if in.Command == "" { // it watches something else
			return present.Structured(h.Call.Args)
		}
		return present.Command(in.Command, h.Call.Cwd, present.Understood(in.Command)...)
	case "PowerShell":
		p := present.Command(in.Command, h.Call.Cwd)
		p.Language = "powershell"
		return p
	case "Write":
		return present.Found(f, "file_path", in.FilePath, content).Written(in.Content)
	case "Edit":
		return present.Found(f, "file_path", in.FilePath, content).Edited(edits(in.Edit)...)
	case "MultiEdit":
		return present.Found(f, "file_path", in.FilePath, content).Edited(edits(in.Edits...)...)
	case "NotebookEdit":
		return in.cell.shown(present.Found(f, "notebook_path", in.NotebookPath, content))
	case "WebFetch":
		return present.Address(in.URL)
	}
	return present.Structured(h.Call.Args)
}

// input are the arguments of the tools that have a presentation of their own.
type input struct {
	Command      string         `json:"command"`
	FilePath     string         `json:"file_path"`
	Content      string         `json:"content"`
	Edits        []present.Edit `json:"edits"`
	NotebookPath string         `json:"notebook_path"`
	URL          string         `json:"url"`
	present.Edit
	cell
}

// edits are those of a call, as the host carries them out.
func edits(list ...present.Edit) []present.Edit {
	for i := range list {
		list[i].AnyBreaks = true
	}
	return list
}
