package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// where writes the folders of a command: "." for where the line began.
func where(dirs []shell.Dir) string {
	var all []string
	for _, d := range dirs {
		switch {
		case d.Unknown:
			all = append(all, "?")
		case len(d.Steps) == 0:
			all = append(all, ".")
		default:
			all = append(all, strings.Join(d.Steps, " "))
		}
	}
	return strings.Join(all, " or ")
}

func TestSH11_cd(t *testing.T) {
	tests := []struct{ text, want string }{ // the folder of the last command
		{"ls", "."},
		{"cd a && ls", "a"},
		{"cd a; ls", "a or ."},
		{"cd a || ls", "."},
		{"cd a || exit; ls", "a or ."},
		{"cd a && cd b && ls", "a b"},
		{"cd /a && ls", "/a"},
		{"cd a && cd /b && ls", "/b"},
		{"cd 'a b' && ls", "a b"},
		{"cd -- a && ls", "a"},
		{"cd -P a && ls", "a"},
		{"cd .. && ls", ".."},
		{"cd a/../b && ls", "a/../b or b"},
		{"cd a && cd .. && ls", "a .. or ."},
		{"cd && ls", "?"},
		{"cd - && ls", "?"},
		{"cd ~ && ls", "?"},
		{"cd $x && ls", "?"},
		{"cd a* && ls", "?"},
		{"cd \"$(x)\" && ls", "?"},
		{"cd a b && ls", "?"},
		{"cd {a,b} && ls", "?"},
		{"(cd a); ls", "."},
		{"(cd a && ls)", "a"},
		{"{ cd a; } && ls", "a"},
		{"cd a | ls", "."},
		{"cd a & ls", "."},
		{"x=$(cd a); ls", "."},
		{"! cd a && ls", "."},
		{"if cd a; then ls; fi", "a"},
		{"if cd a; then cd b; fi; ls", "a b or a or ."},
		{"for i in 1 2; do cd a; ls; done", "?"},
		{"for i in 1 2; do cd a; done; ls", "?"},
		{"while ls; do cd a; done; ls", "?"},
		{"case x in a) cd a;; esac; ls", ". or a"},
		{"pushd a && ls", "a"},
		{"pushd +1 && ls", "?"},
		{"pushd && ls", "?"},
		{"popd && ls", "?"},
		{"command cd a && ls", "a"},
		{"builtin cd a && ls", "a"},
		{"eval 'cd a' && ls", "a or ."},
		{"source x && ls", "?"},
		{"f() { cd a; }; f; ls", "?"},
		{"f() { ls; }; f; ls", "."},
		{"bash -c 'cd a; ls'", "a or ."},
		{"bash -c 'cd a'; ls", "."},
		{"sudo cd a; ls", "."},
		{"env -C a ls", "a"},
		{"sudo -D $x ls", "?"},
		{"chroot a ls", "?"},
		{"git -C a status", ". or a"},
		{"make -C a -C b", ". or a b"},
		{"cd a && bash -c ls", "a"},
		{"cd a && sudo ls", "a"},
		{"find . -execdir ls \\;", "?"},
		{"cd a; cd b; cd c; cd d; ls", "?"},
		{"trap ls EXIT", "?"},
	}
	for _, tt := range tests {
		l := shell.Inspect(tt.text)
		if got := where(l.Commands[len(l.Commands)-1].Dirs); got != tt.want {
			t.Errorf("Inspect(%q): got %q, want %q", tt.text, got, tt.want)
		}
	}
	l := shell.Inspect("cd a && ls >out")
	if got := where(l.Redirects[0].Dirs); got != "a" {
		t.Errorf("the redirection happens in %q, want a", got)
	}
	if l := shell.Inspect("env -C a ls"); !has(l, "moves a") {
		t.Errorf("got %v, want the folder that env enters", traitsOf(l))
	}
}

func TestSH11_operands(t *testing.T) {
	tests := []struct{ text, want string }{
		{"cat a b/c /d ../e", "a b/c /d ../e"},
		{"head -n 5 file", "file"},
		{"head -5 file", "file"},
		{"cut 5 file", "5 file"},
		{"ls -la", ""},
		{"ls -la -- -x 5 --y=z", "-x 5 --y=z"},
		{"ls -- -- x", "-- x"},
		{"grep --file=a --include=*.go x", "a *.go{glob} x"},
		{"cat -", "-"},
		{"cat ~/x $y", "~/x{tilde} {variable}"},
		{"tool --dir=~/x", "~/x{tilde}"},
		{"tool --dir=$x", "{variable}"},
		{"tool --dir$x", "{variable}"},
		{"tool -C/etc -I../x -o~/y -n5 -abc", "/etc ../x ~/y{tilde}"},
		{"tool -o$x", "{variable}"},
		{"tool -xf/etc/x -vC.. -abI~/x -n5/etc", "f/etc/x /etc/x .. bI~/x ~/x{tilde} 5/etc /etc"},
		{"grep -nf/etc/x -rie../x -C3/x b", "f/etc/x /etc/x ie../x ../x 3/x b"},
		{"grep -fa/b -fa../x -ofoo/bar -f=/x b", "a/b a../x foo/bar oo/bar /x =/x b"},
		{"dd if=/etc/passwd of=x", "if=/etc/passwd /etc/passwd of=x"},
		{"make A=b C=/d", "A=b C=/d /d"},
		{"tool -dir=/etc", "/etc"},
		{"cat {a,b}", "a{brace} b{brace}"},
		{"pytest -k 'a or b' tests", "‹a or b› tests"},
	}
	for _, tt := range tests {
		c := shell.Inspect(tt.text).Commands[0]
		var got []string
		for _, w := range c.Operands() {
			text := w.Text
			if strings.Contains(text, " ") {
				text = "‹" + text + "›"
			}
			if !w.Literal() {
				text += "{" + w.Dynamic.String() + "}"
			}
			got = append(got, text)
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, g, tt.want)
		}
	}
}

func TestClass(t *testing.T) {
	tests := []struct {
		text string
		want shell.Class
	}{
		{"ls -la", shell.ReadOnly}, {"git status", shell.ReadOnly}, {"git log --output=x", shell.Powerful}, {"git push", shell.Powerful},
		{"git commit -m x", shell.Ordinary}, {"touch x", shell.Ordinary}, {"rm x", shell.Powerful}, {"python3 x.py", shell.Powerful},
		{"timeout 5 ls", shell.ReadOnly}, {"unheard-of", shell.Foreign}, {"$x", shell.Foreign}, {"find . -name x", shell.ReadOnly},
		{"find . -delete", shell.Powerful}, {"sort -o x y", shell.Powerful}, {"sed -n p x", shell.ReadOnly}, {"sed -i p x", shell.Powerful},
		{"curl x", shell.Powerful}, {"cp a b", shell.Ordinary}, {"go vet ./...", shell.Powerful}, {"go list ./...", shell.ReadOnly},
		{"cd x", shell.ReadOnly}, {"[ -f x ]", shell.ReadOnly}, {":", shell.ReadOnly}, {"xxd a b", shell.Powerful}, {"command -v ls", shell.ReadOnly},
		{"./ls", shell.Foreign}, {"/usr/bin/ls", shell.ReadOnly},
	}
	for _, tt := range tests {
		if got := shell.Inspect(tt.text).Commands[0].Class; got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	tests := []struct {
		text string
		want shell.Place // of the last command
	}{
		{"ls", 0},
		{"echo $(ls)", shell.InSubstitution},
		{"cat <(ls)", shell.InSubstitution},
		{"f() { ls; }", shell.InFunction},
		{"for i in a; do ls; done", shell.InLoop},
		{"ls && ls", shell.InBranch},
		{"ls &", shell.InBackground},
		{"coproc ls", shell.InBackground},
		{"ls | ls", shell.InPipe},
		{"sh -c ls", shell.InText},
		{"cat <<E\n$(ls)\nE", shell.InBody | shell.InSubstitution},
	}
	for _, tt := range tests {
		l := shell.Inspect(tt.text)
		if got := l.Commands[len(l.Commands)-1].Place; got != tt.want {
			t.Errorf("%q: got %b, want %b", tt.text, got, tt.want)
		}
	}
}

func ExampleInspect() {
	line := shell.Inspect("sudo rm -rf \"$dir\" && sort -o sorted list > log")
	for _, c := range line.Commands {
		fmt.Println(c.Base(), len(c.Args), "words")
		if t := c.Beyond(); t != nil {
			fmt.Println("  beyond its name:", t.Kind, t.Target.Text)
		}
	}
	for _, r := range line.Redirects {
		fmt.Println(r.Kind, r.Target.Text)
	}
	// Output:
	// sudo 3 words
	// rm 2 words
	// sort 3 words
	//   beyond its name: writes sorted
	// write log
}
