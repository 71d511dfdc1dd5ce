package shell_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/inspect/shell"
)

func TestTables(t *testing.T) {
	names, mistakes := shell.ReadTables()
	for _, m := range mistakes {
		t.Error(m)
	}
	if len(names) < 1000 {
		t.Errorf("the tables have %d names; is a file missing?", len(names))
	}
	files, err := os.ReadDir("programs")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".txt") {
			continue
		}
		text, err := os.ReadFile("programs/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			head, whole, ok := strings.Cut(line, ": ")
			switch {
			case !ok || line[0] == ' ' || line[0] == '#':
				continue
			case slices.Contains([]string{"", "responses", "fetches", "listed", "listed posix"}, strings.Trim(whole, " \n")):
				continue // it adds to another
			}
			for name := range strings.SplitSeq(head, ", ") {
				if other, twice := seen[name]; twice {
					t.Errorf("%s is in %s and in %s", name, other, f.Name())
				}
				seen[name] = f.Name()
			}
		}
	}
}

func TestSH4_fits(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          shell.Fit
	}{
		{"rm", "rm x", shell.Yes},
		{"rm", "/bin/rm x", shell.Yes},
		{"rm", "./rm", shell.Yes},
		{"rm", "rmdir x", shell.No},
		{"rm", "echo rm", shell.No},
		{"git push", "git push origin", shell.Yes},
		{"git push", "git -C x push", shell.Yes},
		{"git push", "git -Cx push", shell.Yes},
		{"git push", "git --git-dir=x --no-pager push", shell.Yes},
		{"git push", "git --unheard-of x push", shell.Perhaps},
		{"git push", "git log push", shell.No},
		{"git push", "git --no-pager log push", shell.No},
		{"git push", "git log --grep push", shell.No},
		{"git push", "git $x", shell.Perhaps},
		{"git push", "git $x push", shell.Perhaps},
		{"git push", "git", shell.No},
		{"git reset --hard", "git reset -q --hard", shell.Yes},
		{"git reset --hard", "git reset HEAD~1 --hard", shell.Yes},
		{"git reset --hard", "git reset --har", shell.Perhaps},
		{"git reset --hard", "git reset --soft", shell.No},
		{"git reset --hard", "git reset -- --hard", shell.No},
		{"git reset --hard", "git --hard reset", shell.Yes},
		{"rm -rf", "rm -rf x", shell.Yes},
		{"rm -rf", "rm -r -f x", shell.Perhaps},
		{"rm -rf", "rm -fr x", shell.Perhaps},
		{"rm -rf", "rm -frv x", shell.Perhaps},
		{"rm -rf", "rm -r x", shell.No},
		{"rm -rf", "rm x -rf", shell.Yes},
		{"git push --force", "git push --force=x origin", shell.Yes},
		{"git push --force", "git push --force-with-lease", shell.No},
		{"kubectl delete", "kubectl -n prod delete pod x", shell.Yes},
		{"kubectl delete", "kubectl --namespace=prod delete", shell.Yes},
		{"docker system prune", "docker -H tcp://x system -f prune", shell.Yes},
		{"npm publish", "npm --prefix x publish", shell.Yes},
		{"git reset --hard", "git reset --h", shell.Perhaps},
		{"git reset --hard", "git reset --", shell.No},
	}
	for _, tt := range tests {
		c := shell.Inspect(tt.text).Commands[0]
		if got := c.Fits(strings.Fields(tt.pattern), nil); got != tt.want {
			t.Errorf("%q with %q: got %v, want %v", tt.pattern, tt.text, got, tt.want)
		}
	}
}

// TestSH3_globs: a glob that may stand for a word of the pattern may be it.
func TestSH3_globs(t *testing.T) {
	tests := []struct {
		pattern string
		perhaps []string
		no      []string
	}{
		{"git push", []string{"git pus?", "git p[u]sh", "git [o-q]ush", "git [!x]ush", "git [[:alpha:]]ush", "git pu*", "git *", "git *sh", "git -C . pus?", "git -C * origin", "git {pus?,x}", "git p[]u]sh", "git 'p'us? origin", "git ????"},
			[]string{"git add *.go", "git ???", "git [a-c]ush", "git 'pus?'", `git pus\?`, "git x/*", "git add push*"}},
		{"git reset --hard", []string{"git reset --har?", "git reset --h*", "git reset *", "git reset ??ha?", "git rese? --hard", "git reset ?-ha"}, []string{"git reset *.go", "git reset -- *", "git reset x*"}},
		{"rm -rf", []string{"rm *", "rm -r?", "rm -?f", "rm ?fr", "rm -[rf][rf] x"}, []string{"rm *.o", "rm x*", "rm -- *", "rm build/*"}},
		{"grep --file", []string{"grep --fi?e=x"}, []string{"grep -r x --include=*.go", "grep x *.go"}},
		{"cat secret.txt", []string{"cat secre?.txt", "cat [s]ecret.txt", "cat *.txt", "cat *"}, []string{"cat *.go", "cat docs/*", "cat a*.txt"}},
	}
	for _, tt := range tests {
		for want, lines := range map[shell.Fit][]string{shell.Perhaps: tt.perhaps, shell.No: tt.no} {
			for _, line := range lines {
				c := shell.Inspect(line).Commands[0]
				if got := c.Fits(strings.Fields(tt.pattern), nil); got != want {
					t.Errorf("%q with %q: got %v, want %v", tt.pattern, line, got, want)
				}
			}
		}
	}
}

func TestSH4_begins(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"git status", "git status -s", true},
		{"git status", "git 'status'", true},
		{"git status", "git {status,-s}", true},
		{"git status", "git statusx", false},
		{"git status", "gitstatus", false},
		{"git status", "git", false},
		{"git status", "git -C x status", false},
		{"git status", "git $x", false},
		{"git status", "git stat*", false},
		{"git", "{git,status}", false},
		{"ls", "./ls", false},
		{"ls", "/bin/ls", false},
		{"ls", "$x ls", false},
		{"ls", "LS", false},
		{"ls", "ls $x", true},
	}
	for _, tt := range tests {
		c := shell.Inspect(tt.text).Commands[0]
		if got := c.Begins(strings.Fields(tt.pattern), nil); got != tt.want {
			t.Errorf("%q with %q: got %v, want %v", tt.pattern, tt.text, got, tt.want)
		}
	}
}

func TestSH6_wrappers(t *testing.T) {
	tests := []struct {
		text string
		want []string // the commands behind the first
	}{
		{"sudo rm x", []string{"rm x"}},
		{"sudo -u root -nE A=b rm x", []string{"rm x"}},
		{"sudo --user=root -- rm x", []string{"rm x"}},
		{"sudo --us root rm x", []string{"rm x"}},
		{"sudo -h host rm x", []string{"host rm x", "rm x"}},
		{"sudo --what rm x", []string{"rm x", "x"}},
		{"sudo env -i A=b nice -n 5 timeout -k 1 2 rm x", []string{"env -i A=b nice -n 5 timeout -k 1 2 rm x", "nice -n 5 timeout -k 1 2 rm x", "timeout -k 1 2 rm x", "rm x"}},
		{"doas -u root rm x", []string{"rm x"}},
		{"su root -c 'rm x'", []string{"rm x"}},
		{"su -c 'rm x' root", []string{"rm x"}},
		{"su - -lc 'rm x'", []string{"rm x"}},
		{"runuser -u nobody -- rm x", []string{"rm x"}},
		{"env -S 'rm -rf' x", []string{"rm -rf x"}},
		{"env -iS'rm x'", []string{"rm x"}},
		{"env --split-string='A=b rm \"a b\" ${X}' y", []string{"rm ‹a b› {variable} y"}},
		{"env -S '-S \"rm x\"'", []string{"rm x"}},
		{"env -u X -C dir A=b rm x", []string{"rm x"}},
		{"env - PATH=x rm", []string{"rm"}},
		{"env", nil},
		{"nohup rm x", []string{"rm x"}},
		{"nice -10 rm x", []string{"rm x"}},
		{"nice --adjustment=10 rm x", []string{"rm x"}},
		{"ionice -c2 -n 7 rm x", []string{"rm x"}},
		{"timeout 5 rm x", []string{"rm x"}},
		{"timeout --signal=KILL -k 5s 10s rm x", []string{"rm x"}},
		{"timeout 5 -- rm x", []string{"rm x"}},
		{"setsid -w rm x", []string{"rm x"}},
		{"stdbuf -oL -e 0 rm x", []string{"rm x"}},
		{"command rm x", []string{"rm x"}},
		{"command -p rm x", []string{"rm x"}},
		{"command -v rm", nil},
		{"command -V rm", nil},
		{"command -pv rm", nil},
		{"builtin command exec rm x", []string{"command exec rm x", "exec rm x", "rm x"}},
		{"exec -a name rm x", []string{"rm x"}},
		{"exec -cl rm x", []string{"rm x"}},
		{"xargs -0 -n1 -I{} rm {}", []string{"rm {}"}},
		{"xargs -P 4 -r rm", []string{"rm"}},
		{"xargs --max-args=1 -d '\\n' rm", []string{"rm"}},
		{"find . -exec rm {} \\;", []string{"rm {}{added}"}},
		{"find . -name x -execdir rm {} + -ok mv {} y ';' -print", []string{"rm {}{added}", "mv {}{added} y"}},
		{"fd -e go -x rm {}", []string{"rm {}"}},
		{"fd x --exec-batch rm -f", []string{"rm -f"}},
		{"busybox rm x", []string{"rm x"}},
		{"busybox sh -c 'rm x'", []string{"sh -c ‹rm x›", "rm x"}},
		{"toybox rm x", []string{"rm x"}},
		{"flock -n /tmp/l rm x", []string{"rm x"}},
		{"flock /tmp/l -c 'rm x'", []string{"rm x"}},
		{"flock -w 5 9", nil},
		{"chroot --userspec=x / rm x", []string{"rm x"}},
		{"unshare -r --mount=file -S 0 rm x", []string{"rm x"}},
		{"nsenter -t 1 -m rm x", []string{"rm x"}},
		{"taskset -c 0,1 rm x", []string{"rm x"}},
		{"ip netns exec blue rm x", []string{"rm x"}},
		{"ip -n blue vrf exec red env rm x", []string{"env rm x", "rm x"}},
		{"watch -n 1 'rm x; ls'", []string{"rm x", "ls"}},
		{"watch rm x", []string{"rm x"}},
		{"strace -f -o log -e trace=open rm x", []string{"rm x"}},
		{"ltrace -o log rm x", []string{"rm x"}},
		{"script -qc 'rm x' log", []string{"rm x"}},
		{"script -q log -c 'rm x'", []string{"rm x"}},
		{"script -q log rm x", []string{"rm x"}},
		{"parallel -j 2 rm {} ::: a b", []string{"rm {}"}},
		{"parallel ::: 'rm a' 'rm b'", []string{"rm a", "rm b"}},
		{"/lib64/ld-linux-x86-64.so.2 --library-path x /bin/rm x", []string{"/bin/rm x"}},
		{"ld.so /bin/rm x", []string{"/bin/rm x"}},
		{"/usr/bin/time -f %e -o log rm x", []string{"rm x"}},
		{"\\time rm x", []string{"rm x"}},
		{"chrt -f 10 rm x", []string{"rm x"}},
		{"numactl --membind=0 rm x", []string{"rm x"}},
		{"setpriv --reuid 0 --clear-groups rm x", []string{"rm x"}},
		{"prlimit --nofile=10 rm x", []string{"rm x"}},
		{"setarch x86_64 -R rm x", []string{"rm x", "x86_64 -R rm x", "rm x"}},
		{"setarch -R rm x", []string{"x", "rm x"}},
		{"coreutils --coreutils-prog=rm x", []string{"rm x"}},
		{"coreutils --coreutils-prog rm x", []string{"rm x"}},
		{"coreutils rm x", []string{"rm x"}},
		{"genv -u A rm x", []string{"rm x"}},
		{"gnohup rm x", []string{"rm x"}},
		{"corepack npm publish", []string{"npm publish"}},
		{"ccache rm x", []string{"rm x"}},
		{"sccache rm x", []string{"rm x"}},
		{"distcc rm x", []string{"rm x"}},
		{"trickle -s -d 10 rm x", []string{"rm x"}},
		{"fakechroot -b y -- rm x", []string{"rm x"}},
		{"git for-each-repo --config=x push -f", []string{"git push -f"}},
		{"git -C y for-each-repo --config x push", []string{"git push"}},
		{"rlwrap -f x rm x", []string{"rm x"}},
		{"systemd-run --user -p X=y rm x", []string{"rm x"}},
		{"npx -y rm x", []string{"rm x"}},
		{"npm exec -- rm x", []string{"rm x"}},
		{"npm exec -c 'rm x'", []string{"rm x"}},
		{"uv run rm x", []string{"rm x"}},
		{"poetry run rm x", []string{"rm x"}},
		{"bundle exec rm x", []string{"rm x"}},
		{"git bisect run rm x", []string{"rm x"}},
		{"git bisect view git push", []string{"git push"}},
		{"git bisect view push", []string{"git push"}},
		{"git bisect visualize gitevil x", []string{"gitevil x"}},
		{"git bisect view --stat", []string{"git log --stat"}},
		{"just --command rm x", []string{"rm x"}},
		{"just --chooser 'rm x'", []string{"rm x"}},
		{"gotestsum --raw-command -- rm x", []string{"rm x"}},
		{"gotestsum --post-run-command 'rm x'", []string{"rm x"}},
		{"fzf --preview='rm x'", []string{"rm x"}},
		{"git submodule foreach 'rm x'", []string{"rm x"}},
		{"git submodule foreach --recursive rm x", []string{"rm x"}},
		{"git rebase --exec 'rm x' main", []string{"rm x"}},
		{"docker run -it --rm -v /:/x image rm x", []string{"rm x"}},
		{"kubectl -n prod exec -it pod -- rm x", []string{"rm x"}},
		{"ssh -p 22 host rm x", []string{"rm x"}},
		{"ssh host 'cd x; rm y'", []string{"cd x", "rm y"}},
		{"direnv exec . rm x", []string{"rm x"}},
		{"hyperfine 'rm x' --prepare 'rm y'", []string{"rm y", "rm x"}},
		{"trap 'rm x' EXIT", []string{"rm x"}},
		{"eval rm x", []string{"rm x"}},
		{"eval 'r''m' \"x;\" ls", []string{"rm x", "ls"}},
		{"jobs -x rm x", []string{"rm x"}},
		{"mapfile -C 'rm x' a", []string{"rm x"}},
		{"complete -C 'rm x' ls", []string{"rm x"}},
		{"compgen -W '$(rm x)'", []string{"rm x"}},
		{"split --filter='rm x' f", []string{"rm x"}},
		{"coproc rm x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			l := shell.Inspect(tt.text)
			if diff := cmp.Diff(tt.want, written(l)[1:], cmp.Transformer("nil", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
				t.Errorf("want -, got +\n%s%v", diff, l.Problems)
			}
		})
	}
}

// A wrapper that no table had would hide what it runs: the differential test
// has to see that.
func TestSH6_aRowIsMissing(t *testing.T) {
	th := newTheater(t)
	for _, name := range []string{"sudo", "timeout", "xargs", "env", "find", "bash", "busybox", "flock", "setarch"} {
		g := newGenerator(7)
		red := false
		for range 400 {
			w := wrappings[slices.IndexFunc(wrappings, func(w wrapping) bool { return w.name == name })]
			g.literal, g.depth, g.noHdoc = true, 2, 1
			text := g.wrap(w)
			p, err := th.run(text)
			t.Cleanup(p.clear)
			if err != nil {
				t.Fatal(err)
			}
			if s, missing := unlisted(shell.Inspect(text), p); missing {
				t.Fatalf("%s started and is not listed:\n%s", s.name, text)
			}
			if _, missing := unlisted(shell.InspectWithout(text, name), p); missing {
				red = true
				break
			}
		}
		if !red {
			t.Errorf("without its row for %s everything that starts was still listed", name)
		}
	}
}

// traitsOf writes the traits of all commands of a line: the kind, with a mark
// if no allow rule covers it, and the target.
func traitsOf(l *shell.Line) []string {
	var all []string
	for _, c := range l.Commands {
		for _, t := range c.Traits {
			s := string(t.Kind)
			if t.Beyond {
				s += "!"
			}
			if t.Target != nil && t.Target.Text != "" {
				s += " " + t.Target.Text
			}
			all = append(all, s)
		}
	}
	return all
}

// has reports whether a line has a trait.
func has(l *shell.Line, want string) bool { return slices.Contains(traitsOf(l), want) }

func TestSH7_inline(t *testing.T) {
	for _, text := range []string{
		"sh -c ls", "bash -lc ls", "bash -xec ls", "bash -c -- ls", "bash -e -c ls", "bash -o pipefail -c ls", "zsh -c ls", "dash -c ls", "fish -c ls", "bash --norc -c ls",
		"/bin/sh -c ls", "ls | sh", "ls | bash -s x", "bash", "bash -", "bash < file", "bash <<< ls", "bash <<E\nls\nE", "bash <(ls)", "bash /dev/stdin", "bash /dev/fd/3",
		"eval ls", "trap ls EXIT", "trap '' INT", "trap - EXIT", "source file", ". file", "source <(ls)",
		"python -c x", "python3 -c x", "python3.12 -Ic x", "python3 -", "ls | python3", "python <<E\nx\nE", "python3", "python -u -c x", "python -m timeit x", "python3 -Imtimeit -s x y", "python3 -m code", "python3 -m pdb -c x file",
		"perl -e x", "perl -ne x", "perl -lane x", "perl -E x", "ls | perl", "ruby -e x", "ruby -ne x", "node -e x", "node -pe x", "node --eval=x", "node -p x", "ls | node", "node -",
		"php -r x", "lua -e x", "deno eval x", "bun -e x", "Rscript -e x", "osascript -e x", "pwsh -Command x", "pwsh -enc x",
		"ls | awk -f /dev/stdin", "ssh host ls", "ed file", "vim -c x", "vim +x", "emacs --eval x", "gdb -ex x", "sqlite3 -cmd x", "psql -c x", "crontab file",
		"at now", "xargs sh -c ls", "find . -exec sh -c 'ls {}' \\;", "env bash -c ls", "sudo su", "busybox sh", "watch ls", "su", "exec bash",
	} {
		l := shell.Inspect(text)
		if !has(l, "inline!") && !slices.ContainsFunc(traitsOf(l), func(s string) bool { return strings.HasPrefix(s, "inline!") }) && !has(l, "runs! /dev/stdin") {
			t.Errorf("Inspect(%q): got %v, want an inline program", text, traitsOf(l))
		}
	}
	for _, text := range []string{
		"bash file", "bash -x file", "python3 file.py", "python3 -m pytest", "python3 -m json.tool file", "python3 -m pdb file", "node file.js", "perl file.pl", "python3 --version", "ls | python3 file.py", "bash file <<< x", "trap", "trap -p EXIT", "trap -l",
		"bash --version", "python3 -u file.py -c x", "ruby file.rb -e x", "node file.js -e x", "bash file -c x", "go test",
	} {
		l := shell.Inspect(text)
		if slices.ContainsFunc(traitsOf(l), func(s string) bool { return strings.HasPrefix(s, "inline!") }) {
			t.Errorf("Inspect(%q): got %v, want no inline program", text, traitsOf(l))
		}
	}
}

// The text of a shell is decided as a line of its own.
func TestSH7_text(t *testing.T) {
	runLines(t, []lineOf{
		{"text", "bash -c 'rm x; ls $y'", []string{"bash -c ‹rm x; ls $y›", "rm x", "ls {variable}"}},
		{"text in text", `sh -c "sh -c 'rm \"a b\"'"`, []string{`sh -c ‹sh -c 'rm "a b"'›`, `sh -c ‹rm "a b"›`, "rm ‹a b›"}},
		{"with a variable in it", `sh -c "rm -rf $x; ls"`, []string{"sh -c ‹rm -rf ; ls›{variable}", "rm -rf {variable}", "ls{variable}"}},
		{"from a document", "bash <<'E'\nrm $x\nE", []string{"bash", "rm {variable}"}},
		{"from a pipe", "echo 'rm x' | sh", []string{"echo ‹rm x›", "sh", "rm x"}},
		{"from a word", "bash <<< 'rm x'", []string{"bash", "rm x"}},
		{"from a document around it", "{ bash; } <<< 'rm x'", []string{"bash", "rm x"}},
	})
}

// Spans lead back to the line, also from a text inside a text.
func TestSpans(t *testing.T) {
	text := `sudo sh -c "rm -rf 'a b'; $'l\x73' \"x\"" >out`
	l := shell.Inspect(text)
	var got []string
	for _, c := range l.Commands {
		got = append(got, text[c.Span.From:c.Span.To])
	}
	want := []string{`sudo sh -c "rm -rf 'a b'; $'l\x73' \"x\""`, `sh -c "rm -rf 'a b'; $'l\x73' \"x\""`, `rm -rf 'a b'`, `$'l\x73' \"x\"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	if r := l.Redirects[0]; text[r.Span.From:r.Span.To] != ">out" {
		t.Errorf("got %q, want >out", text[r.Span.From:r.Span.To])
	}
}
