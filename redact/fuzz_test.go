package redact_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/redact"
)

// planted is a secret that no generated text holds by chance, and whose parts
// are no part of a marker.
const planted = "Zq7Wx9Kv3Jp5Mn8Rt2Ys"

// named is a planted secret in the name of something that a shell fills in.
var named = regexp.MustCompile(`\$[{(\["'!#]*\w*§`)

// FuzzArgs: whatever the arguments, what comes out is JSON of the same shape; a
// planted secret is nowhere in it; and it is stable: hiding again hides nothing
// but what a first hiding could not see.
func FuzzArgs(f *testing.F) {
	for _, c := range canaries {
		f.Add(c.key, c.text, "x")
	}
	f.Add("a", `{"b":"{\"c\":1}"}`, "§")
	f.Add("command", "$(§ `§", "<<'E' §")
	f.Add(" command", "mysql -u(a' -p§ -e b c'", "x") // no program has such a name
	f.Add("2command", "exp O&&r=N$§ O&THERT2", "x")
	f.Fuzz(func(t *testing.T, key, text, other string) {
		// What a shell fills in stays visible, whatever its name is called elsewhere:
		// to hide it would hide what runs.
		if named.MatchString(text) || named.MatchString(other) {
			return
		}
		fill := func(s string) string { return strings.ReplaceAll(s, "§", planted) }
		raw, err := json.Marshal(map[string]any{"token": planted, "k" + fill(key): fill(text), "list": []any{fill(other), 1, nil, fill(text)}})
		if err != nil {
			return // invalid UTF-8
		}
		full, _, err := redact.New(nil).Args(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if err := sameShape(raw, full); err != "" {
			t.Fatalf("%s\n gives %s: %s", raw, full, err)
		}
		if part := leaks(string(full), planted); part != "" {
			t.Fatalf("%s\n gives %s, which shows %q", raw, full, part)
		}
		preview, _ := redact.New(nil).Preview(full)
		if !jsontext.Value(preview).IsValid() {
			t.Fatalf("%s\n has preview %s", full, preview)
		}
	})
}

// sameShape compares kinds of values, lengths of arrays and counts of members.
// A value may have become a string.
func sameShape(a, b []byte) string {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return "no JSON"
	}
	return shape(x, y)
}

func shape(x, y any) string {
	if _, hidden := y.(string); hidden {
		return ""
	}
	switch x := x.(type) {
	case map[string]any:
		if y, ok := y.(map[string]any); !ok || len(x) != len(y) {
			return "members differ"
		}
	case []any:
		y, ok := y.([]any)
		if !ok || len(x) != len(y) {
			return "items differ"
		}
		for i := range x {
			if s := shape(x[i], y[i]); s != "" {
				return s
			}
		}
	}
	return ""
}

// FuzzCommand: a secret assigned before any command line is hidden, and all of
// the line stays. One that the line may run is shown, and not looked at here.
func FuzzCommand(f *testing.F) {
	for _, c := range canaries {
		if c.key == "command" {
			f.Add(strings.ReplaceAll(c.text, "§", "x"))
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "TOKEN") {
			return
		}
		raw, err := json.Marshal(map[string]string{"command": "TOKEN=" + planted + "; " + line})
		if err != nil {
			return
		}
		full, _, err := redact.New(nil).Args(raw)
		if err != nil {
			t.Fatal(err)
		}
		got := member(t, string(full), "command")
		rest, ok := strings.CutPrefix(got, "TOKEN=[hidden 20 bytes]; ")
		if !ok {
			t.Fatalf("%q is shown as %q", line, got)
		}
		alone, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := redact.New(nil).Args(alone)
		if err != nil {
			t.Fatal(err)
		}
		if w := member(t, string(want), "command"); rest != w && !strings.Contains(rest, "[hidden") {
			t.Fatalf("after a secret %q is shown as %q, alone as %q", line, rest, w)
		}
	})
}

// FuzzText: hiding twice is the same as hiding once, as far as markers go, and
// never fails.
func FuzzText(f *testing.F) {
	for _, c := range canaries {
		f.Add(strings.ReplaceAll(c.text, "§", planted))
	}
	for name := range nested {
		f.Add(nest(name, 512) + "token: " + planted)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, reds := redact.New(nil).Text(s)
		if len(reds) == 0 && out != s {
			t.Fatalf("%q became %q and nothing is said of it", s, out)
		}
		if strings.Count(out, "[hidden ") < strings.Count(s, "[hidden ") && len(reds) == 0 {
			t.Fatalf("%q became %q: a marker is gone", s, out)
		}
	})
}
