package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/policy"
)

// `cat .env` was asked about, and `grep -r SECRET .` was not: what a program finds by
// itself was nobody's operand.
func TestSH2_readersOfWholeFolders(t *testing.T) {
	root, app := project(t) // with .env, conf/.env, and src/b.go
	for name, text := range map[string]string{
		"node_modules/x/test.pem": "", "target/CACHEDIR.TAG": "", "target/.env": "", "docs/a.md": "", "deep/1/2/3/server.key": "", "away/x": "", ".aws/credentials": "", "keys/a.go": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(app, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"away/up": "..", "keys/notes": "../.env"} {
		if err := os.Symlink(to, filepath.Join(app, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := load(t, rules(`allow: ["bash:*"]`, "ask: bash\n    when: call.secrets\n    name: secrets"))
	secret := func(line string) bool {
		c := bash(t, line)
		c.Cwd = app
		v := p.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: root}))
		return v.Effect == sayso.Ask && v.Rule == "secrets"
	}
	for _, line := range []string{
		"grep -r SECRET .", "grep -rn SECRET", "grep -R SECRET .", "grep -nri -e SECRET", "grep --recursive SECRET conf", "grep --recurs SECRET .", "grep -d recurse SECRET .", "egrep -r SECRET .",
		"rgrep SECRET", "fgrep -r x deep", "zgrep -r x .", "grep -A3 -r SECRET", "grep -r -m 5 SECRET .", "ls; grep -r SECRET .", "cd conf && grep -r x", "cd conf; grep -r x .", "echo x | grep -r x .",
		"grep -r SECRET " + app, "grep -r x c*", "grep -r x */", "grep -rn --include='.env*' x src", "grep -rn --include=.env x .", `grep -rn --include="*" x .`, "grep -r --include='*.key' x .",
		"grep -r --exclude=.env x .", "grep -r --exclude='.env*' --exclude=*.key --exclude-dir=.aws x .", "grep -r --exclude='.env' --include='*' x conf", "grep -r --exclude-dir=.env x .", "grep -r x ~", "grep -R x keys", "grep -R x away",
		"grep -r --exclude-dir=deep --exclude-dir=.aws --exclude='[!x]env' x .",
		"rg --hidden SECRET", "rg -uu x", "rg -. x", "rg -u -u x", "rg -uuu x", "rg x deep", "rg -g '.env*' x src", "rg -g '*' x", "rg x", "rg --hidden -g '!.env' x", "rg --hidden x conf", "rg -t all -. x", "rg -t go -t key --hidden x",
		"ag --hidden x", "ag x", "ack x", "ug x", "tar c .", "tar cf - .", "tar -czf x.tgz conf", "tar cf x.tar --exclude=.env conf", "cp -r conf /tmp/x", "cp -a . ../x", "diff -r conf src", "zip -qr x.zip .", "rsync -a . ../y",
		"git grep --no-index x", "git grep --untracked x", "timeout 5 grep -r x .", "( grep -r x . )", "grep x -r .", "grep -r x -- .", "grep -r x .//", "grep -r x ..", `\grep -r x .`, "command grep -r x .", "env LANG=C grep -r x .", "sh -c 'grep -r x .'", "busybox grep -r x .",
		"grep -r x {src,conf}", "grep -rEn -A 3 -e x -- conf/", "cd src || true; grep -r x ../conf", "cd conf || exit; grep -r x .", "grep -r --include=*.go --include='.e*' x .", "/bin/grep -r x .", "nice grep -rn x .",
		"grep -r --include x .env .", "rg -uu --type go --type all x", "rg --hidden -t go --type-add 'go:.env' x", "grep -r x target", "grep -r x node_modules", "if true; then grep -r x .; fi", "x=$(grep -r SECRET .)",
	} {
		if !secret(line) {
			t.Errorf("%s: not asked about as one that may show secrets", line)
		}
	}
	for _, line := range []string{
		"grep x a.go", "grep -n SECRET src/b.go", "grep -r x src", "grep -rn x docs src", "grep -rl x .", "grep -rc x .", "rg -l x", "rg --files --hidden", "rg -c x", "grep -rq x .", "grep -rn --include=*.go x .", "grep -rn --include='*.{md,go}' x src",
		"grep -r --include '*.go' x .", "rg -t go x", "rg --hidden -t go x", "rg -g '*.go' x", "rg -g '**/*.md' x", "rg x src", "rg x conf", "grep -r x keys", "grep -r x away",
		"grep -r --exclude='.env*' --exclude='*.key' --exclude-dir=.aws x .", "grep -r --exclude='.env' x conf", "rg --hidden -g '!.env' x conf", "rg -g '!*.key' x", "ls -R", "find . -name '*.go'", "git grep x", "cp a.go b.go", "diff a.go src/b.go", "tar tf x.tar", "du -a", "wc -l a.go",
	} {
		if secret(line) {
			t.Errorf("%s: asked about, although it shows no secrets", line)
		}
	}
	// What reads them in other ways is asked about as what it is.
	for _, line := range []string{"find . -exec cat {} +", "find . -name .env -print0 | xargs -0 cat", "shopt -s dotglob; cat *", "GLOBIGNORE=x; cat *", "cat .*", `cat $(find . -name "*nv")`} {
		c := bash(t, line)
		c.Cwd = app
		if v := p.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: root})); v.Effect != sayso.Ask {
			t.Errorf("%s: %s by %q", line, v.Effect, v.Rule)
		}
	}
}

// A folder that is too large to be looked through is taken to hold secrets.
func TestSH2_readersOfLargeFolders(t *testing.T) {
	root, app := project(t)
	at := filepath.Join(app, "large")
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 20_001 {
		if err := os.Symlink("x", filepath.Join(at, strings.Repeat("x", 1+i%200)+string(rune('a'+i/200%26))+string(rune('a'+i/5200)))); err != nil {
			t.Fatal(err)
		}
	}
	p := load(t, rules(`allow: ["bash:*"]`, "ask: bash\n    when: call.secrets\n    name: secrets"))
	for line, want := range map[string]sayso.Effect{"grep -r x large": sayso.Ask, "rg x large": sayso.Ask, "grep -r x src": sayso.Allow, "grep -rl x large": sayso.Allow, "rg -t go x large": sayso.Allow} {
		c := bash(t, line)
		c.Cwd = app
		if v := p.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: root})); v.Effect != want {
			t.Errorf("%s: %s by %q, want %s", line, v.Effect, v.Rule, want)
		}
	}
}

// No preset lets such a command run unseen beside a file of secrets.
func TestSH2_readersOfWholeFoldersInPresets(t *testing.T) {
	root, app := project(t)
	for _, name := range policy.Presets() {
		p := preset(t, name)
		judged := func(line string) sayso.Verdict {
			c := bash(t, line)
			c.Cwd = app
			return p.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: root, Roots: p.Roots(), Policy: p.Version()}))
		}
		plain := judged("grep -rn x src")
		for _, line := range []string{"grep -rn SECRET .", "rg --hidden SECRET", "grep -rn --include='.env*' x src", "grep -r x conf"} {
			if v := judged(line); v.Effect == sayso.Allow {
				t.Errorf("%s: %s: %s by %q", name, line, v.Effect, v.Rule)
			}
		}
		if name == "developer" && plain.Effect != sayso.Allow {
			t.Errorf("%s: a search of sources: %s by %q", name, plain.Effect, plain.Rule)
		}
	}
}
