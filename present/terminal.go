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
	Said         map[string]string // what the agent says about its call
	Preview      []byte            // the arguments, as JSON
	Presentation *sayso.Presentation
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

// Terminal draws a call in plain text, in lines of at most the given number of
// columns; zero means DefaultWidth. What would run comes first, what is known of
// it after that, with a blank line between the blocks. Each text of the agent, the tool or the
// arguments stands behind a bar, line by line, and cannot leave it. A line that
// is too long goes on behind a backslash; nothing is cut.
func Terminal(v View, columns int) string {
	return (&drawing{columns: columns}).draw(v)
}

// Colored is Terminal with colours. Only our own labels and the sides of a
// difference are coloured; no sequence of anybody else's gets through.
func Colored(v View, columns int) string {
	return (&drawing{columns: columns, color: true}).draw(v)
}

type drawing struct {
	b       strings.Builder
	columns int
	color   bool
}

// The colours, as numbers of the usual terminal sequences.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (d *drawing) paint(color, s string) string {
	if !d.color || color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

func (d *drawing) line(color, s string) {
	d.b.WriteString(d.paint(color, s))
	d.b.WriteByte('\n')
}

func (d *drawing) draw(v View) string {
	if d.columns <= 0 {
		d.columns = DefaultWidth
	}
	d.columns = max(d.columns, minWidth)
	d.title(v.Title)
	for _, draw := range []func(*drawing, View){
		(*drawing).warnings, (*drawing).presentation, (*drawing).arguments, (*drawing).redactions, (*drawing).facts, (*drawing).words,
	} {
		part := drawing{columns: d.columns, color: d.color}
		if draw(&part, v); part.b.Len() > 0 {
			d.b.WriteString("\n" + part.b.String())
		}
	}
	return d.b.String()
}

func (d *drawing) title(title string) {
	if title == "" {
		title = "a call waits for an answer"
	}
	for _, l := range Frame(title, d.columns, "", "  ") {
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
	for _, l := range frameSafe(oneLine(text), d.columns, first, next) {
		d.line("", l)
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
	for _, l := range frameSafe(oneLine(text), d.columns, "  - ", `  \ `) {
		d.line(color, l)
	}
}

// words draws what the agent and the tool say, as their words.
func (d *drawing) words(v View) {
	if v.Description != "" {
		d.line(cyan, "it is described as (not checked):")
		d.framed(v.Description, "")
	}
	if len(v.Said) == 0 {
		return
	}
	d.line(cyan, "the agent says (not checked):")
	for _, name := range slices.Sorted(maps.Keys(v.Said)) {
		d.name(name)
		d.framed(v.Said[name], "")
	}
}

// name draws the name of a text of others. It is quoted unless it is a plain
// word, so that it cannot pass for anything else.
func (d *drawing) name(name string) {
	shown := oneLine(name)
	if !plainName(shown) {
		shown = `"` + shown + `"`
	}
	for _, l := range frameSafe(shown+":", d.columns, keyFirst, keyNext) {
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

// framed draws a text behind a bar.
func (d *drawing) framed(text string, kind sayso.PresentationType) {
	for _, l := range Frame(strings.TrimSuffix(text, "\n"), d.columns, barFirst, barNext) {
		d.line(lineColor(l, kind), l)
	}
}

// lineColor is the colour of a line of a difference.
func lineColor(l string, kind sayso.PresentationType) string {
	if kind != sayso.PresentDiff || !strings.HasPrefix(l, barFirst) {
		return ""
	}
	switch rest := l[len(barFirst):]; {
	case strings.HasPrefix(rest, "+"):
		return green
	case strings.HasPrefix(rest, "-"):
		return red
	case strings.HasPrefix(rest, "@@"):
		return cyan
	}
	return ""
}

// titles of presentations.
var titles = map[sayso.PresentationType]string{
	sayso.PresentText:        "shown as text:",
	sayso.PresentDiff:        "the change:",
	sayso.PresentFileContent: "the file:",
	sayso.PresentCommand:     "the command:",
	sayso.PresentStructured:  "the data:",
}

func (d *drawing) presentation(v View) {
	p := v.Presentation
	if p == nil || p.Content == "" {
		return
	}
	title := titles[p.Type]
	if title == "" {
		title = titles[sayso.PresentText]
	}
	d.line(cyan, title)
	for _, key := range []string{"path", "cwd"} {
		if text := p.Metadata[key]; text != "" {
			d.field(key, text)
		}
	}
	d.framed(p.Content, p.Type)
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
		d.framed(string(preview), "")
		return
	}
	names, values := membersOf(shown)
	if names == nil {
		d.line(cyan, "arguments:")
		d.framed(indented(shown), "")
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
		if d.b.Len() == 0 {
			d.line(cyan, "arguments:")
		}
		d.name(name)
		d.framed(valueText(values[i]), "")
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

func indented(raw []byte) string {
	v := jsontext.Value(bytes.Clone(raw))
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
