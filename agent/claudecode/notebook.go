package claudecode

import (
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

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

// shown is what a person is shown of a change to a notebook: the change to the
// source of the cell.
func (c cell) shown(t present.Target) sayso.Presentation {
	name := t.Name
	if c.ID != "" {
		name += " cell " + c.ID
	}
	switch {
	case c.Mode == "insert":
		return about(t.Name, present.Noted(present.Diff(name, "", c.Source), "a new cell behind this one"))
	case t.Why != "":
		return about(t.Name, present.Noted(present.File(name, c.Source), "not compared with the notebook on disk: "+t.Why))
	case !t.Exists:
		return about(t.Name, present.Noted(present.File(name, c.Source), "there is no such notebook"))
	}
	old, why := source(t.Text, c.ID)
	if why != "" {
		return about(t.Name, present.Noted(present.File(name, c.Source), "not compared with the notebook on disk: "+why))
	}
	if c.Mode == "delete" {
		return about(t.Name, present.Noted(present.Diff(name, old, ""), "the cell is deleted"))
	}
	return about(t.Name, present.Diff(name, old, c.Source))
}

// about is a presentation of a part of a file, under the name of the file.
func about(name string, p sayso.Presentation) sayso.Presentation {
	p.Metadata["path"] = name
	return p
}

// source is that of a cell, or why there is none. A cell is named by its id or,
// as cell-3, by its place.
func source(book, id string) (text, why string) {
	var n notebook
	if err := jcs.UnmarshalLenient([]byte(book), &n); err != nil {
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
