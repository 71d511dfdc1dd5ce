package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

// commands holds lines against one policy, by what is expected of them.
func commands(t *testing.T, p sayso.Policy, want sayso.Effect, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if v := judgeOn(p, yard(), bash(t, line)); v.Effect != want {
			t.Errorf("%.200q: %s by %q (%s), want %s", line, v.Effect, v.Rule, v.Reason, want)
		}
	}
}

// everyday is a policy as people write it.
const everyday = `version: 1
sandbox:
  paths:
    notes: {root: ./notes, mode: rw, suffixes: [.txt, .log]}
    output: {root: ./output, mode: rw, write_approval: false}
shell:
  default: {allowed: true, approval: true}
  rules:
    - {pattern: git status, approval: false}
    - {pattern: git log, approval: false}
    - {pattern: git add, approval: true, description: "Stage files for commit"}
    - {pattern: ls, approval: false}
    - {pattern: cat, approval: false}
    - {pattern: grep, approval: false}
    - {pattern: find, approval: false}
    - {pattern: sort, approval: false}
    - {pattern: echo, approval: false}
    - {pattern: cd, approval: false}
    - {pattern: env, approval: false}
    - {pattern: timeout, approval: false}
    - {pattern: xargs, approval: false}
    - {pattern: sh, approval: false}
    - {pattern: git push, allowed: false}
    - {pattern: rm, allowed: false}
    - {pattern: "true", approval: false}
    - {pattern: "false", approval: false}
    - {pattern: pytest, approval: false, sandbox_paths: [output]}
    - {pattern: python, approval: false}
    - {pattern: test, approval: false}
`

// TestSH2_everySimpleCommand: one verdict for each command, wherever it stands.
func TestSH2_everySimpleCommand(t *testing.T) {
	p := load(t, everyday)
	commands(t, p, sayso.Allow, "ls", "ls; cat x", "ls && cat x || echo y", "ls | grep x | sort", "ls &", "(ls; cat x)", "{ ls; }", "if ls; then cat x; else echo; fi",
		"for i in a b; do ls; done", "while false; do ls; done", "case x in x) ls;; esac", "! ls", "time ls", "ls\ncat x\n")
	for _, line := range []string{
		"%", "ls; %", "ls && %", "ls || %", "ls | %", "% | ls", "ls & %", "ls\n%", "(%)", "{ %; }", "if %; then ls; fi", "if ls; then %; fi", "if ls; then ls; else %; fi", "if ls; then ls; elif %; then ls; fi",
		"for i in a; do %; done", "while %; do ls; done", "until ls; do %; done", "case x in x) %;; esac", "case x in y) ls;; *) %;; esac", "f() { %; }; f", "function f { %; }", "coproc %",
		"echo $(%)", "echo `%`", "echo \"$(%)\"", "cat <(%)", "ls > >(%)", "echo $(echo $(%))", "cat <<EOF\n$(%)\nEOF", "cat <<< $(%)", "echo $((1 + $(%)))", "a=($(%)); ls", "a[$(%)]=1; ls", "x=$(%) ls", "[[ $(%) ]]", "[[ -n x && $(%) ]]",
		"echo ${x:-$(%)}", "(( $(%) ))", "for i in $(%); do ls; done", "case $(%) in x) ls;; esac", "ls >$(%)", "! %", "time %", "select i in a; do %; done", "% &", "ls; (ls; (ls; %))",
	} {
		commands(t, p, sayso.Ask, strings.ReplaceAll(line, "%", "frobnicate x"))
		commands(t, p, sayso.Deny, strings.ReplaceAll(line, "%", "rm x"))
	}
}

// TestSH3_words: patterns are words, not text.
func TestSH3_words(t *testing.T) {
	p := load(t, everyday)
	commands(t, p, sayso.Allow, "git status", "git status -s", "git  status", "git\tstatus", " git status ", "git status\n", "git 'status'", `"git" status`, "g''it status", `\git status`, "git \\\nstatus", "git status # rm x", "ls *.go", "ls {a,b}", "ls -la", "cat a b c")
	commands(t, p, sayso.Ask, "git statusx", "gitstatus", "git", "git  stash", "lsof", "ls_x", "Git status", "LS", "git status\r", "git\u00a0status", "catx y", "")
	rules := load(t, rules(`allow: ["bash:ls*", "bash:npm run build", "bash:go test ./...", "bash:make *"]`, `deny: ["bash:npm publish*", "bash:shutdown"]`))
	commands(t, rules, sayso.Allow, "ls", "ls -la x", "npm run build", "npm  run 'build'", "go test ./...", "make", "make test -j4", "ls; ls -l; make")
	commands(t, rules, sayso.Ask, "lsof", "npm run build:prod", "npm run build x", "npm run", "npm", "go test ./... -v", "makefile", "shutdown now", "shutdown -h")
	commands(t, rules, sayso.Deny, "npm publish", "npm publish --tag x", "shutdown", "/sbin/shutdown", "ls; shutdown")
}

// TestSH4_pathsAndOptions: a denial sees the last path part and past options;
// an allow sees the bare name alone.
func TestSH4_pathsAndOptions(t *testing.T) {
	p := load(t, everyday)
	commands(t, p, sayso.Deny, "/bin/rm x", "./rm x", "../x/rm", "RM x", "git push", "git -C x push", "git --no-pager push", "git -c a=b push -f", "git --git-dir=x push", "git --git-dir x push", "/usr/bin/git -C x push origin", "rm -rf x", "rm --help")
	commands(t, p, sayso.Ask, "./ls", "/bin/ls", "bin/ls", "~/ls", "../ls", "./git status", "git -C x status", "git -c core.pager=x status", "git --no-pager status")
	reset := load(t, rules(`deny: ["bash:git reset --hard*", "bash:rm -rf*", "bash:git push --force*"]`, `allow: ["bash:git*", "bash:rm*"]`))
	commands(t, reset, sayso.Deny, "git reset --hard", "git reset -q --hard", "git reset --hard HEAD~1", "git -C x reset --hard", "rm -rf x", "git push --force", "git push origin --force")
	commands(t, reset, sayso.Ask, "rm -fr x", "rm -r -f x", "rm -vrf x")
	commands(t, reset, sayso.Allow, "git reset --soft", "rm -r x", "rm x", "git push")
	words := load(t, rules(`deny: ["bash:time*", "bash:let x*", "bash:env LD_PRELOAD=x*"]`, `allow: "bash:*"`))
	commands(t, words, sayso.Deny, `\time ls`, "/usr/bin/time -o x ls", "let x", "env LD_PRELOAD=x ls")
	commands(t, words, sayso.Allow, "time ls", "let 1", "env LANG=C ls")
	stars := load(t, rules(`deny: ["bash:git push *force*", "bash:npm *publish", "bash:*sql*"]`, `allow: "*"`))
	commands(t, stars, sayso.Deny, "git push --force", "git push --force-with-lease", "git push --force x", "npm publish", "npm unpublish", "psql x", "mysqldump")
	commands(t, stars, sayso.Allow, "git push", "npm publishx", "squirrel")
}

// TestSH5_dynamic: what is only known when it runs is asked about, and what is
// in it is decided too.
func TestSH5_dynamic(t *testing.T) {
	p := load(t, everyday)
	commands(t, p, sayso.Ask, "$X", "$X x", "${X}ls", "l$X", "$(echo ls)", "`echo ls`", "$((1)) x", "l? x", "/bin/l*", "{ls,x}", "ls $X", "ls ${X}", "ls \"$X\"", "ls a$X", "ls $(echo x)", "ls `echo x`", "ls $((1+1))", "ls \"a $X b\"", "ls -$X",
		"echo $HOME", "cat <$X", "ls >$X", "ls 2>$X", "ls $'a'$X", "ls ${X:-a}", "ls $1", "ls $@", "ls $?", "ls $$", "cat <(ls)")
	commands(t, p, sayso.Deny, "rm $X", "rm $(ls)", "echo $(rm x)", "$(rm x)", "${X:-$(rm x)}", "ls \"$(rm x)\"", "git push $X", "rm `ls`")
	commands(t, p, sayso.Allow, "ls *", "ls *.go", "ls a?", "ls [ab]", "ls {a,b}", "ls ~", "ls ~/x", "ls '$X'", "ls '*'", `ls \$X`, "ls $'a\\tb'", "echo '$(rm x)'", "echo '`rm x`'", `echo "\$(rm x)"`)
	for _, line := range []string{"ls $X", "$X", "ls $(ls)"} {
		if v := judge(p, bash(t, line)); v.Cause != sayso.CauseNotUnderstood || !v.Person {
			t.Errorf("%q: cause %s, a person: %v", line, v.Cause, v.Person)
		}
	}
}

// TestSH6_wrappers: what a wrapper runs is decided; an allow for the wrapper
// covers nothing else.
func TestSH6_wrappers(t *testing.T) {
	p := load(t, everyday)
	for _, wrapper := range []string{
		"env %", "env A=1 %", "env -i %", "env -u X %", "timeout 5 %", "timeout -k 1 5s %", "timeout --signal=KILL 5 %", "sudo %", "sudo -u root %", "sudo -n -E %", "sudo A=1 %", "doas %", "doas -u x %", "nohup %", "nice %", "nice -n 5 %", "nice -5 %",
		"ionice -c2 -n7 %", "setsid %", "setsid -w %", "stdbuf -o0 %", "stdbuf -o L %", "command %", "command -p %", "builtin %", "exec %", "exec -a x %", "xargs %", "xargs -n1 -I{} %", "xargs -0 -P 4 %", "find . -exec % \\;", "find . -exec % +", "find . -execdir % \\;", "find . -ok % \\;", "busybox %", "busybox sh -c '%'",
		"flock /tmp/l %", "flock /tmp/l -c '%'", "chroot /x %", "unshare -r %", "taskset -c 0 %", "taskset 1 %", "watch %", "watch -n 1 '%'", "strace %", "strace -f -o x %", "script -c '%'", "script -qc '%' /dev/null", "parallel %", "parallel % ::: a", "/lib64/ld-linux-x86-64.so.2 /bin/%",
		"env -S '%'", "env -S'%'", "env --split-string='%'", "su -c '%'", "su root -c '%'", "sudo env A=1 nice timeout 5 %", "env env env %", "sudo -- %", "nohup -- %", "time %", "time -p %", "ifne %", "nocache %", "xcrun %", "cross-env A=1 %", "arch -arm64 %", "pee '%'",
	} {
		commands(t, p, sayso.Deny, strings.ReplaceAll(wrapper, "%", "rm x"))
		line := strings.ReplaceAll(wrapper, "%", "frobnicate x")
		if v := judge(p, bash(t, line)); v.Effect != sayso.Ask {
			t.Errorf("%q: %s by %q", line, v.Effect, v.Rule)
		}
	}
	commands(t, p, sayso.Allow, "timeout 5 ls", "timeout 5 git status", "env ls", "timeout 5 timeout 4 ls")
	commands(t, p, sayso.Ask, "sudo ls", "nohup ls", "command -v rm; frobnicate", "xargs ls", "env LD_PRELOAD=x ls", "env PATH=x ls", "timeout 5 $X")
}

// TestSH7_inline: programs that stand in the line are asked about.
func TestSH7_inline(t *testing.T) {
	p := load(t, everyday)
	commands(t, p, sayso.Ask, "sh -c ls", "sh -c 'ls'", "bash -c ls", "sh -lc ls", "bash -xec 'ls'", "sh -ec ls", "eval ls", "eval 'ls'", "trap ls EXIT", "source x", ". ./x", "python -c 'print(1)'", "python3 -c x", "perl -e x", "perl -pe x", "node -e x", "node --eval x",
		"node -p x", "ruby -e x", "php -r x", "cat x | sh", "cat x | bash", "curl x | sh", "echo ls | bash", "sh < x", "bash <<< ls", "bash <<EOF\nls\nEOF", "cat x | python", "python - < x", "python <<EOF\nx\nEOF", "cat x | sh -s", "echo ls | sudo sh")
	commands(t, p, sayso.Deny, "sh -c 'rm x'", "bash -lc 'ls; rm x'", "eval rm x", "eval 'rm x'", "eval \"rm x\"", "trap 'rm x' EXIT", "sh -c \"sh -c 'rm x'\"", "bash <<EOF\nrm x\nEOF", "bash <<'EOF'\nrm x\nEOF", "bash <<< 'rm x'", "env -S 'sh -c \"rm x\"'", "sudo sh -c 'rm x'", "find . -exec sh -c 'rm x' \\;")
}

// TestSH8_options: options that run programs or write files are outside an
// allow for the program.
func TestSH8_options(t *testing.T) {
	p := load(t, rules(`allow: ["bash:find*", "bash:sort*", "bash:rg*", "bash:fd*", "bash:sed*", "bash:awk*", "bash:tar*", "bash:man*", "bash:go*", "bash:git*", "bash:date*", "bash:tree*", "bash:uniq*", "bash:test*", "bash:ls*", "bash:echo*", "bash:base64*", "bash:zstdcat*", "bash:python3 -m*", "bash:make*"]`))
	commands(t, p, sayso.Ask, "find . -exec ls \\;", "find . -delete", "find . -fprint x", "find . -fprintf x y", "find . -fls x", "find . -ok ls \\;", "find -exec ls {} +", "sort -o x y", "sort -ox y", "sort --output=x y", "sort --outp x y", "sort y -o x", "sort -uo x y", "sort --compress-program=x y", "sort --comp x y",
		"rg --pre x y", "rg --pre=x y", "rg --pre-glob=x --pre=y z", "fd -x ls", "fd --exec ls", "fd -X ls", "fd --exec-batch ls", "sed -i s/a/b/ x", "sed -i.bak s/a/b/ x", "sed --in-place s/a/b/ x", "sed -n -i p x", "sed -ni p x", "sed 's/a/b/w x' y", "sed 's/a/b/e' y", "sed e y", "sed 'w x' y", "sed -e 's/a/b/;w x' y", "sed -f x y", "sed '1e ls' x", "sed --in-pl s/a/b/ x",
		"awk 'BEGIN{system(\"ls\")}'", "awk '{print > \"x\"}' y", "awk '{print | \"sh\"}' y", "awk '{\"ls\" | getline}' y", "awk -f x y", "awk -fx y", "tar -xf x --checkpoint-action=exec=ls", "tar xf x --checkpoint-action exec=ls", "tar -xf x --to-command=ls", "tar cf x --use-compress-program=y z", "tar cIf y x z", "tar -I y -cf x z", "tar --rsh-command=x -cf y z", "tar --check=1 --checkpoint-a=exec=ls -cf x y",
		"man -P x y", "man -Px y", "man --pager=x y", "go test -exec x", "go build -toolexec x", "go vet -vettool=x", "go test --exec=x", "git log --output=x", "git diff --output x", "git diff --ext-diff", "git -c core.pager=x log", "git log --outp=x", "date -s x", "date --set=x", "tree -o x", "uniq a b", "test -v 'a[$(ls)]'", "find . '-delete'", "find . -del''ete", "find . \\-delete", "find . -exec'' ls \\;",
		"zstdcat -o x y", "base64 -o x y", "git reflog --output=x", "go vet -fix ./...", "python3 -m json.tool x y", "python3 -m cProfile -o x y.py", "make SHELL=x", "make CC=./x V=1")
	commands(t, p, sayso.Allow, "find . -name x", "find . -type f", "sort -u x", "sort -- -o", "rg x y", "rg -n x", "fd x", "sed s/a/b/ x", "sed -n 1,5p x", "sed -e 's/a/b/g' x", "awk '{print $1}' x", "tar tf x", "man ls", "go test ./...", "go vet ./...", "git log", "git diff", "date", "date +%s", "tree x", "uniq a", "test -f x", "git log --oneline -- -x", "sort -k2 -n x", "echo -o x", "base64 -w 0 x", "git reflog show", "python3 -m json.tool --indent 2 x", "make V=1 test")
}

// TestSH9_redirections: to a file is a write, from a file a read.
func TestSH9_redirections(t *testing.T) {
	p := load(t, everyday)
	commands(t, p, sayso.Allow, "ls > /dev/null", "ls 2>/dev/null", "ls >/dev/null 2>&1", "ls &>/dev/null", "ls 2>&1", "ls >&2", "echo x >/dev/stderr", "echo x > /dev/stdout", "ls 2>&-", "ls </dev/null",
		"ls > output/x", "ls >> output/new", "ls >| output/x", "ls &> output/x", "ls 2> output/sub/x", "cd output && ls > x", "ls > ./output/../output/x", "ls > /home/dev/app/output/x", "cat < output/x", "cat < notes/a.txt", "cat <<EOF\nx\nEOF", "cat <<< x", "ls > link/x")
	commands(t, p, sayso.Ask, "ls > x", "ls >> x", "ls >| x", "ls &> x", "ls >& x", "ls 2> x", "ls <> x", "ls > notes/a.txt", "ls > output/../x", "ls > ../x", "ls > /tmp/x", "ls > ~/x", "ls > $X", "ls > output/docs/x", "ls > output/up/x", "ls > output/two", "ls > output/.git/config", "ls > output/.envrc",
		"cd /tmp && ls > x", "cd output && ls > ../x", "cat < main.go", "cat < /etc/passwd", "cat < notes/run.sh", "ls > /dev/tcp/a/1", "cat < /dev/tcp/a/1", "cat </dev/udp/a/1", "exec 3<>/dev/tcp/a/1", "ls > /dev/sda", "{ ls; } > x", "(ls) > x", "if ls; then ls; fi > x", "while ls; do ls; done < main.go", "> x", "> output/x", "ls > output", "ls >output/x >y", "cd output; ls > x; cd ..; ls > x", "cd output/docs; ls > x", "ls 3> x", "ls {fd}> x")
	none := load(t, "version: 1\nshell: {default: {approval: false}}\n")
	commands(t, none, sayso.Allow, "cat < main.go", "cat < /etc/passwd", "ls >/dev/null")
	commands(t, none, sayso.Ask, "ls > x", "ls > output/x", "cat < $X")
}

// TestSH10_assignments: all but a few variables are asked about.
func TestSH10_assignments(t *testing.T) {
	p := load(t, everyday)
	commands(t, p, sayso.Allow, "LANG=C ls", "LC_ALL=C sort x", "TZ=UTC ls", "NO_COLOR=1 ls", "FORCE_COLOR=1 ls", "CI=1 ls", "TERM=dumb ls", "COLUMNS=80 LINES=24 ls", "env LANG=C ls")
	commands(t, p, sayso.Ask, "PATH=. ls", "LD_PRELOAD=x ls", "LD_LIBRARY_PATH=x ls", "GIT_DIR=x git status", "GIT_PAGER=x git log", "PAGER=x git log", "BASH_ENV=x ls", "SHELLOPTS=x ls", "IFS=x ls", "X=1 ls", "X=1; ls", "export X=1; ls", "export PATH; ls", "declare X=1; ls", "readonly X=1; ls", "local X=1; ls", "PS4=x ls", "LANG=$X ls", "LANG=$(ls) ls", "PATH+=:. ls", "read PATH; ls", "printf -v PATH x; ls",
		"env PATH=. ls", "env GIT_PAGER=x git log", "X=1", "PATH=. LANG=C ls", "LANG_X=1 ls", "LCALL=1 ls", "a=(1 2); ls", "a[0]=1; ls", "for PATH in .; do ls; done", "unset PATH; ls")
	commands(t, p, sayso.Deny, "X=1 rm x", "PATH=. rm x", "X=$(rm x)", "X=$(rm x) ls", "LANG=C rm x")
}

// TestSH11_sandboxPaths: a rule with paths speaks only where every operand lies
// in them.
func TestSH11_sandboxPaths(t *testing.T) {
	p := load(t, everyday)
	commands(t, p, sayso.Allow, "pytest", "pytest output", "pytest output/x", "pytest -v output/x", "pytest -n 4 output/x", "pytest --dir=output/x", "pytest ./output/../output/new", "pytest /home/dev/app/output/x", "cd output && pytest x", "cd output && pytest .", "pytest -q -- output/x", "pytest link/x", "cd output && cd .. && pytest output/x")
	commands(t, p, sayso.Ask, "pytest x", "pytest output2/x", "pytest outputx", "pytest output ../x", "pytest output/../x", "pytest output/../../x", "pytest /etc", "pytest ~/x", "pytest ~", "pytest $X", "pytest output/$X", "pytest output/*", "pytest output/{a,b}", "pytest notes/a.txt", "pytest --dir=/etc", "pytest --dir=../x output", "pytest -- -x", "pytest 4", "pytest output/docs/x", "pytest output/up/x", "pytest output/up",
		"cd .. && pytest output/x", "cd /tmp && pytest output/x", "cd output; pytest x", "cd $X && pytest output", "cd ~ && pytest output", "cd - && pytest output", "cd output/docs && pytest x", "(cd /tmp; pytest output)", "cd nowhere; pytest output/x", "pushd /tmp; pytest output", "cd output || pytest x", "pytest ''", "xargs pytest", "xargs pytest output")
	deep := load(t, strings.ReplaceAll(everyday, "    output:", "    inner: {root: ./output/private, mode: rw, write_approval: false}\n    output:"))
	commands(t, deep, sayso.Ask, "pytest output/private/x", "pytest output/x output/private")
	commands(t, deep, sayso.Allow, "pytest output/x")
	both := load(t, strings.ReplaceAll(everyday, "    - {pattern: pytest", "    - {pattern: clean, allowed: false, sandbox_paths: [output]}\n    - {pattern: clean, approval: false}\n    - {pattern: pytest"))
	commands(t, both, sayso.Deny, "clean output/x", "clean output output/x", "cd output && clean x", "sudo clean output/x", "/bin/clean output/x")
	commands(t, both, sayso.Ask, "cd output; clean ../output/x", "cd output; clean x", "clean $X", "clean output/*")
	commands(t, both, sayso.Allow, "clean x", "clean docs", "cd docs; clean x")
}

// TestSH12_limits: what is too much to read asks, and denials are found in it.
func TestSH12_limits(t *testing.T) {
	p := load(t, everyday)
	for name, line := range map[string]string{
		"many commands": strings.Repeat("ls; ", 100_000) + "ls", "deep": strings.Repeat("(", 5000) + "ls" + strings.Repeat(")", 5000), "deep substitutions": strings.Repeat("$(", 2000) + "ls" + strings.Repeat(")", 2000),
		"a long word": "ls " + strings.Repeat("x", 5_000_000), "braces": "ls " + strings.Repeat("{a,b}", 64), "not ended": "ls 'x", "half": "ls && ", "a bracket": "ls )", "if": "if ls; then",
	} {
		v := judge(p, bash(t, line))
		if v.Effect != sayso.Ask {
			t.Errorf("%s: %s by %q", name, v.Effect, v.Rule)
		}
	}
	for _, line := range []string{
		strings.Repeat("ls; ", 100_000) + "rm x", "rm x; " + strings.Repeat("ls; ", 100_000), strings.Repeat("(", 5000) + "rm x" + strings.Repeat(")", 5000), strings.Repeat("$(", 2000) + "rm x" + strings.Repeat(")", 2000),
		"rm x; ls 'y", "ls 'y; rm x", "ls ) ; rm x", "if ls; then rm x", "rm x &&", "ls \x00; rm x", "rm x\r", "ls; /bin/rm x )", "ls; sudo rm x )", "git -C x push )", strings.Repeat("ls ", 300_000) + "; rm x",
	} {
		if v := judge(p, bash(t, line)); v.Effect != sayso.Deny {
			t.Errorf("%.60q … %.20q: %s by %q", line, line[max(0, len(line)-20):], v.Effect, v.Rule)
		}
	}
}

// TestSH13_nothing: a line without a command is asked about, or denied where
// the default denies.
func TestSH13_nothing(t *testing.T) {
	lines := []string{"", " ", "\n", "# x", "X=1", "> x", "LANG=C", "&&", "ls &&", "ls ''' x", "git diff `"}
	commands(t, load(t, everyday), sayso.Ask, lines...)
	commands(t, load(t, "version: 1\nshell: {default: {approval: false}}\n"), sayso.Ask, lines...)
	commands(t, load(t, "version: 1\nshell: {default: {allowed: false}, rules: [{pattern: ls, approval: false}]}\n"), sayso.Deny, lines...)
	commands(t, load(t, "version: 1\ndefault: deny\nrules: [{allow: \"bash:ls*\"}]\n"), sayso.Deny, append(lines, "cat x", "ls; cat x", "find . -delete", "./ls")...)
	commands(t, load(t, "version: 1\ndefault: deny\nrules: [{ask: \"bash:ls*\"}, {allow: \"bash:cat*\"}]\n"), sayso.Deny, "ls 'x", "ls &&", "ls )", "ls\r", "cat x; ls 'x")
}

// TestSH1_characters: what cannot be seen, and blanks that are none, ask.
func TestSH1_characters(t *testing.T) {
	p := load(t, everyday)
	for _, c := range []string{"\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\r", "\x1b", "\x7f", "\u0080", "\u009b", "\u200b", "\u200d", "\u200e", "\u202a", "\u202e", "\u2066", "\u2069", "\u2028", "\ufeff", "\U000e0041", "\u00ad", "\u061c", "\u180e", "\u3164"} {
		for _, line := range []string{"ls " + c, "ls" + c + "x", c + "ls", "ls 'a" + c + "b'", "ls # " + c, "ls \"" + c + "\""} {
			v := judge(p, bash(t, line))
			if v.Effect != sayso.Ask || !v.Person {
				t.Errorf("%q: %s by %q (a person: %v)", line, v.Effect, v.Rule, v.Person)
			}
		}
		commands(t, p, sayso.Deny, "rm x"+c, "ls "+c+"; rm x")
	}
	commands(t, p, sayso.Allow, "ls\tx", "ls é", "ls 日本", "echo 'ü'", "ls \u00e9")
}

// TestSH14_silence: what harms nobody is not asked about.
func TestSH14_silence(t *testing.T) {
	p := load(t, everyday)
	commands(t, p, sayso.Allow, "echo 'rm x'", `echo "rm x; rm y"`, "echo rm", "ls # rm x", "# rm x\nls", "ls   -l    x", "ls\n\n\ncat x\n", "ls *.go | sort | grep x 2>/dev/null", "grep -rn 'rm -rf' .", "grep \"a;b|c&d\" x", "echo 'a > b'", "echo \\; rm", "cat <<'EOF'\nrm x\nEOF", "cat <<EOF\nrm x\nEOF", "git log --oneline -n 5", "[[ a =~ ^[a-z]+$ ]] && ls", "[[ ab =~ a(b|c) ]] && ls", "echo a && echo b && echo c; ls",
		"test -f x && cat x || echo none", "ls -la; git status; git log -3", "find . -name '*.go' -not -path './x/*'", "echo \"it's\"", "ls 'a b' \"c d\"", "cd docs && ls", "echo {1..3}", "if test -d x; then ls x; fi", "ls 2>&1 | grep -v x", "echo x |& cat")
}

// TestDE1_strictestWins over the whole line, whatever the order of rules.
func TestDE1_strictestWins(t *testing.T) {
	p := load(t, `version: 1
rules:
  - allow: ["bash:git*", "bash:ls*"]
  - ask: "bash:git push*"
  - deny: "bash:git push --force*"
shell:
  default: {allowed: true, approval: false}
  rules:
    - {pattern: make, approval: false}
    - {pattern: make install, allowed: false}
    - {pattern: git commit, approval: true}
`)
	commands(t, p, sayso.Allow, "git status", "ls", "frobnicate", "make", "make test", "git status; frobnicate; make")
	commands(t, p, sayso.Ask, "git push", "ls; git push", "git commit", "git commit -m x; ls")
	commands(t, p, sayso.Deny, "git push --force", "git push; git push --force", "make install", "make; make install", "ls; frobnicate; make install")
}

// TestDE3_span: every verdict says where in the line the reason stands.
func TestDE3_span(t *testing.T) {
	p := load(t, everyday)
	for line, want := range map[string]string{
		"ls && /bin/rm -rf x": "/bin/rm", "ls; git -C x push origin": "git -C x push", "ls; frobnicate x": "frobnicate x", "ls | grep $X": "$X", "ls > out": "> out", "X=1 ls": "X=1", "ls": "ls", "ls; cat x": "ls; cat x",
		"ls; sudo rm x": "rm", "find . -delete": "-delete", "ls\r": "\r", "sh -c 'rm x'": "", "git add x": "git add",
	} {
		v := judge(p, bash(t, line))
		if v.Span[0] < 0 || v.Span[1] > len(line) || v.Span[0] > v.Span[1] {
			t.Errorf("%q: span %v", line, v.Span)
			continue
		}
		if got := line[v.Span[0]:v.Span[1]]; want != "" && got != want {
			t.Errorf("%q: %q decided (%s by %q), want %q", line, got, v.Effect, v.Rule, want)
		}
		if v.Rule == "" || v.Reason == "" {
			t.Errorf("%q: %+v", line, v.Match)
		}
	}
	v := judge(p, bash(t, "git add x"))
	if v.Title != "Stage files for commit" || v.File != "policy.yaml" || v.Line != 11 {
		t.Errorf("title %q, %s:%d", v.Title, v.File, v.Line)
	}
}

// TestDanger: what inspection names.
func TestDanger(t *testing.T) {
	p := load(t, everyday)
	for line, want := range map[string]struct {
		risk   sayso.Risk
		danger []sayso.Danger
	}{
		"ls": {sayso.RiskSafe, nil}, "git status | grep x": {sayso.RiskSafe, nil}, "cat x > output/y": {sayso.RiskModerate, nil}, "mkdir x": {sayso.RiskModerate, nil},
		"rm x": {sayso.RiskDestructive, []sayso.Danger{sayso.DangerDelete}}, "rm -rf /etc": {sayso.RiskDestructive, []sayso.Danger{sayso.DangerDelete, sayso.DangerOutside}},
		"sudo ls": {sayso.RiskDestructive, []sayso.Danger{sayso.DangerPrivilege}}, "$X": {sayso.RiskDestructive, []sayso.Danger{sayso.DangerDynamic}},
		"git push": {sayso.RiskDestructive, []sayso.Danger{sayso.DangerNetwork}}, "python -c x": {sayso.RiskDestructive, []sayso.Danger{sayso.DangerInterpreter}}, "ls > /tmp/x": {sayso.RiskModerate, []sayso.Danger{sayso.DangerOutside}},
		"frobnicate": {sayso.RiskDestructive, nil}, "ls > /dev/tcp/a/1": {sayso.RiskDestructive, []sayso.Danger{sayso.DangerNetwork}}, "echo x > ~/y": {sayso.RiskModerate, []sayso.Danger{sayso.DangerOutside}},
	} {
		v := judge(p, bash(t, line))
		if v.Risk != want.risk || !slices.Equal(v.Danger, want.danger) {
			t.Errorf("%q: risk %s, danger %v; want %s, %v", line, v.Risk, v.Danger, want.risk, want.danger)
		}
	}
}

// TestFS3_commandsOnControlFiles: an allow does not cover what steers others.
func TestFS3_commandsOnControlFiles(t *testing.T) {
	p := load(t, "version: 1\nshell: {default: {approval: false}}\n")
	for _, line := range []string{"cp x .git/hooks/pre-commit", "mv x .GIT/config", "touch .envrc", "tee .vscode/tasks.json", "ls > .mcp.json", "ln -s x .git/hooks/y", "mkdir .cursor", "chmod +x .git/hooks/x", "rm .claude/settings.json", "echo x >> ~/.bashrc"} {
		if v := judge(p, bash(t, line)); v.Effect != sayso.Ask || !v.Person {
			t.Errorf("%q: %s by %q (a person: %v)", line, v.Effect, v.Rule, v.Person)
		}
	}
	for _, line := range []string{
		"tee .[g]it/config", "tee .gi?/config", "cp x .gi[t]/hooks/pre-commit", "cp x .github/workflow[s]/a.yml", "cp x .github/*/a.yml", "cp x .[[:lower:]]ithub/workflows/a.yml",
		"mv x .env[r]c", "ln -s x .[e]nvrc", "touch [.]git/x", "touch .[!x]it/x", "tee .g[i\"]\"]t/x", "tee .G[i]T/config", "tee mise.tom[l]", "cd .git && tee conf[i]g", "cd .git && tee c*",
		"ls > .[g]it/config", "ls >> .gi?/config", "{ ls; } > .[g]it/x", "cd .[g]it && tee config", "cd .git && cd hook[s] && touch x", "tee .g[it/*/../../.gi*/x", "tee @(.git)/config", "tee .claud[e]/settings.json", "cp x ../*/.gi[t]/x", "tee ~/.bash[r]c",
		"tee /*/crontab", "tee {.[g]it,x}/config",
	} {
		if v := judge(p, bash(t, line)); v.Effect != sayso.Ask || !v.Person {
			t.Errorf("%q: %s by %q (a person: %v)", line, v.Effect, v.Rule, v.Person)
		}
	}
	commands(t, p, sayso.Allow, "cp *.go dst/", "mv docs/*.md x/", "touch a?b", "cp */config x", "cp src/*/*.go dst/", "rm s*_test.go", "tee *", "cp file[0-9].txt [a-z]*.go x", "cp ?git/x y", "mv *ignore x", "rm *_test.go", "cp .gitign* x")
	commands(t, p, sayso.Allow, "git add .github/workflows/ci.yml", "git commit .vscode/settings.json -m x", "ls .git", "cat .git/config", "git diff .github/workflows/ci.yml", "grep x .vscode/settings.json", "git status", "cat .gitignore", "cp x .gitignore", "cd pack*/ && touch a")
}

// TestFS3_commandsThatDeleteTheWorkspace: an allow covers no deletion of the
// workspace, however it is named, and those in it.
func TestFS3_commandsThatDeleteTheWorkspace(t *testing.T) {
	for _, text := range []string{"version: 1\ndefault: allow\n", rules(`allow: ["bash:rm*", "bash:rmdir*", "bash:cd*", "bash:sudo rm*"]`)} {
		p := load(t, text)
		for _, line := range []string{
			"rm -rf .", "rm -rf ./", "rm -r ..", "rm -rf /", "rm -rf /home/dev/app", "rm -rf //home//dev/app/", "rm -rf src/..", "rm -rf ../app", "rmdir .", "cd src && rm -rf ..", "cd .. && rm -rf app",
			"rm -rf src .", "rm -rf ~", "rm -rf ~/", "rm -rf /*", "rm -rf ../*", "rm -rf /home/*/app", "rm -rf ../ap?", "cd ..; rm -rf a*",
		} {
			if v := judge(p, bash(t, line)); v.Effect != sayso.Ask || !v.Person || v.Rule != "the workspace itself" {
				t.Errorf("%q: %s by %q (a person: %v)", line, v.Effect, v.Rule, v.Person)
			}
		}
		commands(t, p, sayso.Allow, "rm -rf src", "rm -rf *", "rm -rf ./*", "rm -rf src/*", "rm -rf src/../docs", "rm -rf /home/dev/app/src", "rm -rf ../other", "rm -rf ../appx", "cd src && rm -rf .", "rm -rf ~/other", "rm -rf /tmp/*")
	}
}

// TestStar: a rule about every tool, or about the shell, covers bare and plain
// commands.
func TestStar(t *testing.T) {
	for _, rule := range []string{`allow: "*"`, `allow: bash`, `allow: "bash:*"`, `allow: {kind: shell}`, `allow: {tool: bash}`} {
		p := load(t, rules(rule, `deny: "bash:rm*"`))
		commands(t, p, sayso.Allow, "ls", "frobnicate x; ls | cat")
		commands(t, p, sayso.Ask, "./ls", "ls $X", "ls > x", "sh -c ls", "X=1 ls", "ls 'x", "")
		commands(t, p, sayso.Deny, "rm x", "ls; rm x")
	}
}

// TestSH4_synonyms: a denial reaches what means the same; an allow does not.
func TestSH4_synonyms(t *testing.T) {
	p := load(t, rules(`allow: "*"`, `deny: ["bash:rm -rf*", "bash:npm publish*", "bash:npm install*", "bash:git push*", "bash:pip install*", "bash:docker run*", "bash:docker rmi*", "bash:git commit --no-verify*", "bash:git branch -D*", "bash:python3 -m twine*", "bash:cargo remove*", "bash:git remote remove x", "bash:mkfs*"]`))
	commands(t, p, sayso.Deny, "rm -rf x", "rm -Rf x", "/usr/bin/rm -rf x", `\rm -rf x`, "command rm -rf x", "npm publish", "npm pub", "npm i x", "npm add x", "npm isntall", "npm -C a i x", "git-push", "/usr/lib/git-core/git-push origin", "git -C x push", "python -m pip install x", "python3 -m pip install x", "python3 -Im pip install x",
		"docker container run x", "docker --debug container run x", "docker image rm x", "git commit -n -m x", "git commit --no-verify", "python3 -m twine upload x", "twine upload x", "cargo rm x", "git remote rm x", "sudo npm i x", "ls | xargs npm i")
	commands(t, p, sayso.Ask, "rm -fr x", "rm -r -f x", "rm -fR x", "rm --recursive --force x", "rm --recurs --force x", "npm publi --tag x", "pip3 install x", "pip3.11 install x", "git commit -anm x", "git branch --delete --force x", "git branch -d -f x", "git branch -vD x")
	commands(t, p, sayso.Allow, "rm -r x", "rm -f x", "npm test", "npm run publish", "pip list", "git pull", "git commit -am x", "docker ps", "docker container ls", "git branch -d x", "git remote rm y", "lsof", "mkfsx")
	commands(t, p, sayso.Deny, "npm i x )", "ls ) ; git-push", "rm -Rf x; ls 'y", "python -m pip install x &&", "docker container run x )", "git branch -vD x )")
	commands(t, p, sayso.Ask, "npm test )", "git-pull )", "pip3 install x )")
	aliases := load(t, rules(`allow: "*"`, `deny: ["bash:npm i*", "bash:docker container run*", "bash:git-push*", "bash:rm --recursive*"]`))
	commands(t, aliases, sayso.Deny, "npm install x", "npm i", "docker run x", "git push", "rm -r x", "rm -R x")
	allows := load(t, rules(`allow: ["bash:npm install*", "bash:rm -r*", "bash:pip install*", "bash:git push*", "bash:docker run*", "bash:python*"]`))
	commands(t, allows, sayso.Ask, "npm i x", "rm -R x", "rm --recursive x", "pip3 install x", "python -m pip install x; pip3 install x", "git-push", "docker container run x", "python3 x.py", "npm inst x")
	shell := load(t, "version: 1\nshell:\n  default: {approval: false}\n  rules:\n    - {pattern: pip install, allowed: false}\n    - {pattern: npm install, approval: true}\n")
	commands(t, shell, sayso.Deny, "pip install x", "python3 -m pip install x")
	commands(t, shell, sayso.Ask, "npm i x", "pip3 install x")
}
