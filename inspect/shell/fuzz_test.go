package shell_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// FuzzInspect gives any text to inspection. It must not panic, what it returns
// must be about the text, and what changes nothing for bash changes nothing.
func FuzzInspect(f *testing.F) {
	for _, text := range []string{
		"ls -la | head", "sudo env -S 'rm -rf x' y", "bash -c \"rm $x\" <<E\nx\nE\n", "find . -exec rm {} \\; -o -delete", "echo `a \\`b\\`` $'\\x41' {a,b{1..3}}",
		"for i in a; do cd x; done; f() { ls; }; f", "((a); (b)); let x|rm; a | time b", "[[ a =~ (b|c) && -v a[$(x)] ]]", "sed 's/[/]/x/w out;y/a/b/' f", "awk '{print $1 > \"x\"}'",
		"a\\\nb # c\\\nd", "cat <<-\"E\" <<F\n\tx\n\tE\n$(y)\nF", "x=$(a) y+=(b [c]=d) export z", "coproc A=b ls >&-x", "\x00\r\u200b\xff", "${x:-'$(y)'} ${!z@P}", "!(a) @(b|c)",
		"tar cIf sh a b; git -c a=b log --outp x; python3 -m x -c y", "$x $(y) \"$@\" rm", "declare -a 'a=($(b))'; test -v 'a[$(c)]'", "env -iS'-S \"a b\" ${c}\\_d'",
		`\0>0`, ">&-a b; {c}>&- d; 2>& -e; 3000000000>f", `$'00\0'; $'a\x00b'c`,
	} {
		f.Add(text)
	}
	for _, text := range evaluatedAgain {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := shell.Inspect(text)
		checkLine(t, l)
		if !l.Understood() {
			return
		}
		if strings.HasSuffix(text, "\\") {
			return // it would quote the end of the line
		}
		same(t, l, text+"\n")
		if !strings.ContainsAny(text, "'\"\\`$#{<~") {
			same(t, l, strings.ReplaceAll(text, " ", " \t "))
		}
		mentions(t, l)
	})
}

// checkLine checks that a line is about its text.
func checkLine(t *testing.T, l *shell.Line) {
	t.Helper()
	span := func(what string, s shell.Span) {
		if s.From < 0 || s.From > s.To || s.To > len(l.Text) {
			t.Errorf("%s at %v of %d bytes of %q", what, s, len(l.Text), l.Text)
		}
	}
	word := func(w shell.Word) {
		span("word", w.Span)
		if w.Fixed < 0 || w.Fixed > len(w.Text) || w.Literal() && w.Fixed != len(w.Text) {
			t.Errorf("word %+v of %q", w, l.Text)
		}
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		span("command", c.Span)
		for _, w := range c.Words() {
			word(w)
		}
		for _, w := range c.Operands() {
			word(w)
		}
		for _, x := range c.Traits {
			span("trait", x.Span)
		}
		if c.By >= i || c.By < -1 || len(c.Dirs) == 0 {
			t.Errorf("command %d of %q is run by %d in %v", i, l.Text, c.By, c.Dirs)
		}
		c.Fits([]string{"git", "push", "-f"}, nil)
	}
	for _, r := range l.Redirects {
		span("redirection", r.Span)
		word(r.Target)
		if r.Command < -1 || r.Command >= len(l.Commands) {
			t.Errorf("redirection of command %d of %q", r.Command, l.Text)
		}
	}
	for _, a := range l.Assignments {
		span("assignment", a.Span)
	}
	for _, p := range l.Problems {
		span("problem", p.Span)
	}
	if len(l.Commands) == 0 && len(l.Problems) == 0 {
		t.Errorf("nothing and no problem in %q", l.Text)
	}
}

// same checks that another text is the same commands.
func same(t *testing.T, l *shell.Line, text string) {
	t.Helper()
	if diff := cmp.Diff(written(l), written(shell.Inspect(text))); diff != "" {
		t.Errorf("%q is other commands than %q:\n%s", text, l.Text, diff)
	}
}

// mentions checks that what is listed in a line is found in it without the
// grammar, too, with all the words that it begins with.
func mentions(t *testing.T, l *shell.Line) {
	t.Helper()
	for _, end := range []string{"\n)", "\n'", "\n\r"} {
		broken := shell.Inspect(l.Text + end)
		for _, c := range l.Commands {
			if c.By >= 0 || !c.Program.Literal() || c.Program.Text == "" || c.Place&(shell.InText|shell.InFunction) != 0 {
				continue
			}
			pattern := []string{c.Program.Text}
			for _, w := range c.Args {
				if !w.Literal() || w.Text == "--" {
					break // some of its words are known only when it runs
				}
				pattern = append(pattern, w.Text)
			}
			if _, found := broken.Mentions(pattern, nil); !found {
				t.Errorf("%q is listed in %q and not mentioned in front of %q", pattern, l.Text, end)
			}
		}
	}
}
