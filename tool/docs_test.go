package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocs: every snippet of the guide stands, line for line, in code that is
// compiled and run.
func TestDocs(t *testing.T) {
	guide, err := os.ReadFile("../docs/tool.md")
	if err != nil {
		t.Fatal(err)
	}
	var code []string
	for _, pattern := range []string{"example_test.go", "../examples/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			code = append(code, flush(string(text)))
		}
	}
	n := 0
	for block := range strings.SplitSeq(string(guide), "```go\n") {
		snippet, _, ok := strings.Cut(block, "```")
		if n++; n == 1 || !ok {
			continue
		}
		found := false
		for _, c := range code {
			found = found || strings.Contains(c, flush(snippet))
		}
		if !found {
			t.Errorf("this snippet of docs/tool.md is in no code:\n%s", snippet)
		}
	}
	if n < 8 {
		t.Errorf("the guide has %d snippets", n-1)
	}
}

// flush is a text without indentation.
func flush(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
