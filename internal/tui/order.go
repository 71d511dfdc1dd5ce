package tui

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

// row is a line of the list: the head of a group, or a request.
type row struct {
	head string
	size int
	item *item
	twin int // which of the same calls this is, from 1; zero if there is one
}

// groupKey is what requests are listed together by: the session and the agent.
type groupKey struct{ session, host, caller string }

func keyOf(i *item) groupKey { return groupKey{i.SessionID, i.Host, i.Caller} }

// rows are the lines of the list. The group and the request that must be
// answered first come first; the same call made twice stands together.
func (all *items) rows(filter string) []row {
	var list []*item
	for _, i := range all.byID {
		if i.matches(filter) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, byDue)
	groups := map[groupKey][]*item{}
	var order []groupKey
	for _, i := range list {
		key := keyOf(i)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	var out []row
	for _, key := range order {
		members := groups[key]
		out = append(out, row{head: headOf(members[0]), size: len(members)})
		out = append(out, twins(members)...)
	}
	return out
}

// byDue orders by what must be answered first, then by what came first.
func byDue(a, b *item) int {
	switch {
	case a.due.IsZero() != b.due.IsZero():
		if a.due.IsZero() {
			return 1
		}
		return -1
	case !a.due.Equal(b.due):
		return a.due.Compare(b.due)
	}
	return cmp.Compare(a.place, b.place)
}

// twins are the rows of a group, with the same calls where the first of them is.
func twins(members []*item) []row {
	same := map[sayso.Digest][]*item{}
	for _, i := range members {
		same[i.Digest] = append(same[i.Digest], i)
	}
	var out []row
	for _, i := range members {
		list := same[i.Digest]
		delete(same, i.Digest)
		for n, twin := range list {
			r := row{item: twin}
			if len(list) > 1 && !i.Digest.IsZero() {
				r.twin = n + 1
			}
			out = append(out, r)
		}
	}
	return out
}

// headOf names a group: who asks, in which project, in which session.
func headOf(i *item) string {
	var parts []string
	if from := words.From(i.Request); from != "" {
		parts = append(parts, from)
	}
	if i.Cwd != "" {
		parts = append(parts, path.Base(i.Cwd))
	}
	if i.SessionID != "" {
		parts = append(parts, "session "+i.SessionID)
	}
	return words.Safe(strings.Join(parts, " · "))
}

// matches reports whether all words of a filter are somewhere in a request.
func (i *item) matches(filter string) bool {
	if filter == "" {
		return true
	}
	if i.text == "" {
		parts := []string{
			words.Summary(i.Request), i.Tool, i.HostTool, i.Server, string(i.Kind), string(i.Risk), present.Risk(i.Risk, i.Danger), i.Host, i.Caller, i.Cwd, i.SessionID, i.Rule,
			i.ShortID, i.Description, strings.Join(present.Dangers(i.Danger), " "), string(i.Preview),
		}
		i.text = strings.ToLower(strings.Join(parts, "\n"))
	}
	return contains(i.text, filter)
}

// contains reports whether all words of a filter are in a text of small letters.
func contains(text, filter string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
