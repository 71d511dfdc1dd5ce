package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/inspect/shell"
)

func TestSH9_redirects(t *testing.T) {
	tests := []struct{ text, want string }{
		{"ls >out", "> write out"},
		{"ls >>out", ">> write out"},
		{"ls >|out", ">| write out"},
		{"ls &>out", "&> write out"},
		{"ls &>>out", "&>> write out"},
		{"ls >&out", ">& write out"},
		{"ls <>out", "<> write out"},
		{"ls 2>out", "> write out"},
		{"ls {fd}>out", "> write out"},
		{">out", "> write out"},
		{"ls > 'a b'", "> write a b"},
		{"ls > $x", "> write {variable}"},
		{"ls > a$x", "> write a{variable}"},
		{"ls > *.x", "> write *.x{glob}"},
		{"ls > ~/x", "> write ~/x{tilde}"},
		{"ls >/dev/null", "> null /dev/null"},
		{"ls 2>/dev/stderr", "> null /dev/stderr"},
		{"ls >/dev/stdout", "> null /dev/stdout"},
		{"ls &>/dev/null", "&> null /dev/null"},
		{"ls >/dev/null/x", "> write /dev/null/x"},
		{"ls >//dev/null", "> write //dev/null"},
		{"ls >/dev/sda", "> write /dev/sda"},
		{"ls 2>&1", ">& duplicate 1"},
		{"ls >&2", ">& duplicate 2"},
		{"ls 2>&-", ">& duplicate -"},
		{"ls <&3-", "<& duplicate 3-"},
		{"ls >&$x", ">& write {variable}"},
		{"ls <in", "< read in"},
		{"ls </dev/null", "< null /dev/null"},
		{"ls </dev/tcp/a/1", "< network /dev/tcp/a/1"},
		{"ls >/dev/udp/a/1", "> network /dev/udp/a/1"},
		{"ls >/dev/tcp/$x/1", "> network /dev/tcp//1{variable}"},
		{"exec 3<>/dev/tcp/a/1", "<> network /dev/tcp/a/1"},
		{"cat <<<x", "<<< body x"},
		{"cat <<E\nx\nE", "<< body x\n"},
		{"cat <<-'E'\n\tx $y\n\tE", "<<- body x $y\n"},
		{"cat <<E\nx $y\nE", "<< body x \n{variable}"},
		{"{ ls; } >out", "> write out"},
		{"for i in a; do ls; done >out", "> write out"},
		{"(ls) 2>out", "> write out"},
		{"if ls; then ls; fi >out", "> write out"},
		{"export x >out", "> write out"},
		{"let x>out", "> write out"},
		{"x=1 >out", "> write out"},
	}
	for _, tt := range tests {
		l := shell.Inspect(tt.text)
		var got []string
		for _, r := range l.Redirects {
			s := fmt.Sprintf("%s %s %s", r.Op, r.Kind, r.Target.Text)
			if !r.Target.Literal() {
				s += "{" + r.Target.Dynamic.String() + "}"
			}
			got = append(got, s)
		}
		if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
			t.Errorf("Inspect(%q): want -, got +\n%s", tt.text, diff)
		}
	}
}

func TestSH10_assignments(t *testing.T) {
	tests := []struct{ text, want string }{
		{"PATH=x ls", "PATH=x"},
		{"LD_PRELOAD=x GIT_PAGER=y ls", "LD_PRELOAD=x GIT_PAGER=y"},
		{"LANG=C LC_ALL=C TZ=UTC CI=1 TERM=x COLUMNS=1 LINES=2 NO_COLOR=1 FORCE_COLOR=1 ls", ""},
		{"LANG=$x ls", "LANG="},
		{"LANG[0]=x; ls", "LANG=x lasting"},
		{"x=1; ls", "x=1 lasting"},
		{"x+=1; ls", "x=1 lasting"},
		{"LANG=C; ls", ""},
		{"export PATH=x", "PATH=x lasting"},
		{"export LANG=C", ""},
		{"declare -x A=b", "A=b lasting"},
		{"readonly A=b; typeset B=c; local C=d", "A=b lasting B=c lasting C=d lasting"},
		{"command export A=b", "A=b lasting"},
		{"'export' A=b", "A=b lasting"},
		{"env A=b ls", "A=b"},
		{"env LANG=C ls", ""},
		{"sudo A=b ls", "A=b"},
		{"env -S 'A=b ls'", "A=b"},
		{"for i in a; do ls; done", ""},
		{"for PATH in a; do ls; done", "PATH= lasting"},
		{"for http_proxy in a; do ls; done", "http_proxy= lasting"},
		{"select IFS in a; do ls; done", "IFS= lasting"},
		{"for ((i=0;i<2;i++)); do ls; done", ""},
		{"((x=1)); ls", "x= lasting"},
		{"((x++)); ls", "x= lasting"},
		{"echo $((PATH=1))", "PATH= lasting"},
		{"let x=1 y+=2", "x= lasting y= lasting"},
		{"echo ${x:=y}", "x=y lasting"},
		{"echo ${x=y}", "x=y lasting"},
		{"read PATH", "PATH= lasting"},
		{"read -r line", ""},
		{"while read -r line; do ls; done", ""},
		{"printf -v PATH x", "PATH= lasting"},
		{"mapfile PATH", "PATH= lasting"},
		{"getopts x PATH", "PATH= lasting"},
		{"ls {PATH}>x", "PATH= lasting"},
		{"coproc PATH { ls; }", "PATH= lasting"},
		{"unset PATH", "PATH= lasting"},
		{"a=(x y); ls", "a= lasting"},
		{"ls a=b", ""},
		{"echo 'a=b'", ""},
	}
	for _, tt := range tests {
		var got []string
		for _, a := range shell.Inspect(tt.text).Assignments {
			if a.Harmless {
				continue
			}
			s := a.Name + "=" + a.Value.Text
			if a.Lasting {
				s += " lasting"
			}
			got = append(got, s)
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("Inspect(%q): got %q, want %q", tt.text, g, tt.want)
		}
	}
}
