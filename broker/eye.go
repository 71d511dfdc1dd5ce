package broker

import (
	"maps"
	"slices"

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

// name notes what is wrong with a name that is shown as it is.
func (e *eye) name(path, s string) { e.look(path, s) }

func (e *eye) look(path, s string) string {
	shown, found := present.Inspect(s)
	for _, w := range found {
		w.Path = path
		e.warnings = append(e.warnings, w)
	}
	return shown
}

// said are the agent's words about its call.
func (e *eye) said(words map[string]string) map[string]string {
	shown := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(words)) {
		shown[safe(k)] = e.text("said/" + k)
	}
	return shown
}

// presented is a presentation with its texts as they may be shown. A document
// may hold markup; in words it is odd.
func (e *eye) presented(p sayso.Presentation) *sayso.Presentation {
	before := len(e.warnings)
	p.Content, p.Language = e.text("presentation"), safe(p.Language)
	if p.Type != sayso.PresentText {
		e.warnings = append(e.warnings[:before], slices.DeleteFunc(slices.Clone(e.warnings[before:]), func(w sayso.Warning) bool {
			return w.Kind == sayso.WarnMarkup
		})...)
	}
	p.Metadata = maps.Clone(p.Metadata)
	for _, k := range slices.Sorted(maps.Keys(p.Metadata)) {
		p.Metadata[k] = e.text("presentation/" + k)
	}
	return &p
}

// safe makes a text safe for the eye.
func safe(s string) string {
	shown, _ := present.Safe(s)
	return shown
}
