package policy_test

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
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
	reached := watchFailures(t)
	var out strings.Builder
	for _, block := range pageOfErrors(t) {
		out.WriteString("### " + block.name + "\n" + block.text + "--- errors\n")
		for _, e := range mistakes(t, block.name, block.text) {
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
	for at := range failures(t) {
		if !reached[at] {
			t.Errorf("no entry of %s reaches the mistake at %s", golden, at)
		}
	}
}

// badFile is an entry of the page of errors.
type badFile struct{ name, text string }

// pageOfErrors are the files of the page of what is said about mistakes.
func pageOfErrors(t testing.TB) []badFile {
	page, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var out []badFile
	for _, block := range strings.Split(string(page), "### ")[1:] {
		head, _, ok := strings.Cut(block, "--- errors\n")
		name, text, ok2 := strings.Cut(head, "\n")
		if !ok || !ok2 {
			t.Fatalf("block %q has no errors", name)
		}
		out = append(out, badFile{name, text})
	}
	return out
}

// watchFailures keeps where mistakes are found from now on.
func watchFailures(t *testing.T) map[string]bool {
	reached := map[string]bool{}
	policy.SetFailing(func() {
		_, file, line, _ := runtime.Caller(2)
		reached[fmt.Sprintf("%s:%d", filepath.Base(file), line)] = true
	})
	t.Cleanup(func() { policy.SetFailing(nil) })
	return reached
}

// failures are the places in the source where a mistake is found.
func failures(t *testing.T) map[string]bool {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "fail" || sel.Sel.Name == "fault") && !strings.HasSuffix(name, "_test.go") {
				found[fmt.Sprintf("%s:%d", name, set.Position(call.Pos()).Line)] = true
			}
			return true
		})
	}
	if len(found) < 60 {
		t.Fatalf("found %d places where mistakes are found", len(found))
	}
	return found
}

// ofTests begins an entry of the page that is a file of tests.
const ofTests = "# file: tests\n"

// mistakes returns what is wrong with a policy or a file of tests, which must be
// something.
func mistakes(t *testing.T, name, text string) policy.Errors {
	var f *policy.File
	var err error
	if strings.HasPrefix(text, ofTests) {
		_, err = policy.ParseTests("policy.yaml", []byte(text))
	} else {
		f, err = policy.Parse("policy.yaml", []byte(text))
	}
	if err == nil && f != nil {
		tier := policy.Tiered{Tier: policy.TierUser, File: f}
		if strings.HasPrefix(text, "# tier: repo\n") {
			tier = policy.Tiered{Tier: policy.TierRepo, File: f, Workspace: "/srv/app"}
		}
		_, err = policy.New(policy.Options{}, tier)
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
		`allow: "frobnicate"`, `ask: ["bsh", "frob*"]`, `allow: "web-fetch:https://example.org"`, `deny: "bash:rm*"`, `allow: "mcp__any__thing"`, `allow: bash`, `deny: ["frob*", "*rm", "delete*", "drop_*:x", "*", "mcp__rm__*", "file-*:x"]`, `ask: "rm*"`,
		`deny: write`, `deny: {tool: write}`, `ask: write`,
	))
	var got []string
	for _, w := range p.Warnings() {
		got = append(got, w.String())
	}
	want := []string{
		`policy.yaml:3:12: warning: no tool is called "frobnicate", so this may never match`,
		`policy.yaml:4:11: warning: no tool is called "bsh", so this may never match; did you mean bash?`,
		`policy.yaml:4:18: warning: no tool is called "frob*", so this may never match`,
		`policy.yaml:8:12: warning: "bash" allows every command that can be read to its end; write bash:PROGRAM* for each program`,
		`policy.yaml:9:12: warning: no tool is called "frob*", so this may never match`,
		`policy.yaml:9:21: warning: no tool is called "*rm", so this may never match`,
		`policy.yaml:9:39: warning: no tool is called "drop_*", so this may never match`,
		`policy.yaml:10:10: warning: no tool is called "rm*", so this may never match; write "bash:rm*" for the program, or "mcp__*__rm*" for tools of servers`,
		`policy.yaml:11:11: warning: "write" is what some hosts call a tool of theirs, so this denies nothing of the others; for all of them write file-write`,
		`policy.yaml:12:18: warning: "write" is what some hosts call a tool of theirs, so this denies nothing of the others; for all of them write file-write`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
