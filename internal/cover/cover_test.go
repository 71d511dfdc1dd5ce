package cover_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/cover"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// of is a call of a tool in the workspace /ws.
func of(t testing.TB, tool string, args map[string]any, change ...func(*cover.Subject)) *cover.Subject {
	t.Helper()
	text, err := jcs.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	s := &cover.Subject{Call: sayso.Call{Tool: tool, Args: text, Cwd: "/ws/app", Session: "s1"}}
	s.Facts = sayso.Facts{Workspace: "/ws", Cwd: "/ws/app"}
	for _, c := range change {
		c(s)
	}
	if s.Digest, err = s.Call.Digest(); err != nil {
		t.Fatal(err)
	}
	return s
}

func bash(t testing.TB, command string, change ...func(*cover.Subject)) *cover.Subject {
	t.Helper()
	return of(t, "bash", map[string]any{"command": command}, change...)
}

// file is a call about a file, which leads to a place.
func file(t testing.TB, tool, at string, change ...func(*cover.Subject)) *cover.Subject {
	t.Helper()
	leads := func(s *cover.Subject) {
		s.Facts.Operands = []sayso.PathFact{{Arg: "path", Path: at, Resolved: at, State: sayso.PathFile, Links: 1}}
	}
	return of(t, tool, map[string]any{"path": at, "content": "x"}, append([]func(*cover.Subject){leads}, change...)...)
}

func fetch(t testing.TB, url string) *cover.Subject {
	t.Helper()
	return of(t, "web-fetch", map[string]any{"url": url})
}

func danger(d sayso.Danger) func(*cover.Subject) {
	return func(s *cover.Subject) { s.Danger = []sayso.Danger{d} }
}

// shown are the covers with their patterns, one a line.
func shown(ways []cover.Way) (out []string) {
	for _, w := range ways {
		text := string(w.Offer.Cover)
		if w.Offer.Pattern != "" {
			text += " " + w.Offer.Pattern
		}
		out = append(out, text)
	}
	return out
}

func TestGR3_whatIsOffered(t *testing.T) {
	call := []string{"call"}
	for _, c := range []struct {
		name string
		s    *cover.Subject
		want []string
	}{
		// Commands.
		{"a command that looks", bash(t, "git status -s"), []string{"call", "prefix bash:git status*", "tool bash"}},
		{"a command that changes files", bash(t, "git add ."), []string{"call", "prefix bash:git add*", "tool bash"}},
		{"quoted words", bash(t, `git commit -m "two words"`), []string{"call", "prefix bash:git commit*", "tool bash"}},
		{"a program that builds", bash(t, "go test ./..."), []string{"call", "prefix bash:go test*"}},
		{"streams that go nowhere", bash(t, "go vet ./... 2>&1 >/dev/null"), []string{"call", "prefix bash:go vet*"}},
		{"a glob", bash(t, "wc -l *.go"), []string{"call", "prefix bash:wc*", "tool bash"}},

		{"a wrapper", bash(t, "timeout 5 git status"), call},
		{"a wrapper within a wrapper", bash(t, "env -i nice git status"), call},
		{"sudo", bash(t, "sudo git status"), call},
		{"find that runs something", bash(t, "find . -exec cat {} +"), call},
		{"an interpreter", bash(t, "python3 build.py"), call},
		{"a shell", bash(t, "bash -c 'git status'"), call},
		{"a script by its path", bash(t, "./build.sh"), call},
		{"a program by its path", bash(t, "/usr/bin/git status"), call},
		{"a program that nobody knows", bash(t, "frobnicate x"), call},
		{"a package script", bash(t, "npm test"), call},
		{"settings that name programs", bash(t, "git config core.pager x"), call},
		{"an option that runs a program", bash(t, "go test -exec x ./..."), call},
		{"an option that writes a file", bash(t, "git diff --output=x"), call},
		{"an option that edits in place", bash(t, "sed -i s/a/b/ x"), call},
		{"a program that writes what it is told", bash(t, "tee x"), call},
		{"a program that deletes", bash(t, "rm x"), call},
		{"another folder", bash(t, "git -C /elsewhere status"), call},
		{"a variable", bash(t, "git status $x"), call},
		{"a variable for a program", bash(t, "$x status"), call},
		{"a substitution", bash(t, "git show $(cat x)"), call},
		{"a tilde", bash(t, "cat ~/x"), call},
		{"a redirection", bash(t, "git status > x"), call},
		{"a redirection from a file", bash(t, "git apply < x"), call},
		{"a here-document", bash(t, "cat <<E\nx\nE"), call},
		{"an assignment", bash(t, "LANG=C git status"), call},
		{"two commands", bash(t, "git status && git add ."), call},
		{"a pipe", bash(t, "git log | cat"), call},
		{"the background", bash(t, "git status &"), call},
		{"a subshell", bash(t, "(cd x; git status)"), call},
		{"a function", bash(t, "f() { git status; }; f"), call},
		{"no command", bash(t, "# nothing"), call},
		{"no bash", bash(t, "git status ("), call},
		{"a control character", bash(t, "git status\r"), call},
		{"out of the workspace", bash(t, "cat /etc/passwd"), call},
		{"out of the workspace by dots", bash(t, "cat ../../etc/passwd"), call},
		{"out of the workspace by dots alone", bash(t, "ls .."), call},
		{"out of the workspace behind options", bash(t, "grep -nf/etc/passwd x"), call},
		{"to a parent behind options", bash(t, "grep -nf../x x"), call},
		{"to a parent in a part of a word", bash(t, "git show HEAD:../x"), call},
		{"two dots in a name", bash(t, "cat ..A../x"), []string{"call", "prefix bash:cat*", "tool bash"}},
		{"two dots between names", bash(t, "git log v1..v2"), []string{"call", "prefix bash:git log*", "tool bash"}},
		{"a file of secrets", bash(t, "cat .env"), call},
		{"files of secrets by a glob", bash(t, "cat .e*"), call},
		{"files of keys by a glob", bash(t, "cat *.pem"), call},
		{"a control file", bash(t, "cat .git/hooks/pre-commit"), call},
		{"something dangerous", bash(t, "git status", danger(sayso.DangerNetwork)), call},
		{"no command at all", of(t, "bash", map[string]any{"command": 7}), call},
		{"a second spelling", of(t, "bash", map[string]any{"command": "git status", "Command": "rm"}), call},
		{"a call that claims to be a command", of(t, "file-read", map[string]any{"path": "x"}, func(s *cover.Subject) { s.Call.Kind = sayso.KindShell }), call},

		// Files.
		{"a read", file(t, "file-read", "/ws/app/src/a.go"), []string{"call", "directory file-read:app/src/**", "tool file-read:**", "kind kind: read"}},
		{"a write", file(t, "file-write", "/ws/a.go"), []string{"call", "directory file-write:/ws/**", "tool file-write:**", "kind kind: write"}},
		{"a read elsewhere", file(t, "file-read", "/usr/include/stdio.h"), []string{"call", "directory file-read:/usr/include/**"}},
		{"a read beside the workspace", file(t, "file-read", "/wsx/a"), []string{"call", "directory file-read:/wsx/**"}},
		{"a read in the root", file(t, "file-read", "/a"), call},
		{"a write elsewhere", file(t, "file-write", "/tmp/a", danger(sayso.DangerOutside)), call},
		{"a deletion", file(t, "file-delete", "/ws/a"), call},
		{"a control file", file(t, "file-write", "/ws/.git/hooks/x"), call},
		{"a file of secrets", file(t, "file-read", "/ws/.env"), call},
		{"a file with two names", file(t, "file-write", "/ws/a", func(s *cover.Subject) { s.Facts.Operands[0].Links = 2 }), call},
		{"a device", file(t, "file-read", "/ws/a", func(s *cover.Subject) { s.Facts.Operands[0].State = sayso.PathSpecial }), call},
		{"nobody knows where", file(t, "file-read", "/ws/a", func(s *cover.Subject) { s.Facts.Operands = nil }), call},
		{"two places", file(t, "file-read", "/ws/a", func(s *cover.Subject) {
			s.Facts.Operands = append(s.Facts.Operands, sayso.PathFact{Arg: "path", Resolved: "/ws/b", State: sayso.PathFile})
		}), call},
		{"a place that is not resolved", file(t, "file-read", "/ws/x/../a"), call},
		{"facts cut short", file(t, "file-read", "/ws/a", func(s *cover.Subject) { s.Facts.Truncated = true }), call},

		// Addresses.
		{"a page", fetch(t, "https://example.org/a?b"), []string{"call", "host web-fetch:https://example.org/*", "tool web-fetch", "kind kind: fetch"}},
		{"a page at a port", fetch(t, "http://Example.org:8080"), []string{"call", "host web-fetch:http://example.org:8080/*", "tool web-fetch", "kind kind: fetch"}},
		{"this machine", fetch(t, "http://localhost/"), call},
		{"this machine by a number", fetch(t, "http://2130706433/"), call},
		{"this network", fetch(t, "http://10.0.0.1/"), call},
		{"the address of a cloud's secrets", fetch(t, "http://169.254.169.254/"), call},
		{"a name in it", fetch(t, "https://user@example.org/"), call},
		{"another scheme", fetch(t, "file:///etc/passwd"), call},

		// Other tools.
		{"a tool of a server", of(t, "create_issue", nil, func(s *cover.Subject) { s.Call.Server = "github" }), []string{"call", "tool mcp__github__create_issue"}},
		{"a tool of its own", of(t, "deploy", nil), []string{"call", "tool deploy"}},
		{"a dangerous one", of(t, "deploy", nil, danger(sayso.DangerDelete)), call},
		{"a shell that is no bash", of(t, "PowerShell", nil, func(s *cover.Subject) { s.Call.Kind = sayso.KindShell }), call},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, shown(cover.Ways(c.s, sayso.RememberAny))); diff != "" {
				t.Errorf("offered (-want +got):\n%s", diff)
			}
			if got := shown(cover.Ways(c.s, sayso.RememberExact)); !slices.Equal(got, call) {
				t.Errorf("with remember: exact, offered %q", got)
			}
			if got := cover.Ways(c.s, sayso.RememberNever); len(got) > 0 {
				t.Errorf("with remember: never, offered %q", shown(got))
			}
		})
	}
}

// covers reports whether a grant for a, with a cover, covers b.
func covers(a, b *cover.Subject, with sayso.Cover) bool {
	ways := cover.Ways(a, sayso.RememberAny)
	i := slices.IndexFunc(ways, func(w cover.Way) bool { return w.Offer.Cover == with })
	return i >= 0 && slices.ContainsFunc(cover.Covering(b, sayso.RememberAny), func(w cover.Way) bool { return w.Key("v1") == ways[i].Key("v1") })
}

func TestGR3_whatIsCovered(t *testing.T) {
	session := func(s *cover.Subject) { s.Call.Session = "s2" }
	elsewhere := func(s *cover.Subject) { s.Facts.Workspace, s.Facts.Cwd = "/other", "/other" }
	server := func(name, definition string) func(*cover.Subject) {
		return func(s *cover.Subject) { s.Call.Server, s.Call.DefinitionDigest = name, definition }
	}
	payload := func(text string) func(*cover.Subject) {
		return func(s *cover.Subject) { s.Payload = sayso.Args(text) }
	}
	pinned := func(s *cover.Subject) {
		s.Facts.Files = []sayso.FileFact{{Path: "/ws/Makefile", Digest: sayso.HashOf("other content")}}
		s.Pins, _ = cover.Pins(s.Facts)
	}
	linked := func(s *cover.Subject) { s.Facts.Cwd = "/elsewhere" }
	for _, c := range []struct {
		name string
		with sayso.Cover
		a, b *cover.Subject
		want bool
	}{
		{"the same call", sayso.CoverCall, bash(t, "make"), bash(t, "make"), true},
		{"another call", sayso.CoverCall, bash(t, "make"), bash(t, "make "), false},
		{"the same call with other files", sayso.CoverCall, bash(t, "make"), bash(t, "make", pinned), false},

		{"the same words", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "git add b c"), true},
		{"the same words, spelled otherwise", sayso.CoverPrefix, bash(t, "git add a"), bash(t, `git "add" b`), true},
		{"other words", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "git status"), false},
		{"part of a word", sayso.CoverPrefix, bash(t, "make test"), bash(t, "make testing"), false},
		{"a wrapper before the words", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "sudo git add a"), false},
		{"an option before the words", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "git -c x=y add a"), false},
		{"another command behind", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "git add a; rm b"), false},
		{"a substitution behind", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "git add $(rm b)"), false},
		{"a redirection behind", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "git add a > b"), false},
		{"an option that runs a program", sayso.CoverPrefix, bash(t, "go test ./..."), bash(t, "go test -exec x ./..."), false},
		{"an argument whose meaning is not known", sayso.CoverPrefix, bash(t, "git add a"), of(t, "bash", map[string]any{"command": "git add b", "cwd": "/ws/x"}), false},
		{"an argument whose meaning is known", sayso.CoverPrefix, bash(t, "git add a"), of(t, "bash", map[string]any{"command": "git add b", "timeout": 5}), true},
		{"another method", sayso.CoverHost, fetch(t, "https://example.org/a"), of(t, "web-fetch", map[string]any{"url": "https://example.org/a", "method": "POST"}), false},
		{"another makefile", sayso.CoverPrefix, bash(t, "make test"), bash(t, "make test -f x"), false},
		{"another folder to make", sayso.CoverPrefix, bash(t, "make test"), bash(t, "make test -C x"), false},
		{"another build file of ant", sayso.CoverPrefix, bash(t, "ant test"), bash(t, "ant test -f x"), false},
		{"another build file of gradle", sayso.CoverPrefix, bash(t, "gradle test"), bash(t, "gradle test -b x"), false},
		{"a script of gradle", sayso.CoverPrefix, bash(t, "gradle test"), bash(t, "gradle test -Ix"), false},
		{"another project of maven", sayso.CoverPrefix, bash(t, "mvn test"), bash(t, "mvn test -f x"), false},
		{"settings of maven", sayso.CoverPrefix, bash(t, "mvn test"), bash(t, "mvn test --settings=x"), false},
		{"another Taskfile", sayso.CoverPrefix, bash(t, "task test"), bash(t, "task test -t x"), false},
		{"another build file of ninja", sayso.CoverPrefix, bash(t, "ninja test"), bash(t, "ninja test -f x"), false},
		{"another justfile", sayso.CoverPrefix, bash(t, "just test"), bash(t, "just test -f x"), false},
		{"another rakefile", sayso.CoverPrefix, bash(t, "rake test"), bash(t, "rake test -f x"), false},
		{"another goal", sayso.CoverPrefix, bash(t, "mvn test"), bash(t, "mvn test site"), false},
		{"another goal behind an option", sayso.CoverPrefix, bash(t, "make test"), bash(t, "make test -k other"), false},
		{"options that only say how", sayso.CoverPrefix, bash(t, "make test"), bash(t, "make test -k -j 4"), true},
		{"an option that writes", sayso.CoverPrefix, bash(t, "git log"), bash(t, "git log --output=x"), false},
		{"out of the workspace", sayso.CoverPrefix, bash(t, "cat a"), bash(t, "cat /etc/passwd"), false},
		{"a file of secrets", sayso.CoverPrefix, bash(t, "cat a"), bash(t, "cat .env"), false},
		{"something dangerous", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "git add b", danger(sayso.DangerDynamic)), false},
		{"another session", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "git add b", session), false},
		{"another workspace", sayso.CoverPrefix, bash(t, "git add a"), bash(t, "git add b", elsewhere), false},

		{"the same tool, a command", sayso.CoverTool, bash(t, "git add a"), bash(t, "ls"), true},
		{"the same tool, one that builds", sayso.CoverTool, bash(t, "git add a"), bash(t, "go test"), false},
		{"the same tool, one that nobody knows", sayso.CoverTool, bash(t, "git add a"), bash(t, "frobnicate"), false},

		{"the same folder", sayso.CoverDirectory, file(t, "file-write", "/ws/a/x"), file(t, "file-write", "/ws/a/y"), true},
		{"a folder below", sayso.CoverDirectory, file(t, "file-write", "/ws/a/x"), file(t, "file-write", "/ws/a/b/c/y"), true},
		{"a folder beside, by its letters", sayso.CoverDirectory, file(t, "file-write", "/ws/a/x"), file(t, "file-write", "/ws/ab/y"), false},
		{"the folder above", sayso.CoverDirectory, file(t, "file-write", "/ws/a/x"), file(t, "file-write", "/ws/y"), false},
		{"a link out of the folder", sayso.CoverDirectory, file(t, "file-write", "/ws/a/x"), file(t, "file-write", "/ws/a/y", func(s *cover.Subject) {
			s.Facts.Operands[0].Resolved = "/etc/y"
		}), false},
		{"a control file in the folder", sayso.CoverDirectory, file(t, "file-write", "/ws/x"), file(t, "file-write", "/ws/.git/config"), false},
		{"another tool in the folder", sayso.CoverDirectory, file(t, "file-read", "/ws/a/x"), file(t, "file-write", "/ws/a/x"), false},
		{"another folder, the same tool", sayso.CoverTool, file(t, "file-write", "/ws/a/x"), file(t, "file-write", "/ws/b/x"), true},
		{"out of the workspace, the same tool", sayso.CoverTool, file(t, "file-read", "/ws/a/x"), file(t, "file-read", "/usr/x"), false},
		{"another tool of the kind", sayso.CoverKind, file(t, "file-list", "/ws/a/x"), file(t, "list_files", "/ws/b"), true},
		{"another kind", sayso.CoverKind, file(t, "file-read", "/ws/a/x"), file(t, "file-write", "/ws/a/x"), false},

		{"the same host", sayso.CoverHost, fetch(t, "https://example.org/a"), fetch(t, "https://EXAMPLE.org:443/b?c"), true},
		{"a host below", sayso.CoverHost, fetch(t, "https://example.org/a"), fetch(t, "https://a.example.org/"), false},
		{"another scheme", sayso.CoverHost, fetch(t, "https://example.org/a"), fetch(t, "http://example.org/a"), false},
		{"another port", sayso.CoverHost, fetch(t, "https://example.org/a"), fetch(t, "https://example.org:8443/a"), false},
		{"a name before the host", sayso.CoverHost, fetch(t, "https://example.org/a"), fetch(t, "https://example.org@evil.example/a"), false},
		{"another host, the same tool", sayso.CoverTool, fetch(t, "https://example.org/a"), fetch(t, "https://example.com/"), true},
		{"this network, the same tool", sayso.CoverTool, fetch(t, "https://example.org/a"), fetch(t, "http://192.168.0.1/"), false},

		{"the same tool of a server", sayso.CoverTool, of(t, "x", nil, server("a", "d1")), of(t, "x", map[string]any{"y": 1}, server("a", "d1")), true},
		{"GR4: the tool defined otherwise", sayso.CoverTool, of(t, "x", nil, server("a", "d1")), of(t, "x", nil, server("a", "d2")), false},
		{"the same name at another server", sayso.CoverTool, of(t, "x", nil, server("a", "")), of(t, "x", nil, server("b", "")), false},

		{"what its tool takes for the same", sayso.CoverFingerprint, of(t, "x", map[string]any{"n": 1}, payload(`{"a":1,"b":2}`)), of(t, "x", map[string]any{"n": 2}, payload(`{"b":2, "a":1}`)), true},
		{"what it does not", sayso.CoverFingerprint, of(t, "x", nil, payload(`{"a":1}`)), of(t, "x", nil, payload(`{"a":2}`)), false},
		{"the same of another tool", sayso.CoverFingerprint, of(t, "x", nil, payload(`{"a":1}`)), of(t, "y", nil, payload(`{"a":1}`)), false},
		{"the same where the path leads elsewhere", sayso.CoverFingerprint, of(t, "x", nil, payload(`{"a":1}`)), of(t, "x", nil, payload(`{"a":1}`), linked), false},
		{"the same with other content", sayso.CoverFingerprint, of(t, "x", nil, payload(`{"a":1}`)), of(t, "x", nil, payload(`{"a":1}`), pinned), true},
		{"the same command with another script", sayso.CoverFingerprint, bash(t, "make test", payload(`{}`)), bash(t, "make test", payload(`{}`), pinned), false},
		{"GR2: a payload with a key twice", sayso.CoverFingerprint, of(t, "x", nil, payload(`{"a":1,"a":2}`)), of(t, "x", nil, payload(`{"a":1,"a":2}`)), false},
		{"the same of a command that is not plain", sayso.CoverFingerprint, bash(t, "sudo x", payload(`{}`)), bash(t, "sudo x", payload(`{}`)), false},
	} {
		t.Run(fmt.Sprintf("%s: %s", c.with, c.name), func(t *testing.T) {
			if got := covers(c.a, c.b, c.with); got != c.want {
				t.Errorf("%s, then %s: covered is %v", c.a.Call.Args, c.b.Call.Args, got)
			}
		})
	}
}

func TestGR1_keysAreOfOneVersion(t *testing.T) {
	seen := map[sayso.Digest]string{}
	for _, s := range []*cover.Subject{bash(t, "git add a"), file(t, "file-read", "/ws/a/x"), fetch(t, "https://example.org/")} {
		for _, w := range cover.Ways(s, sayso.RememberAny) {
			for _, version := range []string{"v1", "v2"} {
				name := fmt.Sprint(w.Offer, version)
				if was, twice := seen[w.Key(version)]; twice {
					t.Errorf("%s has the key of %s", name, was)
				}
				seen[w.Key(version)] = name
			}
		}
	}
}

func TestIgnores(t *testing.T) {
	for _, c := range []struct {
		args, payload string
		named, want   []string
	}{
		{`{"path":"a","content":"x"}`, `{"path":"a"}`, nil, []string{"content"}},
		{`{"path":"a","content":"x"}`, `{"path":"/ws/a","sandbox":"notes"}`, []string{"content"}, []string{"content"}},
		{`{"a":1,"b":2,"c":3}`, `{}`, []string{"c"}, []string{"c", "a", "b"}},
		{`{"a":1}`, `{"a":1}`, nil, nil},
	} {
		if diff := cmp.Diff(c.want, cover.Ignores(sayso.Args(c.args), []byte(c.payload), c.named)); diff != "" {
			t.Errorf("%s of %s (-want +got):\n%s", c.payload, c.args, diff)
		}
	}
}

// A yes to a patch is for this patch, whatever its files and whoever makes it.
func TestWays_patch(t *testing.T) {
	for _, host := range []string{"codex", "copilot", "vscode", "claude-code", "", "other"} {
		for _, text := range []string{"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n", "no patch"} {
			s := of(t, "apply_patch", map[string]any{"command": text, "input": text}, func(s *cover.Subject) {
				s.Call.Host = host
				s.Facts.Operands = []sayso.PathFact{{Arg: s.Call.Known().Primary, Path: "a", Resolved: "/ws/app/a", State: sayso.PathMissing}}
			})
			for _, ways := range [][]cover.Way{cover.Ways(s, sayso.RememberAny), cover.Covering(s, sayso.RememberAny)} {
				if len(ways) != 1 || ways[0].Offer.Cover != sayso.CoverCall {
					t.Errorf("%q: %+v", host, ways)
				}
			}
		}
	}
}
