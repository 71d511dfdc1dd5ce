package redact

import (
	"cmp"
	"slices"
	"sort"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// ranges are parts of a text.
type ranges []shell.Span

// merged are the ranges in order, without those that touch others.
func (r ranges) merged() ranges {
	slices.SortFunc(r, func(a, b shell.Span) int { return cmp.Compare(a.From, b.From) })
	var out ranges
	for _, s := range r {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// has reports whether merged ranges hold a byte of the text.
func (r ranges) has(at int) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i].To > at })
	return i < len(r) && r[i].From <= at
}
