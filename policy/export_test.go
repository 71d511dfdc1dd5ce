package policy

import (
	"maps"
	"slices"
)

// SetFailing has f called by whoever finds a mistake.
func SetFailing(f func()) { failing = f }

// SetReading has f told of the keys of every mapping that is read.
func SetReading(f func(where string, keys []string)) {
	if reading = nil; f != nil {
		reading = func(where string, fields map[string]field) { f(where, slices.Sorted(maps.Keys(fields))) }
	}
}

// SchemaKeys are the keys that the schemas have in each mapping, and whether all
// of them have a text.
func SchemaKeys() (keys map[string][]string, told bool) {
	keys, told = map[string][]string{}, true
	var walk func(s *schemaShape)
	walk = func(s *schemaShape) {
		if s == nil {
			return
		}
		var names []string
		for _, k := range s.keys {
			names = append(names, k.name)
			told = told && k.doc != ""
			walk(k.of)
		}
		if s.where != "" {
			slices.Sort(names)
			keys[s.where] = names
		}
		walk(s.named)
		walk(s.items)
		for _, one := range s.any {
			walk(one)
		}
	}
	walk(fileShape)
	walk(testsShape)
	return keys, told
}

// With is the policy with suggested rules added to the person's file, or to one
// of their own where there is none.
func (p *Policy) With(list []Suggestion) (*Policy, error) {
	s := Suggestions{Rules: list}
	f, err := Parse(p.own(), []byte(s.Text()))
	if err != nil {
		return nil, err
	}
	return New(p.options(), withRules(p.tiers, f)...)
}
