package present

import (
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Content reads the file of a fact, on the machine where the fact was gathered,
// and only if it still holds what the fact pins. Its errors say why there is
// nothing to read, as in "it is too large".
type Content func(sayso.PathFact) (string, error)

// Target is the file that a call would change, as far as that is known.
type Target struct {
	Name   string // as the call has it
	Exists bool
	Text   string // what is in it
	Why    string // there is nothing to compare with: the reason
}

// Found looks at the file that an argument names. Facts are those that the call
// is judged by; no other file than theirs is read.
func Found(f sayso.Facts, arg, name string, content Content) Target {
	t := Target{Name: name}
	var facts []sayso.PathFact
	for _, o := range f.Operands {
		if o.Arg == arg {
			facts = append(facts, o)
		}
	}
	switch {
	case len(facts) == 0:
		t.Why = "it is not known where its path leads"
	case len(facts) > 1:
		t.Why = fmt.Sprintf("its path can be read in %d ways, which lead to different places", len(facts))
	case path.Credential(facts[0].Resolved):
		t.Why = "by its name it holds secrets, so it is not read"
	case facts[0].State == sayso.PathMissing:
	case facts[0].State == sayso.PathDir:
		t.Why = "there is a folder of this name"
	default:
		t.Exists = true
		var err error
		if t.Text, err = content(facts[0]); err != nil {
			t.Why = err.Error()
		}
	}
	return t
}

// Written presents a file that is written whole.
func (t Target) Written(text string) sayso.Presentation {
	switch {
	case t.Why != "":
		return Noted(File(t.Name, text), "not compared with the file on disk: "+t.Why)
	case !t.Exists:
		return Noted(File(t.Name, text), "a new file")
	}
	return Diff(t.Name, t.Text, text)
}

// Edited presents edits of a file, one after the other: the change to the file
// on disk or, where that cannot be told, the edits alone.
func (t Target) Edited(edits ...Edit) sayso.Presentation {
	if t.Why != "" {
		return Noted(alone(t.Name, edits), "not compared with the file on disk: "+t.Why)
	}
	if !t.Exists && len(edits) > 0 && edits[0].Old != "" {
		return Noted(alone(t.Name, edits), "there is no such file")
	}
	text := t.Text
	for _, e := range edits {
		var why string
		if text, why = e.apply(text); why != "" {
			return Noted(alone(t.Name, edits), why+"; this is the edit alone")
		}
	}
	if !t.Exists {
		return Noted(File(t.Name, text), "a new file")
	}
	return Diff(t.Name, t.Text, text)
}

// Edit replaces one text in a file by another.
type Edit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
	// AnyBreaks says that whoever makes the edit takes the line breaks of the
	// file for its own, and puts them back.
	AnyBreaks bool `json:"-"`
}

// apply returns a text after the edit, or why it would be refused.
func (e Edit) apply(text string) (after, why string) {
	if e.Old == "" {
		if strings.TrimSpace(text) != "" {
			return text, "no text to replace is named, and the file is not empty"
		}
		return e.New, ""
	}
	n := strings.Count(text, e.Old)
	if n == 0 && e.AnyBreaks && strings.Contains(text, "\r\n") && !strings.Contains(e.Old, "\r") {
		e.Old, e.New = crlf(e.Old), crlf(e.New)
		n = strings.Count(text, e.Old)
	}
	switch {
	case n == 0:
		return text, "the text to replace is not in the file as it is now"
	case n > 1 && !e.All:
		return text, fmt.Sprintf("the text to replace stands in %d places, and one is to be replaced", n)
	}
	return strings.ReplaceAll(text, e.Old, e.New), ""
}

func crlf(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// alone is what edits say by themselves.
func alone(name string, edits []Edit) sayso.Presentation {
	if len(edits) == 1 {
		return Diff(name, edits[0].Old, edits[0].New)
	}
	var before, after strings.Builder
	for _, e := range edits {
		before.WriteString(ended(e.Old))
		after.WriteString(ended(e.New))
	}
	return Diff(name, before.String(), after.String())
}

// ended is a text with a line break at its end.
func ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// Change presents the change that a call of one of our own tools would make to
// a file. For a call that makes none, or whose arguments are not those of the
// tool, there is none.
func Change(c sayso.Call, f sayso.Facts, content Content) (sayso.Presentation, bool) {
	known := c.Known()
	if c.Server != "" || known.Primary != "path" {
		return sayso.Presentation{}, false
	}
	switch known.Name {
	case "file-write":
		var in struct {
			Path    *string `json:"path"`
			Content *string `json:"content"`
		}
		if jcs.Unmarshal(c.Args, &in) == nil && in.Path != nil && in.Content != nil {
			return Found(f, "path", *in.Path, content).Written(*in.Content), true
		}
	case "file-edit":
		var in struct {
			Path *string `json:"path"`
			Edit
		}
		if jcs.Unmarshal(c.Args, &in) == nil && in.Path != nil {
			return Found(f, "path", *in.Path, content).Edited(in.Edit), true
		}
	}
	return sayso.Presentation{}, false
}
