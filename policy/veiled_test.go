package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// TestSH14_textInBodies: what a here-document hands to a program that runs
// nothing of it is text, however much a word of it looks like a pattern that our
// name fits. What runs its text, or expands it, is not.
func TestSH14_textInBodies(t *testing.T) {
	p := load(t, `version: 1
sandbox: {paths: {project: {root: ., mode: rw, write_approval: false}}}
rules:
  - allow: ["bash:*"]
`)
	commands(t, p, sayso.Allow,
		"cat > a.go <<'EOF'\nfunc f(x []byte) ([]string, error) {\n\t*p = (*http.Response)(x)\n}\nEOF",
		"tee a.md <<'EOF' >/dev/null\n* one\ns*o approve\n? two\nEOF\nls",
	)
	commands(t, p, sayso.Ask,
		"cat > a <<'EOF'\ntext\nEOF\ns*o approve x",
		"sh <<'EOF'\ns*o approve x\nEOF",
		"cat <<EOF\n$(s*o approve x)\nEOF",
		"{ cat; sh; } <<'EOF'\ns*o approve x\nEOF",
		"cat > a <<'EOF' ; s?yso approve x\nEOF",
	)
}

// TestSH14_looksAtSettings: a pattern that fits the settings of an agent is no
// change of them where all that is in the line only looks.
func TestSH14_looksAtSettings(t *testing.T) {
	p := load(t, rules(`allow: ["bash:find*", "bash:jq*", "bash:sort*", "bash:cat*"]`))
	commands(t, p, sayso.Allow, "find . -regex '.*'", "jq '.[] | select(.x > 1)' y", "find . -name '.c*' | sort")
	commands(t, p, sayso.Ask, "find . -regex '.*' -delete", "sort -o .claude/settings.json x", "cat x > .claude/settings.json", "cp x .claude/settings.json")
}

// TestFS3_settingsOfAgents: a line that only looks is not asked about for a
// pattern that the settings of an agent would fit; one that may change them is.
func TestFS3_settingsOfAgents(t *testing.T) {
	p := load(t, `version: 1
sandbox: {paths: {project: {root: ., mode: rw, write_approval: false}}}
rules:
  - allow: ["bash:*"]
`)
	commands(t, p, sayso.Allow,
		"find . -name '*.json' | sort | head", "grep -rn x --include='*.json' . | cut -d: -f1 | uniq -c", "ls | sed 's/.*//'", "go test ./... | sed 's/^.*: //' > out.txt",
		"cat .claude/settings.json | jq .", "cp docs/*.md docs/deep", "prettier --check src/*.ts", "ls .claude | wc -l; go build ./...",
		"go test ./... && cat package*.json", "go test -run '.*' ./...", "go test -list '.*' ./x", "cargo test './.*'", "git commit -m '.*'",
	)
	for _, line := range []string{
		"cp x .claude/settings.json", "cd .claude && cp x y", "mv .c*/settings.json x", "rm .mcp.*", "tee .claude/x", "find . -name '*.json' -delete", "find .claude -type f | xargs rm",
		"for f in .claude/*; do rm $f; done", "sh -c 'rm .claude/x'", "cat x > .claude/y", "sed -i s/a/b/ .claude/settings.json", "git add .claude/x", "cp x *.json", "cd .cl*; touch x",
		"python3 -c 'open(\".claude/x\", \"w\")'", "cp x {.claude,y}/z", "ls .claude; F=.claude/x; rm $F", "chmod 0 .[c]laude", "rm -r .*", "tool '.cl*'",
	} {
		v := judgeOn(p, yard(), bash(t, line))
		if v.Effect != sayso.Ask || !v.Person {
			t.Errorf("%s: %s by %q, want a person to be asked", line, v.Effect, v.Rule)
		}
	}
}
