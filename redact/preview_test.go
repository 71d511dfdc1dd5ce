package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/redact"
)

func TestPreviewOfStrings(t *testing.T) {
	r := redact.New(nil)
	for _, unit := range []string{"a", "é", "界", "👍"} {
		for _, n := range []int{0, 1, 1999, 2000, 2001, 5000} {
			s := strings.Repeat(unit, n)
			raw, err := json.Marshal(map[string]string{"s": "<" + s + ">"})
			if err != nil {
				t.Fatal(err)
			}
			preview, warnings := r.Preview(raw)
			got := member(t, string(preview), "s")
			left := n + 2 - 2000
			if left <= 0 {
				if got != "<"+s+">" || len(warnings) > 0 {
					t.Errorf("%d of %s are shown as %d, warned of %v", n, unit, utf8.RuneCountInString(got), warnings)
				}
				continue
			}
			what := fmt.Sprintf("%d characters left out", left)
			if left == 1 {
				what = "1 character left out"
			}
			if !strings.HasPrefix(got, "<"+unit) || !strings.HasSuffix(got, unit+">") || strings.Count(got, unit) != 1998+strings.Count(what, unit) || !strings.Contains(got, what) {
				t.Errorf("%d of %s are shown as %q", n, unit, got)
			}
			if diff := cmp.Diff([]sayso.Warning{{Kind: "truncated", Path: "/s", Text: what}}, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		}
	}
}

func TestPreviewOfContainers(t *testing.T) {
	r := redact.New(&redact.Options{MaxItems: 10, MaxString: 20})
	tests := []struct {
		name, in, want string
		warnings       []sayso.Warning
	}{
		{"ten items", `[1,2,3,4,5,6,7,8,9,10]`, `[1,2,3,4,5,6,7,8,9,10]`, []sayso.Warning{}},
		{
			"twelve items", `[1,2,3,4,5,6,7,8,9,10,11,12]`, `[1,2,3,4,5,6,7,"[3 items left out]",11,12]`,
			[]sayso.Warning{{Kind: "truncated", Path: "", Text: "3 items left out"}},
		},
		{
			"twelve members", `{"x":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"[left out]":10,"k":11,"l":12}}`,
			`{"x":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"[left out]":"[3 members left out]","k":11,"l":12}}`,
			[]sayso.Warning{{Kind: "truncated", Path: "/x", Text: "3 members left out"}},
		},
		{
			"long number", `{"n":1234567890123456789012345}`, `{"n":"12345678901234 [… 5 characters left out …] 012345"}`,
			[]sayso.Warning{{Kind: "truncated", Path: "/n", Text: "5 characters left out"}},
		},
		{
			"long name", `{"abcdefghijklmnopqrstuvwxyz":1}`, `{"abcdefghijklmn [… 6 characters left out …] uvwxyz":1}`,
			[]sayso.Warning{{Kind: "truncated", Path: "/abcdefghijklmnopqrstuvwxyz", Text: "6 characters left out"}},
		},
		{"not JSON", `{"a":`, `"[not strict JSON: not shown]"`, []sayso.Warning{{Kind: "truncated", Text: "not strict JSON: not shown"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			preview, warnings := r.Preview([]byte(tt.in))
			if diff := cmp.Diff(tt.want, string(preview)); diff != "" {
				t.Errorf("preview (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// What is short is shown as it is, and that is what reading it would come to. A
// blank in front makes the redactor read.
func TestPreviewOfWhatIsShort(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, limits := range []redact.Options{{MaxItems: 3, MaxString: 80}, {MaxItems: 1, MaxString: 1}} {
		r := redact.New(&limits)
		for _, in := range []string{
			`{}`, `[]`, `1`, `"a"`, `null`, `[1]`, `[1,2]`, `[1,2,3]`, `[1,2,3,4]`, `{"a":{"b":[1,2]},"c":-1.50}`,
			`{"é":"<\u2028>","界":"` + "\x7f\u2028" + `"}`, `{"a":"x\ny"}`, `{"a":"\/"}`, `{"a b":"c d, {e}"}`,
			`"` + strings.Repeat("a", 78) + `"`, `"` + strings.Repeat("a", 79) + `"`, `"` + strings.Repeat("a", 81) + `"`,
			nested(31), nested(32), nested(33), `{"a":1,"a":2}`, `{"a":1}{}`, "\"\xff\"", "\"\x01\"", `[1,]`, ``,
		} {
			got, warnings := r.Preview([]byte(in))
			want, wantWarnings := r.Preview([]byte(" " + in))
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s: preview (-read +looked at):\n%s", in, diff)
			}
			if diff := cmp.Diff(wantWarnings, warnings); diff != "" {
				t.Errorf("%s: warnings (-read +looked at):\n%s", in, diff)
			}
		}
	}
}

func TestPreviewOfDeepNesting(t *testing.T) {
	in := strings.Repeat("[", 500) + "1" + strings.Repeat("]", 500)
	preview, warnings := redact.New(nil).Preview([]byte(in))
	if !jsontext.Value(preview).IsValid() || len(preview) > 200 || len(warnings) != 1 {
		t.Errorf("got %s, %v", preview, warnings)
	}
}
