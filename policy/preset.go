package policy

import (
	"embed"
	"slices"
	"strings"
)

//go:embed presets/*.yaml
var presets embed.FS

// Presets returns the names of the ready-made policies, sorted.
func Presets() []string {
	entries, err := presets.ReadDir("presets")
	if err != nil {
		return nil // they are embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Preset returns the text of a ready-made policy; ok is false if there is none
// of that name.
func Preset(name string) (text []byte, ok bool) {
	if !slices.Contains(Presets(), name) {
		return nil, false
	}
	text, err := presets.ReadFile("presets/" + name + ".yaml")
	return text, err == nil
}
