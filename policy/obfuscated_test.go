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

// TestFS3_settingsInGitHub: what Copilot reads of a repository can switch its
// hooks off and start others; an allow covers no line that may change it.
func TestFS3_settingsInGitHub(t *testing.T) {
	p := load(t, `version: 1
sandbox: {paths: {project: {root: ., mode: rw, write_approval: false}}}
rules:
  - allow: ["bash:*"]
`)
	commands(t, p, sayso.Allow,
		"cat .github/copilot/settings.json", "ls .github/hooks", "grep -rn x .github", "git log -- .github/hooks", "cp x .github/CODEOWNERS", "mkdir -p .github/ISSUE_TEMPLATE",
		"touch .github/dependabot.yml", "cat > .github/CODEOWNERS <<'EOF'\n* x\nEOF", "mkdir -p src/hooks copilot", "mv src/hooks src/copilot",
	)
	for _, line := range []string{
		"mkdir -p .github/copilot", "touch .github/copilot/settings.json", "echo '{}' > .github/copilot/settings.local.json", "cp x .github/hooks/x.json", "mv x .github/copilot", "tee .github/hooks/x.json < x",
		"cd .github && mkdir copilot", "cd .github/copilot && touch x", "ln -s ../x .github/copilot", "sed -i s/a/b/ .github/hooks/x.json", "git mv x .github/hooks", "cp -r x .g*hub/cop*", "mkdir .github/{copilot,hooks}",
		"mv x .github", "cp -r x/copilot .github/", "cp -r x/. .github", "ln -s x .github", "rsync -a x/ .github/", "mv x .gith?b",
		"python3 -c 'open(\".github/copilot/settings.json\", \"w\")'", "find .github/hooks -type f | xargs rm", "F=.github/copilot; mkdir $F", "sh -c 'cp x .github/hooks/x.json'", "printf x | dd of=.github/hooks/x.json",
		"tee .copilot/config.json", "python3 -c 'open(\".copilot/config.json\", \"w\")'", "F=.agents/hooks.json; cp x $F", "node -e 'require(\"fs\").writeFileSync(\".agents/hooks.json\", \"\")'",
	} {
		v := judgeOn(p, yard(), bash(t, line))
		if v.Effect != sayso.Ask || !v.Person {
			t.Errorf("%s: %s by %q (a person: %v), want a person to be asked", line, v.Effect, v.Rule, v.Person)
		}
	}
}
