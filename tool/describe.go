package tool

import (
	"maps"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/redact"
)

// maxValue is how many characters of an argument a description shows.
const maxValue = 60

// hider hides what must not be shown in descriptions; the gate hides once more.
var hider = redact.New(&redact.Options{MaxString: maxValue, MaxItems: 8})

// describe is the call as tool(k=v, …), from what may be shown of it.
func describe(c sayso.Call) string {
	full, _, err := hider.Args(c.Args)
	if err != nil {
		return c.Tool
	}
	preview, _ := hider.Preview(full)
	var args map[string]sayso.Args
	if jcs.Unmarshal(preview, &args) != nil {
		return c.Tool
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		parts = append(parts, name+"="+string(args[name]))
	}
	return c.Tool + "(" + strings.Join(parts, ", ") + ")"
}
