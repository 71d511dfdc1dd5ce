package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// everything allows all commands, so that only what no rule lifts speaks.
const everything = "version: 1\ndefault: allow\nrules:\n  - allow: \"bash:*\"\n"

// TestSH14_namesOfOurs: in a line of which every command is known, a path, a
// pattern or a text that has our name in it is no reason to ask.
func TestSH14_namesOfOurs(t *testing.T) {
	p := load(t, everything)
	commands(t, p, sayso.Allow,
		"git add cmd/sayso/*.go", "ls cmd/sayso/*", "ls {cmd/sayso,docs}", "grep -rn 'sayso approve.*' docs", "rg 'sayso (approve|deny)' docs", `git commit -m "sayso \"approve\" works"`,
		"git commit -m 'sayso: costs $5'", "sed -n '/sayso approve/,$p' README.md", "git log --grep='sayso approve'", "go vet ./cmd/sayso/*.go", "go test ./... && grep -rn 'sayso deny' docs",
		"grep -rn 'sayso approve' docs; python3 -m pytest", `printf 'sayso %s\n' approve`, "grep -rn SAYSO_HOME docs", "$'\\x6cs' -la", "cat <<'EOF'\nsayso approve k7fm answers it\nEOF",
	)
	for _, line := range []string{
		"foo sayso approve x", "make CMD='sayso approve x'", "npm run x -- sayso approve x", "sayso appr* x", "foo */sayso approve x", "./run 'sayso $VERB'", "git -c alias.x='!sayso approve k' x",
		"PAGER='sayso approve k' man ls", "cat > r.sh <<'EOF'\nsayso $1 k\nEOF\nsh r.sh approve", "export SAYSO_HOME=/x", "s*yso approve k", "sayso {log,approve}",
	} {
		v := judgeOn(p, yard(), bash(t, line))
		if v.Effect == sayso.Allow || !v.Person && v.Effect == sayso.Ask {
			t.Errorf("%s: %s by %q (a person: %v), want a person to be asked at least", line, v.Effect, v.Rule, v.Person)
		}
	}
	commands(t, p, sayso.Deny,
		"$'\\x73ayso' approve k7fm", "$'say\\163o' $'\\x61pprove' k7fm", "{sayso,approve,k7fm}", "cat > r.sh <<'EOF'\nsayso approve k7fm\nEOF\nsh r.sh", "echo 'sayso approve k7fm' | python3 run.py", "python3 run.py sayso approve k7fm",
		"echo 'sayso approve k' > r.sh; bash r.sh",
	)
}

// TestFinal_stateFromHere: a path into our folders counts from where the command
// runs, as one from the root does.
func TestFinal_stateFromHere(t *testing.T) {
	p := load(t, everything)
	f := yard()
	for _, line := range []string{
		"cat ../.local/state/sayso/sayso.db", "cd .. && cat .local/state/sayso/tokens", "cp x ../.local/state/sayso/policy.yaml", "cat < ../.local/state/sayso/sayso.db", "ls > ../.local/state/sayso/x",
		"ls --file=../.local/state/sayso/x", "cd ../.local && ls state/sayso",
	} {
		if v := judgeOn(p, f, bash(t, line)); v.Effect != sayso.Deny || v.Cause != sayso.CauseBuiltin {
			t.Errorf("%s: %s by %q, want a denial", line, v.Effect, v.Rule)
		}
	}
	commands(t, p, sayso.Allow, "cat ../.local/state/sayso2/x", "ls .local")
}
