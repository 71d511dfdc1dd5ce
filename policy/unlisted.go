package policy

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// floorUnlisted holds for a call with an argument whose meaning is not known:
// what a rule says of the tool was written without it.
var floorUnlisted = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "arguments must be known", Person: true,
	Reason: "the tool is given an argument that its rules do not cover",
}

// unlisted reports whether the call has an argument that is not in the tool's
// list. One that is false or null asks for nothing.
func (s *subject) unlisted() bool {
	if s.tool.Args == nil || s.state == argsBad {
		return false
	}
	args := []byte(s.call.Args)
	if !isObject(args) {
		return false // no arguments at all
	}
	for name, value := range members(args) {
		if v := string(value); v == "false" || v == "null" {
			continue
		}
		if !slices.ContainsFunc(s.tool.Args, func(key string) bool { return isKey(name, key) }) {
			return true
		}
	}
	return false
}
