package shell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// evaluatedAgain are lines in which bash runs zap, each tried with a harmless
// program in its place: arithmetic evaluates the value of a name as well, and
// expands the subscripts in it.
var evaluatedAgain = []string{
	"ls 'a[$(zap)]'; [[ _ -eq 0 ]]",
	"ls 'a[`zap`]'; ((_))",
	`ls a[\$\(zap\)]; ((_))`,
	`ls "a[\$(zap)]"; ((_))`,
	`ls $'a[\x24(zap)]'; ((_))`,
	"ls 'a[$(zap)]'; for ((i=_;i<1;i++)); do ls; done",
	"ls 'a[$(zap)]'; for ((i=0;i<_;i++)); do ls; done",
	"ls 'a[$(zap)]'; echo $((_))",
	"ls 'a[$(zap)]'; echo $[_+1]",
	"ls 'a[$(zap)]'; ((1+(2*-_)))",
	"ls 'a[$(zap)]'; [[ 3 -gt '(_)' ]]",
	"ls 'a[$(zap)]'; ((b[_]))",
	"ls 'a[$(zap)]'; b=([_]=1)",
	"ls 'a[$(zap)]'; echo ${b[_]}",
	"ls 'a[$(zap)]'; echo ${PATH:_}",
	"ls 'a[$(zap)]'; echo ${PATH:0:_}",
	"ls 'a[$(zap)]'; case 1 in $((_))) ls;; esac",
	"ls 'a[$(zap)]'; cat <<E\n$((_))\nE",
	"ls 'a[$(zap)]'; cat <<E\n${PATH:_}\nE",
	"ls 'a[$(zap)]'; cat <<E\n${!_}\nE",
	"ls '$(zap)'; cat <<E\n${_@P}\nE",
	"LANG='a[$(zap)]'; ls; [[ LANG -eq 0 ]]",
	"read x <<< 'a[$(zap)]'; [[ x -eq 0 ]]",
	"read x <<'E'\na[$(zap)]\nE\n((x))",
	"read <<< 'a[$(zap)]'; ((REPLY))",
	"printf -v x %s 'a[$(zap)]'; ((x))",
	"mapfile -t x <<< 'a[$(zap)]'; ((x))",
	"for x in 'a[$(zap)]'; do [[ x -eq 0 ]]; done",
	"select x in 'a[$(zap)]'; do ((x)); done",
	"echo 'a[$(zap)]' | while read x; do ((x)); done",
	"for ((i=0;i<1;i++)); do read i <<< 'a[$(zap)]'; [[ i -eq 0 ]]; done",
	"for ((i=0;i<1;i++)); do read \"$n\" <<< 'a[$(zap)]'; [[ i -eq 0 ]]; done",
	"[[ 'a[$(zap)]' =~ (.*) ]]; [[ BASH_REMATCH -eq 0 ]]",
	"set -- 'a[$(zap)]'; [[ $1 -eq 0 ]]",
	"x=('a[$(zap)]'); ((x))",
	": ${x:='a[$(zap)]'}; ((x))",
	"x='y'; y='a[$(zap)]'; ((x))",
	"x='a[$(zap)]'; printf -v 'b[x]' 1",
	"x='a[$(zap)]'; read 'b[x]' <<< 1",
	"x='a[$(zap)]'; b=(1); unset 'b[x]'",
	"x='a[$(zap)]'; declare 'b[x]=1'",
	"x='a[$(zap)]'; b=1; test -v 'b[x]'",
	"x='a[$(zap)]'; b=1; [[ -v b[x] ]]",
	"x='a[$(zap)]'; wait -n -p 'b[x]'",
	"x='a[$(zap)]'; ls {b[x]}>/dev/null",
	"x='a[$(zap)]'; let x",
	"declare -i LANG; LANG='a[$(zap)]'",
	"f() { local -i LANG; read LANG <<< 'a[$(zap)]'; }; f",
	"declare -n LANG; LANG='a[$(zap)]'; echo $LANG",
	"RANDOM='a[$(zap)]'",
	"for OPTIND in 'a[$(zap)]'; do ls; done",
	"read HISTCMD <<< 'a[$(zap)]'",
	"ls 'a[$(ls '\\''b[$(zap)]'\\'')]'; ((_))",
}

// TestSH5_evaluatedAgain: arithmetic with a name is a problem, whatever the
// value may be.
func TestSH5_evaluatedAgain(t *testing.T) {
	for _, text := range evaluatedAgain {
		if l := shell.Inspect(text); !slices.ContainsFunc(l.Problems, func(p shell.Problem) bool { return p.Kind == shell.Unknown }) {
			t.Errorf("Inspect(%q) knows it all: %v", text, l.Problems)
		}
		bare := strings.ReplaceAll(text, "$(zap)", "1")
		if l := shell.Inspect(bare); bare != text && !strings.HasPrefix(text, "RANDOM") && !slices.ContainsFunc(l.Problems, func(p shell.Problem) bool { return p.Kind == shell.Unknown }) {
			t.Errorf("Inspect(%q) knows it all: %v", bare, l.Problems)
		}
	}
}

// TestDE2_evaluatedAgain: what runs when a value is evaluated is listed, so
// that denials see it.
func TestDE2_evaluatedAgain(t *testing.T) {
	for _, text := range evaluatedAgain {
		l := shell.Inspect(text)
		if !slices.ContainsFunc(l.Commands, func(c shell.Command) bool { return c.Program.Text == "zap" }) {
			t.Errorf("Inspect(%q) has no zap: %v %v", text, written(l), l.Problems)
		}
	}
}

// TestSH14_numbers: numbers, and names that count in a loop, are understood.
func TestSH14_numbers(t *testing.T) {
	for _, text := range []string{
		"for ((i=0;i<10;i++)); do ls; done", "for ((i = 0, j = 9; i < j; i++, j--)); do ls; done", "for ((n=0x10;n>2;n-=2)); do ls 'see $(zap)'; done",
		"for ((i=0;i<3;i++)); do for ((j=i;j<3;j++)); do ls; done; done", "ls; ((1+2))", "ls; [[ 3 -lt 16#ff ]]", "[[ 1 -eq 1 && a == b ]] && ls",
		"ls a[x]", "echo 'a[$(zap)]'", "ls; [[ -n a ]]", "ls 'x + y' -eq", "test x -eq 0", "for ((i=0;i<3;i++)); do [[ i -eq 2 ]] && ls; done",
	} {
		if l := shell.Inspect(text); len(l.Problems) > 0 || slices.ContainsFunc(l.Commands, func(c shell.Command) bool { return c.Program.Text == "zap" }) {
			t.Errorf("Inspect(%q): %v %v", text, written(l), l.Problems)
		}
	}
}
