package shell_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

func TestGR3_lead(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"git status", "git status"},
		{"git status -s", "git status"},
		{"git commit -m 'a b'", "git commit"},
		{`'git' "status"`, "git status"},
		{"go test ./...", "go test"},
		{"ls -la", "ls"},
		{"cat a b", "cat"},
		{"make test", "make test"},
		{"make test lint", ""}, // both are made
		{"make test -k", "make test"},
		{"make test -o x -k", "make test"},
		{"make test -k other", ""},
		{"gradle test --tests X", "gradle test"},
		{"gradle test other", ""},
		{"mvn test -pl a -q", "mvn test"},
		{"just test other", ""},
		{"ninja test *", ""},
		{"make test deploy", ""},
		{"make clean", ""},
		{"mvn deploy", ""},
		{"gradle publishToMavenLocal", ""},
		{"git stash pop", "git stash pop"},
		{"git stash", ""},                 // its words may go on to clear it
		{"git checkout main", ""},         // which may be a file
		{"go env -w GOFLAGS=x", "go env"}, // which has a trait that says so

		{"docker ps", ""}, // powerful, and no program that builds
		{"docker compose ps", ""},
		{"git config alias.x y", ""},
		{"go install example.org/x@latest", ""},
		{"go tool x", ""},
		{"cargo frobnicate", ""},
		{"openssl enc", ""},
		{"cargo test", "cargo test"},

		{"git", ""},
		{"git -C /elsewhere status", ""},
		{"git --no-pager log", ""},
		{"git frobnicate", ""}, // an alias may be anything
		{"git $sub", ""},
		{"git st*", ""},
		{"/usr/bin/git status", ""},
		{"./git status", ""},
		{"$git status", ""},
		{"unheard-of build", ""},
		{"make", ""},
		{"make -j4 test", ""},
		{"make SHELL=/tmp/x", ""},
		{"pytest tests/x.py", ""},
		{"pytest -q", ""},
	} {
		line := shell.Inspect(c.line)
		if len(line.Commands) == 0 {
			t.Fatalf("%s: there is no command", c.line)
		}
		lead := line.Commands[0].Lead()
		if got := strings.Join(lead, " "); got != c.want {
			t.Errorf("%s: led by %q, want %q", c.line, got, c.want)
		}
		if lead != nil && !line.Commands[0].Begins(lead, nil) {
			t.Errorf("%s: does not begin with its lead %q", c.line, lead)
		}
	}
}
