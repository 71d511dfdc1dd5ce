package broker

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

// eye makes the texts around a call safe to look at and notes what was found in
// them. The paths of its warnings are names, as said/description; those of the
// arguments begin with a slash.
type eye struct {
	hidden   map[string]string // the texts, after redaction
	warnings []sayso.Warning
}

// text is a text as it may be shown.
func (e *eye) text(name string) string { return e.look(safe(name), e.hidden[name]) }

// names notes what is wrong with the names in a call, which are kept as they
// are: people and rules know things by them.
func (e *eye) names(c *sayso.Call) {
	for _, n := range [...]struct{ path, name string }{
		{"tool", c.Tool}, {"server", c.Server}, {"host", c.Host}, {"session", c.Session}, {"run", c.Run}, {"group_id", c.GroupID},
	} {
		_, found := present.InspectName(n.name)
		e.note(n.path, found)
	}
}

func (e *eye) look(path, s string) string {
	shown, found := present.Inspect(s)
	e.note(path, found)
	return shown
}

func (e *eye) note(path string, found []sayso.Warning) {
	for _, w := range found {
		w.Path = path
		e.warnings = append(e.warnings, w)
	}
}

// said are the agent's words about its call.
func (e *eye) said(words map[string]string) map[string]string { return e.named("said", words) }

// named are texts under names that the requester chose, too.
func (e *eye) named(what string, words map[string]string) map[string]string {
	shown := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(words)) {
		_, found := present.InspectName(k)
		e.note(what, found)
		shown[safe(k)] = e.text(what + "/" + k)
	}
	return shown
}

// presented is a presentation with its texts as they may be shown. A document
// may hold markup; in words it is odd.
func (e *eye) presented(shown *sayso.Presentation) *sayso.Presentation {
	before := len(e.warnings)
	p := sayso.Presentation{Type: shown.Type, Content: e.text("presentation"), Language: safe(shown.Language)}
	p.Metadata = e.named("presentation", shown.Metadata)
	if left := p.Metadata["left_out"]; left != "" {
		e.note("presentation", []sayso.Warning{{Kind: sayso.WarnTruncated, Text: left}})
	}
	if n := len(shown.Marks) - len(marksOf(shown)); n > 0 {
		e.note("presentation", []sayso.Warning{{Kind: sayso.WarnTruncated, Text: strconv.Itoa(n) + " marks left out"}})
	}
	p.Marks = present.Follow(shown.Content, p.Content, marksOf(shown))
	for i := range p.Marks {
		p.Marks[i].Kind, p.Marks[i].Text = sayso.MarkKind(safe(string(p.Marks[i].Kind))), e.text(markPath(i))
	}
	e.forget(before, func(w sayso.Warning) bool {
		return p.Type != sayso.PresentText && w.Kind == sayso.WarnMarkup || inArguments(e.warnings[:before], w)
	})
	return &p
}

// forget takes back warnings from the nth on.
func (e *eye) forget(n int, which func(sayso.Warning) bool) {
	kept := slices.DeleteFunc(slices.Clone(e.warnings[n:]), which)
	e.warnings = append(e.warnings[:n], kept...)
}

// inArguments reports whether the same was found in the arguments, which a
// presentation mostly shows once more.
func inArguments(found []sayso.Warning, w sayso.Warning) bool {
	return slices.ContainsFunc(found, func(f sayso.Warning) bool {
		return f.Kind == w.Kind && f.Text == w.Text && strings.HasPrefix(f.Path, "/")
	})
}

// marksOf are the marks of a presentation, as many of them as are looked at.
func marksOf(p *sayso.Presentation) []sayso.Mark {
	return p.Marks[:min(len(p.Marks), present.MaxMarks)]
}

func markPath(i int) string { return "presentation/marks/" + strconv.Itoa(i) }

// safe makes a text safe for the eye.
func safe(s string) string {
	shown, _ := present.Safe(s)
	return shown
}
