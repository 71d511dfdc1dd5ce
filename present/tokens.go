package present

import (
	"strings"

	"github.com/sayso-dev/sayso"
)

// classColors are the colours of tokens. What has none is drawn as it is.
var classColors = map[sayso.Class]string{
	sayso.ClassKeyword: magenta, sayso.ClassType: cyan, sayso.ClassFunction: blue, sayso.ClassName: cyan, sayso.ClassVariable: yellow,
	sayso.ClassAttribute: yellow, sayso.ClassTag: magenta, sayso.ClassString: green, sayso.ClassNumber: cyan, sayso.ClassComment: dim,
	sayso.ClassHeading: bold, sayso.ClassAdded: green, sayso.ClassRemoved: red, sayso.ClassPlace: cyan,
}

// markColors are the colours of the parts of a command.
var markColors = map[sayso.MarkKind]string{
	sayso.MarkProgram: bold, sayso.MarkWrapper: magenta, sayso.MarkInline: magenta, sayso.MarkDynamic: yellow, sayso.MarkWrite: red,
	sayso.MarkDelete: red, sayso.MarkNetwork: red, sayso.MarkPrivilege: red, sayso.MarkRead: cyan, sayso.MarkAssignment: cyan,
	sayso.MarkOption: yellow, sayso.MarkProblem: red,
}

// colored is a run of text and its colour.
type colored struct{ color, text string }

// tokens are the coloured runs of a presentation, nil if it has none: the marks
// of a command, or else its code. shown is its text made safe.
func (d *drawing) tokens(p *sayso.Presentation, text, shown string) []colored {
	if !d.Color {
		return nil
	}
	if marks := painted(len(shown), Follow(text, shown, p.Marks)); len(marks) > 0 {
		return markedRuns(shown, marks)
	}
	if d.Highlight == nil || p.Language == "" {
		return nil
	}
	tokens := d.Highlight(shown, p.Language)
	if !makeUp(tokens, shown) {
		return nil
	}
	runs := make([]colored, len(tokens))
	for i, t := range tokens {
		runs[i] = colored{classColors[t.Class], t.Text}
	}
	return runs
}

// makeUp reports whether tokens, one after the other, are exactly a text.
func makeUp(tokens []sayso.Token, text string) bool {
	for _, t := range tokens {
		rest, ok := strings.CutPrefix(text, t.Text)
		if !ok {
			return false
		}
		text = rest
	}
	return text == ""
}

// markedRuns are the runs of a text with marks that do not overlap.
func markedRuns(text string, marks []sayso.Mark) []colored {
	var runs []colored
	at := 0
	for _, m := range marks {
		runs = append(runs, colored{"", text[at:m.From]}, colored{markColors[m.Kind], text[m.From:m.To]})
		at = m.To
	}
	return append(runs, colored{"", text[at:]})
}

// tokenRows breaks coloured runs of a safe text into rows behind a bar. No
// colour reaches over the end of a row.
func (d *drawing) tokenRows(runs []colored) []row {
	var rows []row
	for _, line := range linesOf(runs) {
		prefix := barFirst
		for _, part := range wrapRuns(line, d.Columns-len(barFirst), d.Columns-len(barNext)) {
			var b strings.Builder
			b.WriteString(prefix)
			for _, run := range part {
				b.WriteString(d.paint(run.color, run.text))
			}
			rows = append(rows, row{"", b.String()})
			prefix = barNext
		}
	}
	return rows
}

// linesOf parts runs at the line breaks of their texts.
func linesOf(runs []colored) [][]colored {
	lines := [][]colored{nil}
	for _, run := range runs {
		for i, text := range strings.Split(run.text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if text != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], colored{run.color, text})
			}
		}
	}
	return lines
}
