package claudecode

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// Listed reports whether a field of a tool's input is known: what it is for, or
// that it is asked about. Tools that are not in the table of this host have no
// listed fields; they are asked about whatever their input.
func Listed(tool, field string) bool {
	call := sayso.Call{Host: Host, Tool: tool}
	return slices.Contains(call.Known().Args, field) ||
		slices.Contains(said[tool], field) || slices.Contains(asking[tool], field)
}
