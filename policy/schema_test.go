package policy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/policy"
)

const (
	schemaFile      = "../docs/policy.schema.json"
	testsSchemaFile = "../docs/policy_test.schema.json"
)

// TestSchema_isTheReaders: every mapping that the reader knows has the same keys
// in the schema, and each has a text.
func TestSchema_isTheReaders(t *testing.T) {
	read := map[string][]string{}
	policy.SetReading(func(where string, keys []string) { read[where] = keys })
	defer policy.SetReading(nil)
	for _, block := range pageOfErrors(t) {
		// Mistakes are what it is full of.
		_, _ = policy.Parse("p", []byte(block.text))
		_, _ = policy.ParseTests("p", []byte(block.text))
	}
	keys, told := policy.SchemaKeys()
	if diff := cmp.Diff(read, keys); diff != "" {
		t.Errorf("the schema is not what the reader reads (-read +schema):\n%s", diff)
	}
	if !told {
		t.Error("a key has no text")
	}
}

// TestSchema_isCommitted holds the files for editors against their source.
func TestSchema_isCommitted(t *testing.T) {
	for file, schema := range map[string]func() ([]byte, error){schemaFile: policy.Schema, testsSchemaFile: policy.TestsSchema} {
		want, err := schema()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not what the code says (%v); go test ./policy -run TestSchema_isCommitted -update", file, err)
		}
	}
}

// TestSchema_accepts: what loads fits the schema.
func TestSchema_accepts(t *testing.T) {
	good := append([]string{everyday, roots, recheckPolicy}, snippets(t, "")...)
	for _, name := range policy.Presets() {
		text, _ := policy.Preset(name)
		good = append(good, string(text))
	}
	fits(t, policy.Schema, good, []string{
		"version: 2", "default: ask", "version: 1\nrulez: []", "version: 1\nrules: [{alow: x}]", "version: 1\nshell: {rules: [{approval: false}]}", "version: 1\nrules: [{ask: {kind: shel}}]",
	})
}

// TestTestsSchema_accepts: so do files of tests.
func TestTestsSchema_accepts(t *testing.T) {
	good := append(snippets(t, " tests"), `{version: 1, home: /a, workspace: ~/b, host: claude-code, session: s, files: {a: file, b: dir, c: {link: a}},
  cases: [{call: '{"tool":"x","args":{}}', expect: deny}, {call: [{bash: ls}, {x: {}}], expect: ask, danger: [], cause: rule, rule: r, server: s, cwd: x}]}`)
	fits(t, policy.TestsSchema, good, []string{
		"version: 1", "{version: 1, cases: [{call: {bash: ls}}]}", "{version: 1, cases: [{call: 7, expect: ask}]}", "{version: 1, cases: [{call: {}, expect: ask}]}",
		"{version: 1, cases: [], files: {a: folder}}", "{version: 1, cases: [{call: {bash: ls}, expect: ask, effect: ask}]}",
	})
}

// snippets are the snippets of a kind on the page.
func snippets(t *testing.T, kind string) []string {
	page, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(string(page), "```yaml"+kind+"\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		out = append(out, text)
	}
	return out
}

// fits holds texts against a schema.
func fits(t *testing.T, made func() ([]byte, error), good, bad []string) {
	text, err := made()
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := jcs.UnmarshalLenient(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text string) error {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		return resolved.Validate(value)
	}
	for _, text := range good {
		if err := validate(text); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	for _, text := range bad {
		if validate(text) == nil {
			t.Errorf("the schema takes %q", text)
		}
	}
}
