package claudecode

import (
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// Content reads the file of a fact, on the machine where the fact was gathered,
// and only if it still holds what the fact pins. Its errors say why there is
// nothing to read, as in "it is too large".
type Content func(sayso.PathFact) (string, error)

// Present makes what a person is shown of the call: the change to the file on
// disk for the tools that change files, the command and its directory, the parts
// of an address, and the arguments for all others. Facts are those that the call
// is judged by; no other file than theirs is read. Where there is no change to
// show, it says why.
//
// It takes the time that a difference takes: make it when a person is to see it.
func (h Hook) Present(f sayso.Facts, content Content) sayso.Presentation {
	var in input
	if h.Call.Server != "" || jcs.UnmarshalLenient(h.Call.Args, &in) != nil {
		return present.Structured(h.Call.Args) // not of the form that the tool has
	}
	switch h.Call.Tool {
	case "Bash":
		return present.Command(in.Command, h.Call.Cwd, present.Understood(in.Command)...)
	case "PowerShell", "Monitor":
		p := present.Command(in.Command, h.Call.Cwd)
		if p.Language = ""; h.Call.Tool == "PowerShell" {
			p.Language = "powershell"
		}
		return p
	case "Write":
		return found(f, "file_path", in.FilePath, content).written(in.Content)
	case "Edit":
		return found(f, "file_path", in.FilePath, content).edited(in.edit)
	case "MultiEdit":
		return found(f, "file_path", in.FilePath, content).edited(in.Edits...)
	case "NotebookEdit":
		return found(f, "notebook_path", in.NotebookPath, content).cell(in.cell)
	case "WebFetch":
		return present.Address(in.URL)
	}
	return present.Structured(h.Call.Args)
}

// input are the arguments of the tools that have a presentation of their own.
type input struct {
	Command      string `json:"command"`
	FilePath     string `json:"file_path"`
	Content      string `json:"content"`
	Edits        []edit `json:"edits"`
	NotebookPath string `json:"notebook_path"`
	URL          string `json:"url"`
	edit
	cell
}

// target is the file that a call would change, as far as that is known.
type target struct {
	name   string // as the call has it
	exists bool
	text   string // what is in it
	why    string // there is nothing to compare with: the reason
}

// found looks at the file that an argument names.
func found(f sayso.Facts, arg, name string, content Content) target {
	t := target{name: name}
	var facts []sayso.PathFact
	for _, o := range f.Operands {
		if o.Arg == arg {
			facts = append(facts, o)
		}
	}
	switch {
	case len(facts) == 0:
		t.why = "it is not known where its path leads"
	case len(facts) > 1:
		t.why = fmt.Sprintf("its path can be read in %d ways, which lead to different places", len(facts))
	case path.Credential(facts[0].Resolved):
		t.why = "by its name it holds secrets, so it is not read"
	case facts[0].State == sayso.PathMissing:
	case facts[0].State == sayso.PathDir:
		t.why = "there is a folder of this name"
	default:
		t.exists = true
		var err error
		if t.text, err = content(facts[0]); err != nil {
			t.why = err.Error()
		}
	}
	return t
}

// written is what a person is shown of a file that is written whole.
func (t target) written(text string) sayso.Presentation {
	switch {
	case t.why != "":
		return present.Noted(present.File(t.name, text), "not compared with the file on disk: "+t.why)
	case !t.exists:
		return present.Noted(present.File(t.name, text), "a new file")
	}
	return present.Diff(t.name, t.text, text)
}
