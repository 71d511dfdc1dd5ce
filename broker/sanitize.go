package broker

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

// sanitizer makes the texts around a call safe to look at and notes what was found in
// them. The paths of its warnings are names, as said/description; those of the
// arguments begin with a slash.
type sanitizer struct {
	redacted map[string]string // the texts, after redaction
	warnings []sayso.Warning
}

// text is a text as it may be shown.
func (s *sanitizer) text(name string) string { return s.inspect(safeText(name), s.redacted[name]) }

// checkNames notes what is wrong with the names in a call, which are kept as they
// are: people and rules know things by them.
func (s *sanitizer) checkNames(c *sayso.Call) {
	for _, n := range [...]struct{ path, name string }{
		{"tool", c.Tool}, {"server", c.Server}, {"host", c.Host}, {"session", c.Session}, {"run", c.Run}, {"group_id", c.GroupID},
	} {
		_, found := present.InspectName(n.name)
		s.warn(n.path, found)
	}
}

func (s *sanitizer) inspect(path, text string) string {
	shown, found := present.Inspect(text)
	s.warn(path, found)
	return shown
}

func (s *sanitizer) warn(path string, found []sayso.Warning) {
	for _, w := range found {
		w.Path = path
		s.warnings = append(s.warnings, w)
	}
}

// said are the agent's words about its call.
func (s *sanitizer) said(words map[string]string) map[string]string { return s.texts("said", words) }

// texts are texts under names that the requester chose, too.
func (s *sanitizer) texts(what string, words map[string]string) map[string]string {
	shown := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(words)) {
		_, found := present.InspectName(k)
		s.warn(what, found)
		shown[safeText(k)] = s.text(what + "/" + k)
	}
	return shown
}

// presentation is a presentation with its texts as they may be shown. A document
// may hold markup; in words it is odd.
func (s *sanitizer) presentation(shown *sayso.Presentation) *sayso.Presentation {
	before := len(s.warnings)
	p := sayso.Presentation{Type: shown.Type, Content: s.text("presentation"), Language: safeText(shown.Language)}
	p.Metadata = s.texts("presentation", shown.Metadata)
	if left := p.Metadata["left_out"]; left != "" {
		s.warn("presentation", []sayso.Warning{{Kind: sayso.WarnTruncated, Text: left}})
	}
	if n := len(shown.Marks) - len(marksOf(shown)); n > 0 {
		s.warn("presentation", []sayso.Warning{{Kind: sayso.WarnTruncated, Text: strconv.Itoa(n) + " marks left out"}})
	}
	p.Marks = present.Follow(shown.Content, p.Content, marksOf(shown))
	for i := range p.Marks {
		p.Marks[i].Kind, p.Marks[i].Text = sayso.MarkKind(safeText(string(p.Marks[i].Kind))), s.text(markPath(i))
	}
	s.dropWarnings(before, func(w sayso.Warning) bool {
		return p.Type != sayso.PresentText && w.Kind == sayso.WarnMarkup || inArguments(s.warnings[:before], w)
	})
	return &p
}

// dropWarnings drops warnings from the nth on.
func (s *sanitizer) dropWarnings(n int, which func(sayso.Warning) bool) {
	kept := slices.DeleteFunc(slices.Clone(s.warnings[n:]), which)
	s.warnings = append(s.warnings[:n], kept...)
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

// safeText is a text without what deceives whoever reads it.
func safeText(s string) string {
	shown, _ := present.Safe(s)
	return shown
}
