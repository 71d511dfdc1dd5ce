package jcs

import (
	"bytes"
	"slices"
)

// Merge returns one object with the members of all of objects, sorted by name;
// of members with the same name the last one counts. It is what [Marshal] makes
// of a map with these members. Every object must be as Marshal wrote it, which
// is not looked at: Merge copies members and reads none. ok is false, and there
// is no result, where a name is written with an escape or is not ASCII.
func Merge(objects ...[]byte) (merged []byte, ok bool) {
	var room [32]named // enough for nearly every event
	all, size := room[:0], 0
	for _, o := range objects {
		size += len(o)
		if all, ok = appendMembers(all, o); !ok {
			return nil, false
		}
	}
	slices.SortStableFunc(all, func(a, b named) int { return bytes.Compare(a.name, b.name) })
	merged = append(make([]byte, 0, size), '{')
	for i, m := range all {
		if i+1 < len(all) && bytes.Equal(m.name, all[i+1].name) {
			continue
		}
		if len(merged) > 1 {
			merged = append(merged, ',')
		}
		merged = append(merged, m.text...)
	}
	return append(merged, '}'), true
}

// named is one member of an object: its name without quotes, and all of it.
type named struct{ name, text []byte }

// appendMembers appends the members of an object that Marshal wrote.
func appendMembers(all []named, object []byte) (_ []named, ok bool) {
	for i := 1; i < len(object)-1; i++ { // behind the brace, or a comma
		colon := endOfString(object, i)
		name := object[i+1 : colon-1]
		if !plainName(name) {
			return nil, false
		}
		end := endOfValue(object, colon+1)
		all = append(all, named{name, object[i:end]})
		i = end
	}
	return all, true
}

// plainName reports whether a name is ASCII without escapes.
func plainName(name []byte) bool {
	for _, c := range name {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// endOfValue returns the index after the value that starts at src[i], in valid
// JSON without white space.
func endOfValue(src []byte, i int) int {
	for depth := 0; i < len(src); {
		switch src[i] {
		case '"':
			i = endOfString(src, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
