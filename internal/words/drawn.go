package words

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// The arguments that a presentation may show in full: what they name, the text
// that goes, the text that comes.
var (
	pathArgs   = []string{"path", "file_path", "notebook_path"}
	beforeArgs = []string{"old_string"}
	afterArgs  = []string{"content", "new_string", "new_source"}
)

// drawnArgs names the arguments that a presentation shows in full, each line of
// them and as what they are, so that they need not be drawn again. What is not
// certain is not named: a presentation is what somebody made of the call, the
// arguments are the call.
func drawnArgs(args sayso.Args, p *sayso.Presentation) []string {
	var members map[string]any
	if p == nil || jcs.Unmarshal(args, &members) != nil {
		return nil
	}
	shown := shownBy(p)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text, isText := members[name].(string)
		if isText && shown(name, text) {
			names = append(names, name)
		}
	}
	return names
}

// shownBy tells of an argument whether a presentation shows all of it.
func shownBy(p *sayso.Presentation) func(name, text string) bool {
	path := func(name, text string) bool { return slices.Contains(pathArgs, name) && p.Metadata["path"] == text }
	switch p.Type {
	case sayso.PresentCommand:
		return func(name, text string) bool { return name == "command" && text == p.Content }
	case sayso.PresentFileContent:
		return func(name, text string) bool {
			return path(name, text) || slices.Contains(afterArgs, name) && text == p.Content
		}
	case sayso.PresentDiff:
		before, after := present.Sides(p.Content)
		return func(name, text string) bool {
			whole := "\n" + strings.TrimSuffix(text, "\n") + "\n"
			return path(name, text) || slices.Contains(beforeArgs, name) && strings.Contains(before, whole) ||
				slices.Contains(afterArgs, name) && strings.Contains(after, whole)
		}
	}
	return func(string, string) bool { return false }
}

// sameData reports whether a presentation shows the arguments as they are: then
// they are drawn one by one, which is easier to read.
func sameData(args sayso.Args, p *sayso.Presentation) bool {
	if p == nil || p.Type != sayso.PresentStructured || len(p.Metadata) > 0 {
		return false
	}
	a, err := jcs.Object(args)
	if err != nil {
		return false
	}
	b, err := jcs.Object([]byte(p.Content))
	return err == nil && bytes.Equal(a, b)
}
