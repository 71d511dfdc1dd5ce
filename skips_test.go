package sayso_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A test that is skipped says what is missing and what to type to get it. One
// within a fuzz target skips its input, and says nothing.
func TestSkips_sayWhatToType(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		if !slices.ContainsFunc([]string{"testing", "github.com/rogpeppe/go-internal/testscript"}, func(p string) bool { return s.imports[p] > 0 }) {
			continue
		}
		for at, text := range skips(t, s.file) {
			found++
			if !strings.Contains(text, "type: ") {
				t.Errorf("%s skips with %s, which does not say what to type", at, text)
			}
		}
	}
	if found < 9 {
		t.Errorf("only %d tests were found that may be skipped", found)
	}
}

// skips are the messages of the tests in a file that are skipped, by place.
func skips(t *testing.T, file string) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch method.Sel.Name {
		case "Fuzz":
			return false
		case "Skip", "Skipf", "SkipNow":
			text := "nothing"
			if len(call.Args) > 0 {
				text = "a text that is not written there"
				if lit, ok := call.Args[0].(*ast.BasicLit); ok {
					text, _ = strconv.Unquote(lit.Value)
				}
			}
			found[set.Position(call.Pos()).String()] = text
		}
		return true
	})
	return found
}
