package claudecode

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// edit replaces one text in a file by another.
type edit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// apply returns a text after the edit, or why the host would refuse it.
func (e edit) apply(text string) (after, why string) {
	if e.Old == "" {
		if strings.TrimSpace(text) != "" {
			return text, "no text to replace is named, and the file is not empty"
		}
		return e.New, ""
	}
	n := strings.Count(text, e.Old)
	if n == 0 && strings.Contains(text, "\r\n") && !strings.Contains(e.Old, "\r") {
		// The host takes the line breaks of the file for its own, and puts them
		// back.
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

// edited is what a person is shown of edits of a file, one after the other: the
// change to the file on disk or, where that cannot be told, the edits alone.
func (t target) edited(edits ...edit) sayso.Presentation {
	if t.why != "" {
		return present.Noted(alone(t.name, edits), "not compared with the file on disk: "+t.why)
	}
	if !t.exists && len(edits) > 0 && edits[0].Old != "" {
		return present.Noted(alone(t.name, edits), "there is no such file")
	}
	text := t.text
	for _, e := range edits {
		var why string
		if text, why = e.apply(text); why != "" {
			return present.Noted(alone(t.name, edits), why+"; this is the edit alone")
		}
	}
	if !t.exists {
		return present.Noted(present.File(t.name, text), "a new file")
	}
	return present.Diff(t.name, t.text, text)
}

// alone is what edits say by themselves.
func alone(name string, edits []edit) sayso.Presentation {
	var before, after strings.Builder
	for _, e := range edits {
		before.WriteString(ended(e.Old))
		after.WriteString(ended(e.New))
	}
	if len(edits) == 1 {
		return present.Diff(name, edits[0].Old, edits[0].New)
	}
	return present.Diff(name, before.String(), after.String())
}

// ended is a text with a line break at its end.
func ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// cell is a change to a cell of a notebook.
type cell struct {
	ID     string `json:"cell_id"`
	Source string `json:"new_source"`
	Type   string `json:"cell_type"`
	Mode   string `json:"edit_mode"`
}

// notebook is what is read of one.
type notebook struct {
	Cells []struct {
		ID     string `json:"id"`
		Source any    `json:"source"` // a text, or a list of lines
	} `json:"cells"`
}

// cell is what a person is shown of a change to a notebook: the change to the
// source of the cell.
func (t target) cell(c cell) sayso.Presentation {
	name := t.name
	if c.ID != "" {
		name += " cell " + c.ID
	}
	switch {
	case c.Mode == "insert":
		return about(t.name, present.Noted(present.Diff(name, "", c.Source), "a new cell behind this one"))
	case t.why != "":
		return about(t.name, present.Noted(present.File(name, c.Source), "not compared with the notebook on disk: "+t.why))
	case !t.exists:
		return about(t.name, present.Noted(present.File(name, c.Source), "there is no such notebook"))
	}
	old, why := t.source(c.ID)
	if why != "" {
		return about(t.name, present.Noted(present.File(name, c.Source), "not compared with the notebook on disk: "+why))
	}
	if c.Mode == "delete" {
		return about(t.name, present.Noted(present.Diff(name, old, ""), "the cell is deleted"))
	}
	return about(t.name, present.Diff(name, old, c.Source))
}

// about is a presentation of a part of a file, under the name of the file.
func about(name string, p sayso.Presentation) sayso.Presentation {
	p.Metadata["path"] = name
	return p
}

// source is that of a cell, or why there is none. A cell is named by its id or,
// as cell-3, by its place.
func (t target) source(id string) (source, why string) {
	var n notebook
	if err := jcs.UnmarshalLenient([]byte(t.text), &n); err != nil {
		return "", "it cannot be read as a notebook"
	}
	place := -1
	if digits, ok := strings.CutPrefix(id, "cell-"); ok {
		if i, err := strconv.Atoi(digits); err == nil {
			place = i
		}
	}
	match := -1
	for i, c := range n.Cells {
		if c.ID == id && id != "" || match < 0 && i == place {
			match = i
		}
	}
	if match < 0 {
		return "", "it has no cell of this name"
	}
	return joined(n.Cells[match].Source)
}

// joined is the source of a cell as one text.
func joined(source any) (text, why string) {
	switch s := source.(type) {
	case string:
		return s, ""
	case []any:
		var b strings.Builder
		for _, line := range s {
			text, ok := line.(string)
			if !ok {
				return "", "its source is no text"
			}
			b.WriteString(text)
		}
		return b.String(), ""
	}
	return "", "its source is no text"
}
