package facts

import (
	"slices"
	"strings"
	"testing"
)

// Whatever a list of git is, its reader ends, and yields names in order or none that
// count.
func FuzzIndex(f *testing.F) {
	entry := append(make([]byte, indexFixed-2), 0, 5)
	two := append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x02"), entry...)
	two = append(append(two, "a.env\x00\x00\x00\x00\x00"...), entry...)
	f.Add(append(two, "b.env\x00\x00\x00\x00\x00"...))
	four := append([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02"), entry...)
	four = append(append(four, "\x00a.env\x00"...), entry...)
	f.Add(append(four, "\x05b.env\x00"...))
	f.Fuzz(func(t *testing.T, index []byte) {
		var names []string
		if whole := eachTracked(index, new(int), func(name string, _ bool) { names = append(names, name) }); whole && !slices.IsSorted(names) {
			t.Errorf("%q", names)
		}
		if slices.Contains(names, "") || len(names) > len(index) {
			t.Errorf("%q", names)
		}
	})
}

// Whatever is to be ignored, what is taken in again last is not.
func FuzzIgnored(f *testing.F) {
	for _, text := range []string{".env\n", "a/**/b\n!**\n", "*\n!*/\n", "/a/b/\n", "**/x\n\\#\n[a-\n", "\ufeff#\r\n !\n"} {
		f.Add(text, "a/b.env")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		rules := ignoreRules{}.with("/r", text)
		plain := name != "" && !strings.ContainsAny(name, "*?[]\\!# \t\n\v\f\r") && !strings.Contains("/"+name+"/", "//")
		last := rules.with("/r", "!/"+name)
		if at := "/r/" + name; plain && last.ignored(at, false) || rules.none && rules.ignored(at, true) {
			t.Errorf("%q leaves out %q", text, name)
		}
		if rules.ignored("/other/"+name, false) {
			t.Errorf("%q leaves out %q elsewhere", text, name)
		}
	})
}
