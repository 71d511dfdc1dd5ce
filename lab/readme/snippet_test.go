//go:build linux

package readme_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/policy"
)

// packages are what the snippets of the pages import.
var packages = map[string]string{
	"context": "context", "errors": "errors", "fmt": "fmt", "sayso": module, "broker": module + "/broker", "policy": module + "/policy",
	"memory": module + "/store/memory", "sqlite": module + "/store/sqlite", "client": module + "/client", "saysotest": module + "/saysotest",
	"testing": "testing",
}

const module = "github.com/sayso-dev/sayso"

// qualifier is a name before a dot.
var qualifier = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)

// remark is what a line says behind its code.
var remark = regexp.MustCompile(`(?m)//.*$`)

// TestSnippets_compile compiles the Go of the pages, as the body of a function.
func TestSnippets_compile(t *testing.T) {
	t.Parallel()
	for _, page := range pages {
		for i, b := range of(blocks(t, page), "go") {
			var imports []string
			seen := map[string]bool{}
			for _, m := range qualifier.FindAllStringSubmatch(remark.ReplaceAllString(b.text, ""), -1) {
				if path := packages[m[1]]; path != "" && !seen[path] {
					seen[path] = true
					imports = append(imports, `"`+path+`"`)
				}
			}
			if !seen["context"] {
				imports = append(imports, `"context"`)
			}
			if !seen[module] {
				imports = append(imports, `"`+module+`"`)
			}
			source := "package snippet\n\nimport (\n" + strings.Join(imports, "\n") + "\n)\n\n" +
				"var _ sayso.Call\n\nfunc embed(ctx context.Context) error {\nvar err error\n" + b.text + "\nreturn err\n}\n"
			if strings.HasPrefix(b.text, "func ") {
				source = "package snippet\n\nimport (\n" + strings.Join(imports, "\n") + "\n)\n\nvar _ context.Context\nvar _ sayso.Call\n" + b.text
			}
			compile(t, page, i, source)
		}
	}
}

func compile(t *testing.T, page string, i int, source string) {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Join(root(t), "lab", "readme"), ".snippet-") // inside the module, out of sight
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "snippet.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "vet", file)
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: snippet %d does not compile: %v\n%s\n%s", page, i+1, err, out, source)
	}
}

// TestSnippets_policies loads the policies of the pages.
func TestSnippets_policies(t *testing.T) {
	t.Parallel()
	n := 0
	for _, page := range pages {
		for _, b := range of(blocks(t, page), "yaml") {
			n++
			path := filepath.Join(t.TempDir(), "policy.yaml")
			if err := os.WriteFile(path, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := policy.Load(policy.Paths{User: path}, policy.Options{})
			if err != nil {
				t.Errorf("%s, line %d: %v", page, b.line, err)
				continue
			}
			if w := p.Warnings(); len(w) > 0 {
				t.Errorf("%s, line %d: warned of %v", page, b.line, w)
			}
		}
	}
	if n == 0 {
		t.Error("the pages hold no policy")
	}
}
