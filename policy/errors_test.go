package policy_test

import (
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

var update = flag.Bool("update", false, "write the golden files anew")

const golden = "testdata/errors.golden"

// TestErrors holds every mistake against the page of what is said about it,
// and the page against the list of kinds of mistakes: none may be missing.
func TestErrors(t *testing.T) {
	page, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	met := map[policy.Code]bool{}
	var out strings.Builder
	for _, block := range strings.Split(string(page), "### ")[1:] {
		head, _, ok := strings.Cut(block, "--- errors\n")
		name, text, ok2 := strings.Cut(head, "\n")
		if !ok || !ok2 {
			t.Fatalf("block %q has no errors", name)
		}
		out.WriteString("### " + head + "--- errors\n")
		for _, e := range mistakes(t, name, text) {
			met[e.Code] = true
			out.WriteString(e.Error() + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(page), out.String()); diff != "" && !*update {
		t.Error(diff)
	}
	// What a page cannot show.
	for name, text := range map[string]string{"too large": strings.Repeat("#", policy.MaxFile+1), "not UTF-8": "version: 1 # \xff", "NUL": "version: 1 # \x00"} {
		for _, e := range mistakes(t, name, text) {
			met[e.Code] = true
		}
	}
	for _, code := range codes(t) {
		if !met[code] {
			t.Errorf("no entry of %s shows the mistake %q", golden, code)
		}
	}
}

// mistakes returns what is wrong with a policy, which must be something.
func mistakes(t *testing.T, name, text string) policy.Errors {
	f, err := policy.Parse("policy.yaml", []byte(text))
	if err == nil {
		_, err = policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: f})
	}
	var errs policy.Errors
	if !errors.As(err, &errs) || len(errs) == 0 || !errors.Is(err, sayso.ErrInvalid) {
		t.Fatalf("%s: error %v", name, err)
	}
	for _, e := range errs {
		if e.File != "policy.yaml" || e.Line < 1 || e.Column < 1 || e.What == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	return errs
}

// codes reads the kinds of mistakes from the source.
func codes(t *testing.T) []policy.Code {
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []policy.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Code" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, policy.Code(text))
		}
		return true
	})
	if len(found) < 20 {
		t.Fatalf("found %d kinds of mistakes", len(found))
	}
	return found
}

func TestWarnings(t *testing.T) {
	p := load(t, rules(
		`allow: "frobnicate"`, `ask: ["bsh", "frob*"]`, `allow: "web-fetch:https://example.org"`, `deny: "bash:rm*"`, `allow: "mcp__any__thing"`,
	))
	var got []string
	for _, w := range p.Warnings() {
		got = append(got, w.String())
	}
	want := []string{
		`policy.yaml:3:12: warning: no tool is called "frobnicate", so this may never match`,
		`policy.yaml:4:11: warning: no tool is called "bsh", so this may never match; did you mean bash?`,
		`policy.yaml:4:18: warning: no tool is called "frob*", so this may never match`,
		`policy.yaml:5:12: warning: "https://example.org" is the first page of the host alone; for all of them write https://example.org/*`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
