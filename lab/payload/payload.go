// Package payload compares what the hooks of a host were told with the files that
// its adapter is tested with.
package payload

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// Compare compares payloads, by their names, with the files of a folder, member by
// member. Values may differ from run to run; names and kinds may not. With update
// the files are written anew.
func Compare(t testing.TB, dir string, got map[string]jsontext.Value, update bool) {
	t.Helper()
	if update {
		write(t, dir, got)
	}
	want := read(t, dir)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Fatalf("payloads (-files +seen):\n%s", diff)
	}
	for name := range want {
		if diff := cmp.Diff(shape(t, want[name]), shape(t, got[name])); diff != "" {
			t.Errorf("%s (-file +seen):\n%s", name, diff)
		}
	}
}

func write(t testing.TB, dir string, all map[string]jsontext.Value) {
	t.Helper()
	err := os.RemoveAll(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for name, v := range all {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".json"), append(slices.Clone(v), '\n'), 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir string) map[string]jsontext.Value {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no payloads in %s: %v", dir, err)
	}
	all := map[string]jsontext.Value{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".json")] = text
	}
	return all
}

// shape lists the members of a JSON value with their kinds, array elements taken
// together.
func shape(t testing.TB, v jsontext.Value) []string {
	t.Helper()
	seen := map[string]bool{}
	var walk func(path string, v jsontext.Value)
	walk = func(path string, v jsontext.Value) {
		seen[path+" "+v.Kind().String()] = true
		switch v.Kind() {
		case '{':
			var members map[string]jsontext.Value
			if err := jcs.Unmarshal(v, &members); err != nil {
				t.Fatal(err)
			}
			for name, m := range members {
				walk(path+"."+name, m)
			}
		case '[':
			var elements []jsontext.Value
			if err := jcs.Unmarshal(v, &elements); err != nil {
				t.Fatal(err)
			}
			for _, e := range elements {
				walk(path+"[]", e)
			}
		}
	}
	walk("", jsontext.Value(strings.TrimSpace(string(v))))
	return slices.Sorted(maps.Keys(seen))
}
