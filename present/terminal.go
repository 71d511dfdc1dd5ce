package present

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sayso-dev/sayso"
)

// View is a call as a terminal shows it. Everything in it is redacted already;
// none of it need be safe, Terminal sees to that.
type View struct {
	Title        string // our own words; empty for the usual ones
	From         string // who asks
	Tool         string
	Server       string
	Host         string
	Session      string
	Cwd          string
	Risk         string
	Danger       []string
	Why          string            // the rule or default that asks
	Description  string            // words of the agent or the tool
	Titled       bool              // they are those of the policy
	Said         map[string]string // what the agent says about its call
	Preview      []byte            // the arguments, as JSON
	Presentation *sayso.Presentation
	ShownBy      string   // whose presentation it is, if that is not the broker's own
	Drawn        []string // names of arguments that the presentation shows in full; they are not drawn again
	Warnings     []sayso.Warning
	Redactions   []sayso.Redaction
}

// DefaultWidth is the width of a terminal that does not tell its own.
const DefaultWidth = 80

// minWidth is the least that Terminal draws in; a narrower one has to wrap.
const minWidth = 32

// The prefixes behind which text of others stands. Only our own words begin at
// the left edge.
const (
	barFirst = "  | "
	barNext  = "  \\ "
	keyFirst = "  "
	keyNext  = "    "
)

// Style says how a call is drawn. The zero Style is plain text of the default
// width, with nothing left out.
type Style struct {
	Columns int  // of the terminal; zero for [DefaultWidth]
	Color   bool // sixteen colours; no sequence of anybody else's gets through
	// Lines is how many lines there is room for; zero for any number. Where
	// there is too little, each text is drawn with its head, its tail and how
	// many lines were left out between them.
	Lines int
	// Highlight takes code apart into tokens, for its colours. It is given a
	// text that is safe already, and is not believed: tokens that do not make up
	// that text are not used. Nil draws code without colours.
	Highlight func(code, language string) []sayso.Token
}

// Draw draws a call. What would run comes first, what is known of it after that,
// with a blank line between the blocks. Each text of the agent, the tool or the
// arguments stands behind a bar, line by line, and cannot leave it. A line that
// is too long goes on behind a backslash. whole reports that nothing was left
// out for want of room.
func Draw(v View, s Style) (text string, whole bool) {
	if s.Columns <= 0 {
		s.Columns = DefaultWidth
	}
	s.Columns = max(s.Columns, minWidth)
	d := &drawing{Style: s}
	d.draw(v)
	if s.Lines <= 0 || d.lines <= s.Lines {
		return d.b.String(), true
	}
	for _, d.most = range []int{24, 12, 6, 3} {
		d.b.Reset()
		d.lines, d.cut = 0, false
		if d.draw(v); d.lines < s.Lines {
			return d.b.String(), !d.cut
		}
	}
	return d.first(s.Lines), false
}

// first is the first of the lines that were drawn, and how many there are more.
func (d *drawing) first(lines int) string {
	all := strings.SplitAfter(d.b.String(), "\n")
	keep := min(max(lines-1, 1), d.lines)
	return strings.Join(all[:keep], "") + fmt.Sprintf("… %d more lines\n", d.lines-keep)
}

// Terminal is Draw in plain text, with nothing left out; zero columns mean
// [DefaultWidth].
func Terminal(v View, columns int) string {
	text, _ := Draw(v, Style{Columns: columns})
	return text
}

// Colored is Terminal with colours, but for code.
func Colored(v View, columns int) string {
	text, _ := Draw(v, Style{Columns: columns, Color: true})
	return text
}

type drawing struct {
	Style
	b     strings.Builder
	lines int
	most  int  // lines of one text, zero for any number
	cut   bool // something was left out
}

// The colours, as numbers of the usual terminal sequences.
const (
	bold    = "1"
	dim     = "2"
	red     = "31"
	green   = "32"
	yellow  = "33"
	blue    = "34"
	magenta = "35"
	cyan    = "36"
)

func (d *drawing) paint(color, s string) string {
	if !d.Color || color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func (d *drawing) line(color, s string) {
	d.b.WriteString(d.paint(color, s))
	d.b.WriteByte('\n')
	d.lines++
}

func (d *drawing) draw(v View) {
	d.title(v.Title)
	for _, draw := range []func(*drawing, View){
		(*drawing).warnings, (*drawing).presentation, (*drawing).arguments, (*drawing).redactions, (*drawing).facts, (*drawing).words,
	} {
		part := drawing{Style: d.Style, most: d.most}
		if draw(&part, v); part.lines > 0 {
			d.b.WriteString("\n" + part.b.String())
			d.lines += 1 + part.lines
			d.cut = d.cut || part.cut
		}
	}
}

func (d *drawing) title(title string) {
	if title == "" {
		title = "a call waits for an answer"
	}
	for _, l := range Frame(title, d.Columns, "", "  ") {
		d.line(bold, l)
	}
}

// facts draws what is known of a call, in our own words.
func (d *drawing) facts(v View) {
	d.field("danger", strings.Join(v.Danger, ", "))
	d.field("tool", v.Tool)
	d.field("server", v.Server)
	d.field("from", v.From)
	d.field("host", v.Host)
	d.field("session", v.Session)
	d.field("directory", v.Cwd)
	d.field("risk", v.Risk)
	d.field("why", v.Why)
}

// field draws a label of ours and a short text beside it.
func (d *drawing) field(label, text string) {
	if text == "" {
		return
	}
	first := fmt.Sprintf("  %-10s ", label)
	next := strings.Repeat(" ", len(first)-2) + `\ `
	for i, part := range early(oneLine(text), max(minRoom, d.Columns-len(first))) {
		if i > 0 {
			first = next
		}
		d.line("", first+part)
	}
}

func (d *drawing) warnings(v View) {
	if len(v.Warnings) == 0 {
		return
	}
	d.line(yellow, "look out:")
	for _, w := range v.Warnings {
		text := string(w.Kind)
		if about := aboutKind[w.Kind]; about != "" {
			text += ", " + about
		}
		if w.Path != "" {
			text += ", in " + w.Path
		}
		if w.Text != "" {
			text += ": " + w.Text
		}
		d.note(yellow, text)
	}
}

// aboutKind says in a few words what each kind of warning means.
var aboutKind = map[sayso.WarningKind]string{
	sayso.WarnControl:    "characters that steer a terminal",
	sayso.WarnBidi:       "characters that turn the reading direction",
	sayso.WarnInvisible:  "characters that cannot be seen",
	sayso.WarnConfusable: "letters that look like others",
	sayso.WarnWhitespace: "blanks that are no plain blanks",
	sayso.WarnPadding:    "blanks that push text out of sight",
	sayso.WarnTruncated:  "not all of it is shown here",
	sayso.WarnMarkup:     "text that a page could take for markup",
}

// note draws a short text as an item of a list.
func (d *drawing) note(color, text string) {
	for _, l := range frameSafe(oneLine(text), d.Columns, "  - ", `  \ `) {
		d.line(color, l)
	}
}

// words draws what the agent and the tool say, as their words.
func (d *drawing) words(v View) {
	if v.Description != "" {
		whose := "it is described as (not checked):"
		if v.Titled {
			whose = "the policy calls it:"
		}
		d.line(cyan, whose)
		d.framed(v.Description)
	}
	if len(v.Said) == 0 {
		return
	}
	d.line(cyan, "the agent says (not checked):")
	for _, name := range slices.Sorted(maps.Keys(v.Said)) {
		d.name(name)
		d.framed(v.Said[name])
	}
}

// name draws the name of a text of others. It is quoted unless it is a plain
// word, so that it cannot pass for anything else.
func (d *drawing) name(name string) {
	shown := oneLine(name)
	if !plainName(shown) {
		shown = `"` + shown + `"`
	}
	for _, l := range frameSafe(shown+":", d.Columns, keyFirst, keyNext) {
		d.line(dim, l)
	}
}

func plainName(s string) bool {
	for _, r := range s {
		if !asciiLetter(r) && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.' {
			return false
		}
	}
	return s != ""
}

// arguments draws each argument in a frame of its own: a text as it is, other
// values as JSON.
func (d *drawing) arguments(v View) {
	preview := v.Preview
	if len(preview) == 0 {
		return
	}
	shown, _, err := SafeJSON(preview)
	if err != nil {
		d.line(cyan, "arguments (not strict JSON):")
		d.framed(string(preview))
		return
	}
	names, values := membersOf(shown)
	if names == nil {
		d.line(cyan, "arguments:")
		d.framed(indented(shown))
		return
	}
	if len(names) == 0 {
		d.line(cyan, "no arguments")
		return
	}
	for i, name := range names {
		if slices.Contains(v.Drawn, name) {
			continue
		}
		if d.lines == 0 {
			d.line(cyan, "arguments:")
		}
		d.name(name)
		d.framed(valueText(values[i]))
	}
}

// membersOf returns the names and values of an object in their order, or nil
// if raw is none.
func membersOf(raw []byte) (names []string, values []jsontext.Value) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, nil
	}
	names = []string{}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, nil
		}
		names = append(names, tok.String())
		v, err := dec.ReadValue()
		if err != nil {
			return nil, nil
		}
		values = append(values, v.Clone())
	}
	return names, values
}

func valueText(v jsontext.Value) string {
	if v.Kind() != '"' {
		return indented(v)
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return string(v)
	}
	return string(text)
}

// maxNesting bounds how deep a value may nest to be indented: the blanks of a
// deeper one would be more than all its text.
const maxNesting = 64

func indented(raw []byte) string {
	v := jsontext.Value(bytes.Clone(raw))
	if nesting(raw) > maxNesting {
		return string(raw)
	}
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return string(raw)
	}
	return string(v)
}

func (d *drawing) redactions(v View) {
	if len(v.Redactions) == 0 {
		return
	}
	d.line(cyan, "hidden:")
	for _, r := range v.Redactions {
		unit := "bytes"
		if r.Length == 1 {
			unit = "byte"
		}
		text := fmt.Sprintf("%d %s", r.Length, unit)
		if r.Key != "" {
			text += " under " + r.Key
		}
		if r.Path != "" {
			text += ", at " + r.Path
		}
		d.note("", text)
	}
}
