package present

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// findings gathers what was found in one text, in order and each once.
type findings struct {
	kinds []sayso.WarningKind
	texts map[sayso.WarningKind][]string
}

// maxNamed bounds what one warning names.
const maxNamed = 6

func (f *findings) add(kind sayso.WarningKind, text string) {
	if f.texts == nil {
		f.texts = map[sayso.WarningKind][]string{}
	}
	list, seen := f.texts[kind]
	if !seen {
		f.kinds = append(f.kinds, kind)
	}
	if len(list) < maxNamed && !slices.Contains(list, text) {
		list = append(list, text)
	}
	f.texts[kind] = list
}

// addRune is add for a code point.
func (f *findings) addRune(kind sayso.WarningKind, r rune) {
	if len(f.texts[kind]) < maxNamed {
		f.add(kind, fmt.Sprintf("U+%04X", r))
	}
}

func (f *findings) warnings() []sayso.Warning {
	out := make([]sayso.Warning, 0, len(f.kinds))
	for _, k := range f.kinds {
		out = append(out, sayso.Warning{Kind: k, Text: strings.Join(f.texts[k], ", ")})
	}
	return out
}
