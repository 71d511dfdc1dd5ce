package present

import (
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
)

// titles of presentations.
var titles = map[sayso.PresentationType]string{
	sayso.PresentText:        "shown as text",
	sayso.PresentDiff:        "the change",
	sayso.PresentFileContent: "the file",
	sayso.PresentCommand:     "the command",
	sayso.PresentStructured:  "the data",
}

// presentation draws what was made for people to see. It is not the call: the
// arguments are, which are drawn besides.
func (d *drawing) presentation(v View) {
	p := v.Presentation
	if p == nil || p.Content == "" && p.Metadata["note"] == "" {
		return
	}
	title := titles[p.Type]
	if title == "" {
		title = titles[sayso.PresentText]
	}
	d.line(cyan, title+":")
	d.field("shown by", v.ShownBy)
	d.field("path", p.Metadata["path"])
	if p.Metadata["cwd"] != v.Cwd {
		d.field("in", p.Metadata["cwd"])
	}
	d.field("note", p.Metadata["note"])
	d.field("left out", p.Metadata["left_out"])
	if p.Content != "" {
		d.rows(d.content(p))
	}
	for i, m := range p.Marks {
		if i == MaxMarks {
			d.note("", fmt.Sprintf("%d more", len(p.Marks)-i))
			break
		}
		if m.Text != "" {
			d.note(markColors[m.Kind], string(m.Kind)+": "+m.Text)
		}
	}
}

// row is a line that stands behind a bar, and its colour where all of it has
// one.
type row struct{ color, text string }

// content is the text of a presentation as rows.
func (d *drawing) content(p *sayso.Presentation) []row {
	text := strings.TrimSuffix(p.Content, "\n")
	if p.Type == sayso.PresentDiff {
		return d.difference(text)
	}
	shown, _ := Safe(text)
	if tokens := d.tokens(p, text, shown); tokens != nil {
		return d.tokenRows(tokens)
	}
	return plainRows(frameSafe(shown, d.Columns, barFirst, barNext))
}

func plainRows(lines []string) []row {
	rows := make([]row, len(lines))
	for i, l := range lines {
		rows[i].text = l
	}
	return rows
}

// difference is a unified difference as rows. A line of it that goes on has the
// colour that it began with; without colours its sign is at its beginning.
func (d *drawing) difference(text string) []row {
	var rows []row
	color := ""
	for _, l := range Frame(text, d.Columns, barFirst, barNext) {
		if rest, begins := strings.CutPrefix(l, barFirst); begins {
			color = sideColor(rest)
		}
		rows = append(rows, row{color, l})
	}
	return rows
}

// sideColor is the colour of a line of a difference.
func sideColor(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "@@"):
		return cyan
	}
	return ""
}

// framed draws a text behind a bar.
func (d *drawing) framed(text string) {
	d.rows(plainRows(Frame(strings.TrimSuffix(text, "\n"), d.Columns, barFirst, barNext)))
}

// rows draws rows: where there is too little room, the first and the last of
// them, and how many were left out.
func (d *drawing) rows(rows []row) {
	head, tail := len(rows), 0
	if d.most > 0 && len(rows) > d.most {
		head, tail = ends(d.most)
	}
	for _, r := range rows[:head] {
		d.line(r.color, r.text)
	}
	if out := len(rows) - head - tail; out > 0 {
		d.line(yellow, fmt.Sprintf("  … %d lines left out", out))
		d.cut = true
	}
	for _, r := range rows[len(rows)-tail:] {
		d.line(r.color, r.text)
	}
}
