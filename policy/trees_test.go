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
	if err := os.MkdirAll(filepath.Join(root, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".aws", "credentials"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"away/up": "..", "keys/notes": "../.env", "far/aws": root + "/.aws"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(app, name)), 0o700); err != nil {
			t.Fatal(err)
		}
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
		// Of what narrows a search the first or the last counts, or it is none.
		"grep -r --exclude=zzz --include='*.go' x .", "grep -r --exclude-from=l --include='*.go' x .", "grep -r --exclu=z --include='*.go' x .", "grep -r --include= x .",
		"grep -r -e -q -e x .", "grep -rn -- -l conf", "grep -rn x -- . --include=*.go", "grep -r --group-separator -q x .", "grep -r -e --include=*.go x .", "grep -r x -- . -l", "grep -r -e --exclude-dir=conf -e x conf",
		"rg -l --hidden --json x", "rg -c --hidden --json x", "rg --json --hidden --files-with-matches x", "rg -l --no-json -. x", "rg --hidden -e -l -e x", "rg --hidden -r -q x",
		"rg --hidden -g '' x", "rg --hidden -g ' ' x", "rg --hidden -g '#a' x", "rg --hidden --iglob '' x", "rg -g '*env ' x conf", "rg --iglob '*ENV' x conf", "rg --glob-case-insensitive -g '*ENV' x conf",
		"rg --hidden -e -tgo -e x", "rg --hidden -e --type=go -e x", "rg --hidden -r -e x", "grep -r --label -e x", "rg --hidden -e -g!.env x conf", "rg -. -g '!*.key' -g '#.env' x conf",
		// Folders are gone into, and links followed, without being told to.
		"diff conf src", "diff -N conf e", "diff -rN far e", "diff far e", "diff --to-file=conf src", "diff --from-file conf src", "zdiff conf src", "zip -r a.zip far", "zip --recurse-paths a.zip conf", "zip a.zip -qr far", "tar chf - far", "tar -c --dereference far", "tar cf - --clamp-mtime conf",
		"cp -rL far out", "cp -r --dereference far out", "cp -r --preserve conf out", "cp -aL far out", "scp -r far host:", "rsync -rL far out", "rsync -a --copy-unsafe-links far out", "ag -f x far", "ack --follow x far", "ug -R x far", "rg -L x far",
		"git diff --no-index src conf", "git diff --no-index -U conf src", "git diff --stat --no-index -- conf src", "git -C src diff --no-index . ../conf", "git diff src conf", "git stash show -p -u", "git stash show --include-untracked -p", "git stash show -p --only-u", "git add -f .", "git add -Af", "git add --force conf", "git stage -f conf",
		"git grep --un x", "git grep --u x", "git grep --no-in x",
		// What git is given it shows: by what is to be committed, by the stash, by the history.
		"git add -A", "git add .", "git add --all", "git add", "git add ./conf", "git add conf", "git add -v a.go conf", "git add -- conf", "git add -N .", "git stage .", "git add *", "git add c*", "git add '*'", "git add 'conf/*'", "git add 'c*'", `git add \*env`,
		"git add :/", "git add ':(top)conf'", "git add -A ':!src'", "git add ':(exclude)*.go'", "git add --pathspec-from-file=list", "git add -A -- :/", "cd src && git add -A", "cd src; git add :/", "cd conf && git add .", "git -C src add -A", "git -C conf add .", "git add .. ", "git add -- -u conf", "git add -e .", "git add -A && git diff --cached",
		"git add -u --no-update .", "git add --update --no-up .", "git add -n --no-dry-run .", "git add --dry-run --no-dry .", "git add -p --no-patch .", "git add --refresh --no-refresh .", "git add --renormalize --no-renorm .",
		// A folder by another name: the rest of the line reads it there.
		"mv conf c2", "mv conf c2 && grep -r x c2", "mkdir d && mv a.go conf d", "mv -t src conf", "mv conf src; rg -uu x src", "ln -s conf c2 && grep -r x c2", "ln -sfn ./conf c2; tar cf - c2", "git mv conf c2", "mv c* src", "cd conf && mv . ../c2",
		"git stash -u", "git stash push -u", "git stash save --include-untracked x", "git stash push --incl", "git stash -qu", "cd src && git stash -u", "git stash -a", "git stash --all", "git stash push -a -m x", "git stash save -qa", "git init && git add .", "git add -A; git commit -qm x; git show",
		"zcat -fr conf", "gzip -cfr conf", "gzip -r conf", "gzip --recursive -c conf", "gunzip -r conf", "zstd -cr conf", "gzip -cfr far", "zcat -fr far",
		"ag -f x", "ag -uf x", "ag --follow x", "ack -A -l x",
		// Files that a list names may be any.
		"find conf -type f -print0 | sort --files0-from=-", "sort --files0-from=list0", "sort --files0 list0", "tar cf - -T list", "tar cTf list a.tar", "tar -c --files-from=list -f a.tar", "zip -@ a.zip < list", "zip a.zip -q@ < list", "zip --names-stdin a.zip", "tar -cf a --add-file=conf", "tar -cf a --add-file conf a.go",
		"rsync --files-from=list . out", "ack --files-from=list x", "ack -x x", "ug --from=list x", "find . | cpio -o", "zstd -c --filelist list",
	} {
		if !secret(line) {
			t.Errorf("%s: not asked about as one that may show secrets", line)
		}
	}
	for _, line := range []string{
		"grep x a.go", "grep -n SECRET src/b.go", "grep -r x src", "grep -rn x docs src", "grep -rl x .", "grep -rc x .", "rg -l x", "rg --files --hidden", "rg -c x", "grep -rq x .", "grep -rn --include=*.go x .", "grep -rn --include='*.{md,go}' x src",
		"grep -r --include '*.go' x .", "rg -t go x", "rg --hidden -t go x", "rg -g '*.go' x", "rg -g '**/*.md' x", "rg x src", "rg x conf", "grep -r x keys", "grep -r x away",
		"grep -r --include='*.go' --exclude=b.go x .", "grep -r --exclude-dir=src --include=*.go x .", "rg --json x src", "rg --hidden --files --json", "rg --hidden -q --json x", "ag -l x", "ag -c x", "ack -f", "diff -r src docs", "diff a.go b.go", "diff -r --no-dereference far e",
		"git diff", "git diff --cached", "git diff HEAD -- conf", "git diff main -- .", "git diff a.go", "git diff main feature", "git stash show -p", "git stash show", "git grep -u x", "gzip a.txt", "zcat a.gz", "gzip -cr src", "wc --files0-from=-", "tar xf a.tar -T list", "tar cf a.tar far", "cp -r far out", "cp --preserve a.go b.go", "zip a.zip a.go", "zip -ry a.zip far", "sort a.go",
		"grep -r --exclude='.env*' --exclude='*.key' --exclude-dir=.aws x .", "grep -r --exclude='.env' x conf", "rg --hidden -g '!.env' x conf", "rg -g '!*.key' x", "ls -R", "find . -name '*.go'", "git grep x", "cp a.go b.go", "diff a.go src/b.go",
		"mv src s2", "mv a.go conf", "mv a.go conf/", "mv -t conf a.go", "ln -s src s2", "ln -s a.go conf", "git mv src s2", "git mv a.go conf", "mv missing conf",
		"git add a.go", "git add src", "git add -u", "git add -u .", "git add --update", "git add -p", "git add --patch conf", "git add -n .", "git add '*.go'", "git add 'src/*'", "git add *.go", "git add src/ a.go", "cd src && git add .", "git add missing", "git commit -am x", "git commit -qm 'add .'", "git stash", "git stash push -m x", "git stash push -- conf", "git stash list", "tar tf x.tar", "du -a", "wc -l a.go",
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

// What git has already, or is told to ignore, it does not take in: nobody is asked where
// a project keeps its secrets out of the history, as most do.
func TestSH2_whatGitTakesIn(t *testing.T) {
	root, app := project(t) // with .env and conf/.env
	files := map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", ".gitignore": ".env\n", "testdata/tls.key": "", "new/tls.key": ""}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(app, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	index := append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), make([]byte, 62)...)
	index = append(append(index, "testdata/tls.key"...), 0, 0) // to a multiple of eight bytes
	if err := os.WriteFile(filepath.Join(app, ".git", "index"), index, 0o600); err != nil {
		t.Fatal(err)
	}
	p := preset(t, "developer")
	judged := func(line string) sayso.Verdict {
		c := bash(t, line)
		c.Cwd = app
		return p.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: root, Roots: p.Roots(), Policy: p.Version()}))
	}
	for line, want := range map[string]sayso.Effect{
		"git add conf src a.go": sayso.Allow, "git add conf testdata && git commit -m x": sayso.Allow, "git add .": sayso.Ask, "git add -A": sayso.Ask, "git add new": sayso.Ask, "git stash -u": sayso.Ask,
		"git add -f conf": sayso.Ask, "git stash -a": sayso.Ask, "grep -r x conf": sayso.Ask, "git add conf && grep -r x conf": sayso.Ask, "echo '!.env' > conf/.gitignore && git add conf": sayso.Ask, "cd conf && git init && git add .": sayso.Ask,
	} {
		if v := judged(line); v.Effect != want {
			t.Errorf("%s: %s by %q, want %s", line, v.Effect, v.Rule, want)
		}
	}
	if err := os.RemoveAll(filepath.Join(app, "new")); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"git add .", "git add -A && git commit -m 'x'", "git add --all", "git stash -u", "cd src && git add -A", "mkdir -p x && echo y > x/y.go && git add -A"} {
		if v := judged(line); v.Effect != sayso.Allow {
			t.Errorf("%s: %s by %q", line, v.Effect, v.Rule)
		}
	}
	// Here nothing runs unasked but what this is about: files that say what is ignored go
	// away, or are as they were before.
	p = load(t, rules(`allow: ["bash:*"]`, "ask: bash\n    when: call.secrets\n    name: secrets"))
	for line, want := range map[string]sayso.Effect{
		"git add .": sayso.Allow, "git stash list && git add .": sayso.Allow, "git status && git add .": sayso.Allow, "git commit -m x && git add .": sayso.Allow,
		"git rm -f .gitignore && git add .": sayso.Ask, "git rm -q ':/.git*'; git add .": sayso.Ask, "git clean -fd && git add .": sayso.Ask, "git stash && git add .": sayso.Ask, "git stash push -m list && git add -A": sayso.Ask,
		"git checkout-index -fa && git add .": sayso.Ask, "git sparse-checkout set src && git add .": sayso.Ask, "git bisect start HEAD HEAD~9 && git add .": sayso.Ask, "rm -rf .git; git add .": sayso.Ask, "mv ./.git x; git add .": sayso.Ask,
		"git stash pop && git add .": sayso.Ask, "git checkout main && git add .": sayso.Ask, "rm .gitignore && git add .": sayso.Ask,
	} {
		if v := judged(line); v.Effect != want {
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
		for _, line := range []string{"grep -rn SECRET .", "rg --hidden SECRET", "grep -rn --include='.env*' x src", "grep -r x conf",
			"grep -r --exclude=zzz --include='*.go' KEY .", "rg -l --hidden --json KEY", "rg -c --hidden --json KEY", "rg --hidden -g '' KEY", "diff -N conf e", "diff conf e", "diff -rN src conf", "git diff --no-index src conf", "git stash show -p -u", "git add -f .", "git grep --un KEY",
			"find conf -type f -print0 | sort --files0-from=-", "sort --files0-from=list0", "tar cf - -T list", "zip -@ a.zip < list", "tar -cf a --add-file=conf", "zcat -fr conf", "gzip -cfr conf", "gzip -r conf", "ag -f KEY", "ag -uf KEY"} {
			if v := judged(line); v.Effect == sayso.Allow {
				t.Errorf("%s: %s: %s by %q", name, line, v.Effect, v.Rule)
			}
		}
		if name == "developer" && plain.Effect != sayso.Allow {
			t.Errorf("%s: a search of sources: %s by %q", name, plain.Effect, plain.Rule)
		}
	}
}
