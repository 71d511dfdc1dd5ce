package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// written writes the commands of a line, each as its words with blanks between.
// A word that is not certain has what is certain of it and its reason.
func written(l *shell.Line) []string {
	var all []string
	for i := range l.Commands {
		var words []string
		for _, w := range l.Commands[i].Words() {
			text := w.Text
			if strings.ContainsAny(text, " \t\n") || text == "" && w.Literal() {
				text = "‹" + text + "›"
			}
			if !w.Literal() {
				text += "{" + w.Dynamic.String() + "}"
			}
			words = append(words, text)
		}
		all = append(all, strings.Join(words, " "))
	}
	return all
}

// lineOf is a table of lines and the commands in them.
type lineOf struct {
	name, text string
	want       []string
}

func runLines(t *testing.T, tests []lineOf) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := shell.Inspect(tt.text)
			if diff := cmp.Diff(tt.want, written(l)); diff != "" {
				t.Errorf("Inspect(%q): want -, got +\n%s%v", tt.text, diff, l.Problems)
			}
		})
	}
}

func TestSH1_characters(t *testing.T) {
	tests := []struct {
		name, text, what string // "" for nothing to say
	}{
		{"plain", "ls -la\n\techo 'ä 日本 🙂 ❤️ naïve'", ""},
		{"carriage return", "ls\rrm", "a control character, U+000D"},
		{"carriage return before a line end", "ls\r\nrm", "a control character, U+000D"},
		{"NUL", "r\x00m x", "a control character, U+0000"},
		{"bell", "ls \a", "a control character, U+0007"},
		{"escape in quotes", "echo '\x1b[2K'", "a control character, U+001B"},
		{"vertical tab", "ls\vx", "a control character, U+000B"},
		{"DEL", "ls \x7f", "a control character, U+007F"},
		{"C1", "ls \u0085", "a control character, U+0085"},
		{"right to left override", "ls \u202etxt", "a character that turns the direction of text, U+202E"},
		{"isolate", "ls \u2066", "a character that turns the direction of text, U+2066"},
		{"left to right mark", "ls \u200e", "a character that turns the direction of text, U+200E"},
		{"zero width space", "r\u200bm", "a character that cannot be seen, U+200B"},
		{"byte order mark", "\ufeffls", "a character that cannot be seen, U+FEFF"},
		{"soft hyphen", "ls a\u00adb", "a character that cannot be seen, U+00AD"},
		{"filler", "ls \u3164", "a character that cannot be seen, U+3164"},
		{"selector on a letter", "ls a\ufe0f", "a character that cannot be seen, U+FE0F"},
		{"selector that carries bytes", "ls a\U000e0101", "a tag character, U+E0101"},
		{"tag", "ls \U000e0041", "a tag character, U+E0041"},
		{"line separator", "ls \u2028 rm", "a character that cannot be seen, U+2028"},
		{"not UTF-8", "ls \xff", "a byte that is not UTF-8, U+FFFD"},
		{"blank that separates nothing", "ls\u00a0-la", "a blank that separates nothing"},
		{"wide blank", "rm\u3000x", "a blank that separates nothing"},
		{"blank in quotes", "echo 'a\u00a0b\u3000c'", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := shell.Inspect(tt.text)
			got := ""
			for _, p := range l.Problems {
				if p.Kind == shell.Character {
					got = p.What
					break
				}
			}
			if got != tt.what {
				t.Errorf("Inspect(%q): got %q, want %q", tt.text, got, tt.what)
			}
			if _, found := l.Mentions([]string{"rm"}, nil); strings.Contains(tt.text, "rm") && tt.what != "" && !l.Understood() != found {
				t.Errorf("Inspect(%q): rm was found: %v, and the text was understood: %v", tt.text, found, l.Understood())
			}
		})
	}
}

func TestSH2_everyCommand(t *testing.T) {
	runLines(t, []lineOf{
		{"one", "ls -la", []string{"ls -la"}},
		{"list", "a; b && c || d & e", []string{"a", "b", "c", "d", "e"}},
		{"lines", "a\nb\n\n c", []string{"a", "b", "c"}},
		{"pipe", "a | b |& c", []string{"a", "b", "c"}},
		{"negation", "! a", []string{"a"}},
		{"subshell and group", "(a; b); { c; }", []string{"a", "b", "c"}},
		{"if", "if a; then b; elif c; then d; else e; fi", []string{"a", "b", "c", "d", "e"}},
		{"loops", "for i in 1; do a; done; while b; do c; done; until d; do e; done", []string{"a", "b", "c", "d", "e"}},
		{"loop like in C", "for ((i=0;i<2;i++)); do a; done", []string{"a"}},
		{"loop with braces", "for i in 1; { a; }", []string{"a"}},
		{"select", "select i in x; do a; done", []string{"a"}},
		{"case", "case x in a) b;; (c|d) e;& *) f;; esac", []string{"b", "e", "f"}},
		{"function", "f() { a; }; function g { b; }", []string{"a", "b"}},
		{"coprocess", "coproc a x; coproc N { b; }", []string{"a x", "b"}},
		{"coprocess in front of a pipe", "coproc rm x | a; b | coproc rm -f 2>y | c; coproc 2>y d e |& f", []string{"rm x", "a", "b", "rm -f", "c", "d e", "f"}},
		{"coprocess with a redirection", "coproc a >/dev/null; coproc b >/dev/null x; coproc 2>/dev/null c x; coproc d", []string{"a", "b x", "c x", "d"}},
		{"time", "time -p a; time -- b; time", []string{"a", "b"}},
		{"time behind a pipe", "a | time b", []string{"a", "time b", "b"}},
		{"substitution", "echo $(a)", []string{"echo {substitution}", "a"}},
		{"substitution in quotes", `echo "x$(a "$(b)")y"`, []string{"echo xy{substitution}", "a {substitution}", "b"}},
		{"backquotes", "echo `a`", []string{"echo {substitution}", "a"}},
		{"backquotes in backquotes", "echo `a \\`b \\\\\\`c\\\\\\`\\``", []string{"echo {substitution}", "a {substitution}", "b {substitution}", "c"}},
		{"process substitution", "diff <(a) >(b)", []string{"diff {process substitution} {process substitution}", "a", "b"}},
		{"here-document", "cat <<E\n$(a) `b` ${x:-$(c)} \\$(d)\nE\ne", []string{"cat", "a", "b", "c", "e"}},
		{"quoted here-document", "cat <<'E'\n$(a)\nE\nb", []string{"cat", "b"}},
		{"here-string", "cat <<<\"$(a)\"", []string{"cat", "a"}},
		{"assignment", "x=$(a); y=(1 $(b) [$(c)]=$(d))", []string{"a", "b", "c", "d"}},
		{"assignment in front", "x=$(a) b", []string{"b", "a"}},
		{"export", "export x=$(a) \"y=$(b)\"", []string{"export x={substitution} y={substitution}", "a", "b"}},
		{"default", "echo ${x:-$(a)} \"${y:=$(b)}\" ${z/$(c)/$(d)} ${w:$(e)}", []string{
			"echo {variable} {variable} {variable} {variable}", "a", "b", "c", "d", "e",
		}},
		{"arithmetic", "echo $((1+$(a))) $[$(b)]; (( $(c) )); let x=$(d)", []string{
			"echo {arithmetic} {arithmetic}", "a", "b", "c", "let x={substitution}", "d",
		}},
		{"subscripts", "echo ${x[$(a)]} $((y[$(b)])); [[ -v z[$(c)] ]]; w[$(d)]=1", []string{"echo {variable} {arithmetic}", "a", "b", "c", "d"}},
		{"test", "[[ $(a) == b && -n $(c) ]]", []string{"a", "c"}},
		{"redirection", "a > $(b)", []string{"a", "b"}},
		{"redirection alone", "> $(a)", []string{"a"}},
		{"inside of a word", "a$(b)c", []string{"ac{substitution}", "b"}},
		{"comment", "a # $(b)\nc", []string{"a", "c"}},
		{"braces", "{a,b} c", []string{"a{brace} b{brace} c"}},
	})
}

// Bash and the grammar disagree about these.
func TestSH2_disagreements(t *testing.T) {
	tests := []struct {
		name, text, program string
	}{
		{"single quotes in braces in quotes", `echo "${x:-'$(rm)'}"`, "rm"},
		{"single quotes in braces in a here-document", "cat <<E\n${x:-'$(rm)'}\nE", "rm"},
		{"single quotes in arithmetic", "echo $(( 'a[$(rm)]' ))", "rm"},
		{"single quotes in a subscript", "echo ${a['$(rm)']}", "rm"},
		{"a substitution that goes on", "echo \"$\\\n(rm)\"", "rm"},
		{"a comment that goes on", "ls # x\\\nrm", "rm"},
		{"a delimiter with a quote in it", "cat <<\"E\\\"F\"\nx\nE\"F\nrm\nE\\\"F", "rm"},
		{"a delimiter with escapes", "cat <<$'\\x45'\nx\nE\nrm\n\\x45\n", "rm"},
		{"a delimiter in two lines", "cat <<E\nx\nE\\\n\nrm\nE\n", "rm"},
		{"a document that begins inside brackets", "cat <<E | (\nx\nE\nrm )", "rm"},
		{"negated brackets", "!(rm)", "rm"},
		{"backquotes in quotes in backquotes", "echo `echo '`; rm '`'", "rm"},
		{"a target that is expanded twice", "ls >& 'x$(rm)'", "rm"},
		{"a descriptor that a hyphen closes", "xargs>&-rm", "xargs"},
		{"let and a pipe", "let x|rm", "rm"},
		{"let and a list", "let x;rm", "rm"},
		{"time and its end of options", "time -- rm", "rm"},
		{"time in front of brackets", "time -- (rm)", "rm"},
		{"no arithmetic", "((rm); (ls))", "rm"},
		{"no arithmetic in a word", "echo $((rm); (ls))", "rm"},
		{"a coprocess with an assignment", "coproc A=b rm", "rm"},
		{"a coprocess with an assignment in front of a pipe", "coproc A=b rm | ls", "rm"},
		{"quoted text that declare expands", "declare -a 'a=($(rm))'", "rm"},
		{"quoted text that test expands", "test -v 'a[$(rm)]'", "rm"},
		{"quoted text that printf expands", "printf -v 'a[$(rm)]' x", "rm"},
		{"quoted text that read expands", "read 'a[$(rm)]'", "rm"},
		{"quoted text that unset expands", "unset 'a[$(rm)]'", "rm"},
		{"quoted text that let expands", "let 'a[$(rm)]=1'", "rm"},
		{"quoted text that a test compares", "[[ 'a[$(rm)]' -eq 1 ]]", "rm"},
		{"quoted text that a test looks for", "[[ -v 'a[$(rm)]' ]]", "rm"},
		{"a variable that is empty", "$x rm", "rm"},
		{"nothing that is quoted", "\"$@\" rm", "rm"},
		{"an open document", "rm <<E\nx", "rm"},
		{"an open quote", "rm; echo 'x", "rm"},
		{"an open bracket", "ls; (rm", "rm"},
		{"a stray end", "rm\n)", "rm"},
		{"a hash behind quotes", "(ls ''#; rm\n)", "rm"},
		{"a hash behind a variable", "echo \"$(ls $x#; rm\n)\"", "rm"},
		{"a hash behind an expansion", "cat <<E\n`ls ${x}#; rm\n`\nE", "rm"},
		{"a hash behind a substitution", "a=(''# $(rm)\n)", "rm"},
		{"a hash behind a line that goes on", "diff <(ls \"\"\\\n#; rm\n)", "rm"},
		{"a hash behind a blank that is quoted", "(ls $x\\ #; rm\n)", "rm"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := shell.Inspect(tt.text)
			found := false
			for i := range l.Commands {
				found = found || l.Commands[i].Base() == tt.program
			}
			_, mentioned := l.Mentions([]string{tt.program}, nil)
			if !found && !mentioned {
				t.Errorf("Inspect(%q) has no %s: %v %v", tt.text, tt.program, written(l), l.Problems)
			}
			if mentioned && l.Understood() {
				t.Errorf("Inspect(%q): %s is mentioned in a line that was understood", tt.text, tt.program)
			}
		})
	}
}

func TestSH3_words(t *testing.T) {
	runLines(t, []lineOf{
		{"quotes", `'r'm "a b" a\ b ''`, []string{"rm ‹a b› ‹a b› ‹›"}},
		{"quotes in the program", `r''m; "l""s"; \rm; $'\x72\155'; 'rm'`, []string{"rm", "ls", "rm", "rm", "rm"}},
		{"escapes in double quotes", `echo "\$x \" \\ \a"`, []string{`echo ‹$x " \ \a›`}},
		{"ANSI-C", `echo $'a\tb\n\'\e[\x41\u0042\cA\101'`, []string{"echo ‹a\tb\n'\x1b[AB\x01A›"}},
		{"ANSI-C with an end in it", `echo $'a\0b'c`, []string{"echo ac"}},
		{"a line that goes on", "l\\\ns -\\\nla \\\n x", []string{"ls -la x"}},
		{"blanks", "  ls \t -la  ", []string{"ls -la"}},
		{"not split", "echo a=b {} a{b}c [ ]", []string{"echo a=b {} a{b}c [ ]"}},
		{"operators in quotes", `echo 'a;b|c&d>e' "(f)"`, []string{"echo a;b|c&d>e (f)"}},
		{"braces", "echo {a,b}c {1..3} {c..a} x{,y} {a,b{c,d}}", []string{
			"echo ac{brace} bc{brace} 1{brace} 2{brace} 3{brace} c{brace} b{brace} a{brace} x{brace} xy{brace} a{brace} bc{brace} bd{brace}",
		}},
		{"braces that are none", "echo {a} {a,b ${x} '{a,b}' {a..} a,b}", []string{"echo {a} {a,b {variable} {a,b} {a..} a,b}"}},
		{"braces in a row", "echo {a},b} {{a,b}}", []string{"echo a}{brace} b{brace} {a}{brace} {b}{brace}"}},
		{"too many braces", "echo {1..1000}", []string{"echo {1..1000}{brace, too many words}"}},
	})
}

func TestSH5_dynamic(t *testing.T) {
	runLines(t, []lineOf{
		{"variable", "$x a; ls $x ${y} \"$@\" $1 $?", []string{"{variable} a", "a", "ls {variable} {variable} {variable} {variable} {variable}"}},
		{"inside of a word", "ls a$x/b", []string{"ls a/b{variable}"}},
		{"glob", "ls *.go a?b [ab] x[ '*' \\* \"?\"", []string{"ls *.go{glob} a?b{glob} [ab]{glob} x[ * * ?"}},
		{"glob in the program", "/bin/r? x", []string{"/bin/r?{glob} x"}},
		{"tilde", "ls ~ ~/x ~root a=~/x a~b '~'", []string{"ls ~{tilde} ~/x{tilde} ~root{tilde} a=~/x{tilde} a~b ~"}},
		{"arithmetic", "ls $((1+1))", []string{"ls {arithmetic}"}},
		{"a message that is translated", `ls $"x"`, []string{"ls x{variable}"}},
		{"substitution in the program", "$(echo rm) x", []string{"{substitution} x", "echo rm", "x"}},
		{"braces in the program", "{rm,-rf} x", []string{"rm{brace} -rf{brace} x"}},
		{"the files that find finds", "find . -exec rm {} a{}b \\;", []string{"find . -exec rm {} a{}b ;", "rm {}{added} a{}b{added}"}},
	})
	for _, text := range []string{
		"case $x in a) ls;; esac", "for i in $x; do ls; done", "[[ -n $x ]] && ls", "(( $x )); ls", "for i in $(ls); do ls; done",
	} {
		if l := shell.Inspect(text); len(l.Problems) == 0 || l.Problems[0].Kind != shell.Unknown {
			t.Errorf("Inspect(%q): got %v, want a problem that something is unknown", text, l.Problems)
		}
	}
}

func TestSH12_limits(t *testing.T) {
	tests := []struct {
		name, text string
		kind       shell.Trouble
	}{
		{"length", "echo " + strings.Repeat("x", shell.MaxBytes) + "; rm -rf x", shell.TooLong},
		{"number", strings.Repeat("ls;", shell.MaxCommands) + "rm -rf x", shell.TooMany},
		{"depth", strings.Repeat("( ", shell.MaxDepth+1) + "rm -rf x" + strings.Repeat(")", shell.MaxDepth+1), shell.TooDeep},
		{"beginnings", strings.Repeat("$(", 20000) + "rm -rf x", shell.TooDeep},
		{"texts", strings.Repeat("eval ", shell.MaxTexts+1) + "rm -rf x", shell.TooDeep},
		{"wrappers", strings.Repeat("sudo ", shell.MaxDepth+1) + "rm -rf x", shell.TooDeep},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := shell.Inspect(tt.text)
			kinds := map[shell.Trouble]bool{}
			for _, p := range l.Problems {
				kinds[p.Kind] = true
			}
			if !kinds[tt.kind] || l.Understood() {
				t.Errorf("got %v, understood: %v; want %q", l.Problems, l.Understood(), tt.kind)
			}
			if _, found := l.Mentions([]string{"rm", "-rf"}, nil); !found {
				t.Error("what is forbidden was not found behind the limit")
			}
			if _, found := l.Mentions([]string{"rmdir"}, nil); found {
				t.Error("what is not there was found")
			}
		})
	}
}

func TestSH13_nothing(t *testing.T) {
	for _, text := range []string{"", " \n\t", "# ls", "x=1", ">out", "[[ a == a ]]", "((1))", ";", "x=1 >out"} {
		l := shell.Inspect(text)
		if len(l.Commands) != 0 || len(l.Problems) == 0 || l.Problems[len(l.Problems)-1].Kind != shell.Nothing {
			t.Errorf("Inspect(%q): got %v and %v, want nothing and a problem that says so", text, written(l), l.Problems)
		}
	}
	if l := shell.Inspect("x=$(ls)"); len(l.Commands) != 1 {
		t.Errorf("got %v, want the command in the substitution", written(l))
	}
}

// What must stay silent has no problem, no assignment that matters, no file
// that is written, and nothing that goes beyond a rule for its program.
func TestSH14_silent(t *testing.T) {
	for _, text := range []string{
		"ls", "ls -la src", "git status -s", "ls; ls && ls | wc -l", "ls 2>/dev/null", "ls >/dev/null 2>&1", "ls &>/dev/null", "ls < file",
		"echo 'a; rm -rf /'", `echo "a | b > c & d"`, "echo a\\;b", "ls # rm -rf /", "ls  \t ", "ls\n", "ls\n\n", "ls *.go", "ls src/**/x?.[ch]",
		"ls {a,b}", "grep -rn 'foo|bar' .", "LANG=C ls", "LC_ALL=C.UTF-8 NO_COLOR=1 ls", "TZ=UTC date", "CI=1 FORCE_COLOR=0 ls",
		"for i in a b c; do ls; done", "if ls; then pwd; fi", "cat <<'E'\nrm -rf /\n$(rm)\nE", "cat <<E\nplain text\nE", "command -v git", "ls ~/src",
		"sort -u file", "sort -- -o", "sort -k 2,2 -n file", "find . -name '*.go' -type f", "sed -n '1,5p' file", "sed 's/a/b/g; /x/d' file", "sed -e 's|[^/]*$||' f",
		"awk '{print $1}' file", "awk -F: '$3 > 100 {print $1, NR}' file", "awk '/a|b/ {n++} END {print n}' f", "tar tf a.tar", "git log --oneline -5",
		"git diff --stat HEAD~1", "rg --pretty foo", "uniq -c file", "date +%s", "tree -L 2", "time ls", "test -f x", "[ -d x ]", "[[ -f x ]] && ls",
		"timeout 5 ls", "nice -n 5 ls", "xxd file", "curl -s https://example.org", "echo é 日本", "head -n 3 file", "sed 5q f", "sed -n '$=' f", "sed '/a/,/b/!d' f", "sed 's/a/b/;t;d' f", "sed '1!G;h;$!d' f", "sed '/x/a text' f", "sed -E 's/(a|b)+/\\1/2g' f",
		"sed '1,3{s/a/b/;p}' f", "sed 's/a/b/ # w x' f", "sed ':a;N;$!ba;s/\\n/ /g' f", "sed '$!N;P;D' f", "sed y/ab/cd/ f", "awk 'NR>1 && $2 != \"a > b\" || /x|y/ {print $NF}' f",
		"awk -v a=1 'BEGIN {FS=\"|\"} {s += $1 / 2} END {printf \"%d\\n\", s}' f", "jq '.a | .b' f", "rg 'a|b' -g '*.go' src", "set -euo pipefail; ls", "cd src && ls",
	} {
		l := shell.Inspect(text)
		if why := loud(l); why != "" {
			t.Errorf("Inspect(%q): %s", text, why)
		}
	}
}

// loud says why a line would be asked about even if all its programs were
// allowed.
func loud(l *shell.Line) string {
	for _, p := range l.Problems {
		return fmt.Sprintf("problem: %s: %s", p.Kind, p.What)
	}
	for _, a := range l.Assignments {
		if !a.Harmless {
			return "assignment: " + a.Name
		}
	}
	for _, r := range l.Redirects {
		if r.Kind == shell.Write || r.Kind == shell.Network {
			return "redirection: " + r.Target.Text
		}
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		if b := c.Beyond(); b != nil {
			return fmt.Sprintf("beyond: %s: %s: %s", c.Base(), b.Kind, b.What)
		}
		if c.Program.Dynamic != 0 {
			return "program: " + c.Program.Dynamic.String()
		}
		for _, w := range c.Args {
			if w.Unknown() {
				return "argument: " + w.Dynamic.String()
			}
		}
	}
	return ""
}
