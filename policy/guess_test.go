package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// TestSH3_globs: no glob walks past a deny, an ask or a condition.
func TestSH3_globs(t *testing.T) {
	p := load(t, rules(`deny: ["bash:git push*", "bash:cat secret.txt", "bash:rm -rf*"]`, `allow: ["bash:git*", "bash:cat*", "bash:rm*", "bash:ls*", "bash:wc*", "bash:gofmt*"]`))
	commands(t, p, sayso.Ask, "git pus? origin main", "git p[u]sh", "git pu*", "git *", "git -C . pus?", "cat secre?.txt", "cat [s]ecret.txt", "ls; git pus?", "rm *", "rm -r?")
	commands(t, p, sayso.Allow, "ls *.go", "git add *.go", "wc -l *.txt", "gofmt -l *.go", "cat *.go", "rm *.o", "git log -- *", "git commit -m x *.go", "cat 'secre?.txt'")
	commands(t, preset(t, "developer"), sayso.Ask, "npm run deplo?", "npm run d*", "npm run *", "npm run my-[d]eploy", "npm run ??pl*-prod", "make [i]nstall", "go ge? x", "git switch -[f] main", "git switch ?f main", "git branch -? x", "git commit --no-verif? -m x", "git commit -[n] -m x", "git clean -[n]", "git pus?")
	commands(t, preset(t, "developer"), sayso.Allow, "ls *.go", "git add *.go", "git add src/*", "git add test_*", "git commit -m x *.go", "git diff -- *", "git switch main && wc -l *.txt", "gofmt -l *.go", "go vet *.go", "prettier --check src/*.ts", "npm test -- src/*.test.js", "grep -rn x --include=*.go .", "cp -r templates/* generated/", "ls *", "wc -l *")
}

// TestSH3_globsInConditions: an allow needs that its condition holds whatever a
// glob stands for, anything else that it may hold.
func TestSH3_globsInConditions(t *testing.T) {
	allow := load(t, rules(`{allow: "bash:tool*", when: '!call.commands.exists(c, c.args.exists(a, a == "drop"))'}`))
	commands(t, allow, sayso.Allow, "tool x", "tool *.go", "tool 'dro?'")
	commands(t, allow, sayso.Ask, "tool drop", "tool dro?", "tool *")
	deny := load(t, rules(`{deny: "bash:tool*", when: 'call.commands.exists(c, c.operands.exists(a, a.startsWith("drop")))'}`, `allow: "bash:tool*"`))
	commands(t, deny, sayso.Deny, "tool drop-all", "tool dr?p-all", "tool *")
	commands(t, deny, sayso.Allow, "tool x", "tool x*")
}
