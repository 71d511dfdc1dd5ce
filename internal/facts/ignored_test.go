package facts_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/facts"
)

// files writes files into a folder, by name.
func files(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// git runs the real one, without the settings of whoever runs the test.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// untracked are the files of secrets of which the facts of a line say that git would
// take them in.
func untracked(t *testing.T, app, line string) (out []string) {
	t.Helper()
	f := facts.Gather(t.Context(), call(t, app, "bash", obj{"command": line}), facts.Options{Home: filepath.Dir(app)})
	for _, tree := range f.Trees {
		if tree.Untracked {
			out = append(out, tree.Secrets...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What git itself would add is what the facts name, whatever the files say that it is to
// ignore. Of what they say in more than letters and stars too much may be named, and
// never too little.
func TestGather_untrackedAsGit(t *testing.T) {
	names := map[string]string{
		".env": "", "a/.env": "", "a/b/.env": "", "a/b/c/x.key": "", "build/.env": "", "build/x/y.pem": "", "src/build/.env": "", "conf/.env.local": "", "conf/.env.example": "", "d e/.env": "", "é/.env": "", "x.pem": "",
	}
	for _, tt := range []struct {
		ignore map[string]string
		more   bool // may be named than git adds
	}{
		{ignore: map[string]string{}},
		{ignore: map[string]string{".gitignore": ".env\n"}},
		{ignore: map[string]string{".gitignore": "/.env\r\n"}},
		{ignore: map[string]string{".gitignore": ".env*\n*.pem  \n# build\n\n"}},
		{ignore: map[string]string{".gitignore": "\ufeff.env\n"}, more: true},
		{ignore: map[string]string{".gitignore": "build/\n"}},
		{ignore: map[string]string{".gitignore": "/build\n.env/\n"}},
		{ignore: map[string]string{".gitignore": "a/b/\n"}},
		{ignore: map[string]string{".gitignore": "a/*\n!a/b\n"}},
		{ignore: map[string]string{".gitignore": "a/\n!a/b/.env\n"}},
		{ignore: map[string]string{".gitignore": "a/**\n**/conf/.env.local\nsrc/**/.env\n"}},
		{ignore: map[string]string{".gitignore": "a/**/x.key\n**/.env\n"}},
		{ignore: map[string]string{".gitignore": ".env\n", "a/.gitignore": "!.env\n"}},
		{ignore: map[string]string{".gitignore": ".env\n!.env\n"}},
		{ignore: map[string]string{".gitignore": "!.env\n.env\n"}},
		{ignore: map[string]string{"a/.gitignore": "b\n", "a/b/.gitignore": "!*\n"}},
		{ignore: map[string]string{"a/b/.gitignore": "/c/x.key\n", "conf/.gitignore": "*\n"}},
		{ignore: map[string]string{".git/info/exclude": ".env\n", "a/.gitignore": "!.env\n"}},
		{ignore: map[string]string{".gitignore": "*\n"}},
		{ignore: map[string]string{".gitignore": "d e/\n"}},
		{ignore: map[string]string{".gitignore": "é\n"}, more: true},
		{ignore: map[string]string{".gitignore": ".env\n!.env\x00z\n"}},
		{ignore: map[string]string{".gitignore": ".env\n!.ENV\n"}, more: true},     // where case is none
		{ignore: map[string]string{".gitignore": ".env\n!{.env,x}\n"}, more: true}, // as ripgrep reads it
		{ignore: map[string]string{".gitignore": ".env\n!.env\u00a0\n"}, more: true},
		{ignore: map[string]string{".gitignore": ".env\n!.env\r\r\n"}, more: true},
		{ignore: map[string]string{".gitignore": "{.env,x}\n"}},
		{ignore: map[string]string{".gitignore": ".env\n", "a/.git/config": ""}, more: true}, // which is no repository
		{ignore: map[string]string{".gitignore": " .env\n.env \n"}},
		{ignore: map[string]string{".gitignore": "/\n//\n!\n#.env\n\\#x\n"}},
		{ignore: map[string]string{".gitignore": ".[e]nv\n"}, more: true},
		{ignore: map[string]string{".gitignore": ".en?\n"}, more: true},
		{ignore: map[string]string{".gitignore": ".e\\nv\n"}, more: true},
		{ignore: map[string]string{".gitignore": ".env\n!.[e]nv\n"}},
		{ignore: map[string]string{".gitignore": ".env\n!?env\n"}},
		{ignore: map[string]string{".gitignore": ".env\n!\\.env\n"}},
		{ignore: map[string]string{".gitignore": ".env\n!**\n"}, more: true},
		{ignore: map[string]string{".gitignore": "a**\n"}, more: true},
		{ignore: map[string]string{".gitignore": ".env\n", ".ignore": "!.env\n"}, more: true}, // ripgrep reads it
		{ignore: map[string]string{".gitignore": strings.Repeat("# much\n", 10_000) + ".env\n"}, more: true},
	} {
		app := place(t) + "/app"
		if err := os.RemoveAll(app); err != nil {
			t.Fatal(err)
		}
		files(t, app, names)
		git(t, app, "init", "-q")
		files(t, app, tt.ignore)
		var want []string
		for name := range strings.SplitSeq(git(t, app, "ls-files", "-z", "--others", "--exclude-standard"), "\x00") {
			if _, secret := names[name]; secret && name != "conf/.env.example" {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		got := untracked(t, app, "git add .")
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%q: git adds %s, which nobody was told of; it is %q", tt.ignore, name, got)
			}
		}
		if !tt.more && !slices.Equal(got, want) {
			t.Errorf("%q: named are %q, and git adds %q", tt.ignore, got, want)
		}
	}
}

// Whatever stands in such files, also where some readers take it for something else than
// others: what git adds, or ripgrep shows, is named.
func TestGather_untrackedNeverTooLittle(t *testing.T) {
	rg, _ := exec.LookPath("rg") // not on every machine
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	files(t, app, map[string]string{".env": "", "a/.env": "", "a/b/.env": "", "build/.env": "", "x.pem": ""})
	pieces := []string{".env", "*", "**", "/", "!", "a", "b", "build", "\n", "\n", "\n!", "\n/", "\r\n", "\r\r\n", "\x00", "\u00a0", "\ufeff", " ", "\t", "{", ",", "}", "[", "]", "?", "\\", "#", ".ENV", "*.pem", "A/", "x", ".e*"}
	luck := rand.New(rand.NewPCG(20, 26))
	for range 150 {
		text := ".env\n"
		for range 1 + luck.IntN(8) {
			text += pieces[luck.IntN(len(pieces))]
		}
		files(t, app, map[string]string{[]string{".gitignore", "a/.gitignore", ".git/info/exclude"}[luck.IntN(3)]: text})
		seen := git(t, app, "ls-files", "-z", "--others", "--exclude-standard") + git(t, app, "-c", "core.ignorecase=true", "ls-files", "-z", "--others", "--exclude-standard")
		if rg != "" {
			c := exec.CommandContext(t.Context(), rg, "--files", "--hidden", "-0", "--glob", "!.git")
			c.Dir = app
			out, _ := c.Output() // an error says that there are none
			seen += string(out)
		}
		got := untracked(t, app, "git add .")
		for name := range strings.SplitSeq(seen, "\x00") {
			if base := filepath.Base(name); (base == ".env" || base == "x.pem") && !slices.Contains(got, name) {
				t.Fatalf("%q: %s is not named: %q", text, name, got)
			}
		}
	}
}

// What git has already it does not take in. Its list is read in each form that it has.
func TestGather_untrackedOnly(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		app := place(t) + "/app"
		git(t, app, "init", "-q")
		files(t, app, map[string]string{"a/.env": "", "a/.env.local": "", "a/b.go": "", "a/k.pem": "", "conf/.env": "", "very/long/name/of/a/folder/for/the/list/x.key": "", "z": ""})
		git(t, app, "add", "a/.env", "a/b.go", "very", "z")
		git(t, app, "add", "-N", "conf/.env")
		git(t, app, "update-index", "--index-version", version)
		if got := untracked(t, app, "git add -A"); !slices.Equal(got, []string{"a/.env.local", "a/k.pem", "conf/.env"}) {
			t.Errorf("version %s: %q", version, got)
		}
		// From another folder, and a second work tree, which has a list of its own.
		if got := untracked(t, app+"/a", "git add -A"); !slices.Equal(got, []string{"a/.env.local", "a/k.pem", "conf/.env"}) {
			t.Errorf("version %s, in a folder: %q", version, got)
		}
		git(t, app, "commit", "-qm", "x", "--", "a/.env")
		git(t, app, "worktree", "add", "-q", app+"/tree")
		files(t, app+"/tree", map[string]string{"new/.env": ""})
		if got := untracked(t, app+"/tree", "git add -A"); !slices.Equal(got, []string{"new/.env"}) {
			t.Errorf("version %s, a second work tree: %q", version, got)
		}
	}
	// Nothing is taken for a list that is none.
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	files(t, app, map[string]string{".env": ""})
	git(t, app, "add", ".env")
	index, err := os.ReadFile(app + "/.git/index")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 8, 12, 40, 75, 80} {
		files(t, app, map[string]string{".git/index": string(index[:n])})
		if got := untracked(t, app, "git add -A"); !slices.Equal(got, []string{".env"}) {
			t.Errorf("%d bytes of the list: %q", n, got)
		}
	}
}

// A list of a few bytes may have names that take minutes to look at, since each begins like the
// one before it: of such a one nothing is believed. What was read once is not read again.
func TestGather_untrackedLongNames(t *testing.T) {
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	files(t, app, map[string]string{".env": "", "a/x": "", "b/x": ""})
	for count, want := range map[int][]string{100: nil, 10_000: nil, 20_000: {".env"}} {
		files(t, app, map[string]string{".git/index": longNames(count)})
		if got := untracked(t, app, "git add a && git add b && git add ."); !slices.Equal(got, want) {
			t.Errorf("%d names: %q, want %q", count, got, want)
		}
	}
}

// longNames is an index with .env and names each of which is a letter longer than the one before.
func longNames(count int) string {
	fixed := strings.Repeat("\x00", 62)
	index := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x04"), uint32(count+1))
	index = append(index, fixed+"\x00.env\x00"+fixed+"\x04a\x00"...)
	return string(index) + strings.Repeat(fixed+"\x00a\x00", count-1)
}

// A line that makes a repository, or changes what is ignored, before it adds: what the
// disk says before any of it ran is not believed.
func TestGather_untrackedAfterChanges(t *testing.T) {
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	files(t, app, map[string]string{".gitignore": ".env\n", "conf/.env": "", "conf/x.pem": "", "t/.x": "", "a.go": ""})
	git(t, app, "add", "conf/x.pem")
	for line, want := range map[string][]string{
		"git add .":                                     nil,
		"git add -A && git commit -m init":              nil,
		"git add -A; git commit -qam 'config'":          nil,
		"echo x >> a.go && git add -A":                  nil,
		"cp a.go b.go && mv b.go c.go; git add .":       nil,
		"git status && git add -A":                      nil,
		"cat .gitignore && git add -A":                  nil,
		"git switch -c x && git add .":                  {"conf/.env"},
		"cd conf && git init -q && git add .":           {".env", "x.pem"},
		"git init conf; git -C conf add -A":             {"conf/.env", "conf/x.pem"},
		"git clone x conf/y; cd conf && git add -A":     {"conf/.env", "conf/x.pem"},
		"git worktree add ../y && git add .":            {"conf/.env"},
		"cd conf && git worktree list && git stash -u":  {"conf/.env"},
		"git submodule update --init && git add .":      {"conf/.env"},
		"git -C init switch x && git add .":             {"conf/.env", "conf/x.pem"},
		"git lfs checkout && git add .":                 {"conf/.env"},
		"git rm .gitignore; git add -A":                 {"conf/.env"},
		"git frobnicate && git add -A":                  {"conf/.env"},
		"git log && git diff && git add -A && git push": nil,
		": > .gitignore && git add .":                   {"conf/.env"},
		"echo '!.env' >> .gitignore; git add -A":        {"conf/.env"},
		"echo '!.env' > conf/.gitignore; git add conf":  {".env"},
		"sed -i s/env/x/ .gitignore; git add .":         {"conf/.env"},
		"sed -i s/env/x/ .g*; git add .":                {"conf/.env"},
		"mv .gitignore x; git add .":                    {"conf/.env"},
		"cp -r t/. . && git add .":                      {"conf/.env"},
		"tar xf a.tar && git add .":                     {"conf/.env"},
		"git stash pop; git add .":                      {"conf/.env"},
		"git -C . checkout x; git add .":                {"conf/.env"},
		"tee .gitignore < a.go; git add :/":             {"conf/.env"},
	} {
		if got := untracked(t, app, line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// A repository may come with so much to ignore that to look through it would hold up its
// agents for minutes: then nobody knows what lies there, which is asked about.
func TestGather_untrackedTooManyRules(t *testing.T) {
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	names := map[string]string{}
	for i := range 400 {
		names["d"+strconv.Itoa(i)+strings.Repeat("a", 60)+"/x"] = ""
	}
	files(t, app, names)
	for text, cut := range map[string]bool{
		strings.Repeat("/a/**/b\n", 100):      false,
		strings.Repeat("/a/**/b/*c\n", 1_000): false,
		strings.Repeat("!a\n", 20_000):        true,
		strings.Repeat("b*\n", 16_000):        true,
		strings.Repeat("*a", 32_000):          true, // one, of which each look takes long
	} {
		files(t, app, map[string]string{".gitignore": text})
		if got := takenInCut(t, app); got != cut {
			t.Errorf("%.20q: cut %v, want %v", text, got, cut)
		}
	}
	for name := range names { // each has a file that says nothing, at length
		names[strings.TrimSuffix(name, "x")+".gitignore"] = strings.Repeat("# \n", 20_000)
	}
	names[".gitignore"] = ""
	files(t, app, names)
	if !takenInCut(t, app) {
		t.Error("files that say what is ignored are read, however many")
	}
}

// Nor do rules of the folders above, each of which has some, or paths that are deep.
func TestGather_untrackedFarBelow(t *testing.T) {
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	deep := strings.Repeat("a/", 100)
	files(t, app, map[string]string{".gitignore": "/**/b/**/c\n", deep + "x": ""})
	if takenInCut(t, app+"/"+strings.TrimSuffix(deep, "/")) {
		t.Error("it is not looked at, though there is little")
	}
	files(t, app, map[string]string{".gitignore": strings.Repeat("/**/a/**/c\n", 2_000)})
	if !takenInCut(t, app) {
		t.Error("what is deep is looked at, however many rules take long for it")
	}
	for i := range 40 {
		files(t, app, map[string]string{deep[:2*i] + ".gitignore": strings.Repeat("!a\n", 20_000)})
	}
	if !takenInCut(t, app+"/"+strings.TrimSuffix(deep, "/")) {
		t.Error("all rules above are read, however many")
	}
}

// takenInCut reports whether nobody knows what git would take in in a folder.
func takenInCut(t *testing.T, dir string) bool {
	t.Helper()
	f := facts.Gather(t.Context(), call(t, dir, "bash", obj{"command": "git add ."}), facts.Options{Home: filepath.Dir(dir)})
	return len(f.Trees) == 1 && f.Trees[0].Cut
}

// A folder that only looks like the one of a repository is none for git, which goes on
// to the one above.
func TestGather_untrackedNoRepository(t *testing.T) {
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	files(t, app, map[string]string{"x.key": "", "sub/.git/x": "", "sub/a.go": ""})
	if got := untracked(t, app+"/sub", "git add -A"); !slices.Equal(got, []string{"x.key"}) {
		t.Errorf("%q", got)
	}
}

// Of what may be one for git, or not, nothing is believed: neither what it ignores nor what it has.
func TestGather_untrackedOddRepository(t *testing.T) {
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	files(t, app, map[string]string{".gitignore": ".env\n", "real/.gitignore": ".env\n", "real/.env": ""})
	git(t, app+"/real", "init", "-q")
	exclude := map[string]string{".git/info/exclude": ".env\n", ".env": ""}
	for name, holds := range map[string]map[string]string{
		"empty":     {".git/HEAD": ""},
		"no words":  {".git/HEAD": "main\n", ".git/objects/x": "", ".git/refs/x": ""},
		"no folder": {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/x": ""},
		"no refs":   {".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": ""},
	} {
		files(t, app+"/"+name, exclude)
		files(t, app+"/"+name, holds)
		if got := untracked(t, app+"/"+name, "git add ."); !slices.Equal(got, []string{".env"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	for to, want := range map[string][]string{"real": nil, "nowhere": {".env"}} {
		at := app + "/to " + to
		files(t, at, map[string]string{".gitignore": ".env\n", ".env": ""})
		if err := os.Symlink("../"+to+"/.git", at+"/.git"); err != nil {
			t.Fatal(err)
		}
		if got := untracked(t, at, "git add ."); !slices.Equal(got, want) {
			t.Errorf("a link to %s: %q, want %q", to, got, want)
		}
	}
}

// A file that says what is ignored may be in git's list alone, where git reads it.
func TestGather_untrackedSkipped(t *testing.T) {
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	files(t, app, map[string]string{".gitignore": ".env\n", "sub/.gitignore": "!.env\n", "sub/.env": "", "sub/a.go": ""})
	git(t, app, "add", ".gitignore", "sub/.gitignore", "sub/a.go")
	git(t, app, "update-index", "--skip-worktree", "sub/a.go")
	if err := os.Remove(app + "/sub/.gitignore"); err != nil {
		t.Fatal(err)
	}
	if got := untracked(t, app, "git add ."); got != nil {
		t.Errorf("%q, where another file is left out", got)
	}
	git(t, app, "update-index", "--skip-worktree", "sub/.gitignore")
	if got := git(t, app, "add", "--dry-run", "."); !strings.Contains(got, "sub/.env") {
		t.Fatalf("git adds %s", got)
	}
	if got := untracked(t, app, "git add ."); !slices.Equal(got, []string{"sub/.env"}) {
		t.Errorf("%q", got)
	}
	index, err := os.ReadFile(app + "/.git/index")
	if err != nil {
		t.Fatal(err)
	}
	files(t, app, map[string]string{".git/index": string(index[:90])})
	if got := untracked(t, app, "git add ."); !slices.Equal(got, []string{"sub/.env"}) {
		t.Errorf("%q of a list that cannot be read", got)
	}
}

// Nor does git look at what marks folders that can be made again.
func TestGather_untrackedMarked(t *testing.T) {
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	files(t, app, map[string]string{"target/CACHEDIR.TAG": "", "target/.env": ""})
	if got := untracked(t, app, "git add ."); !slices.Equal(got, []string{"target/.env"}) {
		t.Errorf("%q", got)
	}
}

// Some readers go where a link leads, and some do not.
func TestGather_untrackedByALink(t *testing.T) {
	app := place(t) + "/app"
	git(t, app, "init", "-q")
	files(t, app, map[string]string{"ignored": ".env\n", "conf/.env": ""})
	if err := os.Symlink("ignored", app+"/.gitignore"); err != nil {
		t.Fatal(err)
	}
	if got := untracked(t, app, "git add ."); !slices.Equal(got, []string{"conf/.env"}) {
		t.Errorf("%q", got)
	}
}
