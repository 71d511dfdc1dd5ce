package shell_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// TestSH8_keysAndOperands: what a program does without an option is outside an
// allow rule all the same.
func TestSH8_keysAndOperands(t *testing.T) {
	tests := []struct {
		text   string
		beyond bool
	}{
		{"less '+!ls' x", true}, {"less '+|ls' x", true}, {"less ++s x", true}, {"less '+:e y' x", true}, {"less -p x '+!ls' y", true}, {"less $'+/x\n!ls' y", true}, {"more '+!ls' x", true},
		{"less +G x", false}, {"less +10 x", false}, {"less +/word x", false}, {"less x", false}, {"less +F x", false}, {"less ++G x", false},
		{"date 010100002030", true}, {"date -u 010100002030", true}, {"date +%s", false}, {"date -d tomorrow +%s", false}, {"date -r x", false},
		{"shuf -o x y", true}, {"shuf -eo x y", true}, {"shuf --out=x y", true}, {"shuf -n 3 x", false},
		{"iconv -f a -t b -o y x", true}, {"iconv -f a -t b x", false}, {"file -C x", true}, {"file x", false}, {"ptx -G a b", true},
		{"ug --filter=x y", true}, {"bat --pager=x y", true}, {"ack --pager x y", true}, {"xmllint --output x y", true}, {"xmllint x", false}, {"scc -o x", true}, {"cloc --out=x .", true},
		{"python -i x.py", true}, {"python3 -ic 1", true}, {"python x.py -i", false}, {"proot ls", true}, {"xterm -e ls", true},
	}
	for _, tt := range tests {
		l := shell.Inspect(tt.text)
		if got := len(l.Commands) > 0 && l.Commands[0].Beyond() != nil; got != tt.beyond {
			t.Errorf("Inspect(%q): outside an allow: %v, want %v", tt.text, got, tt.beyond)
		}
	}
}

// TestSH6_supervisors: wrappers of supervisors are looked through.
func TestSH6_supervisors(t *testing.T) {
	for _, text := range []string{"setuidgid u zap x", "envuidgid u zap", "envdir d zap", "setlock -n f zap", "softlimit -m 100 zap", "chpst -u x -e d zap", "s6-setsid -b zap", "logsave -a f zap"} {
		l := shell.Inspect(text)
		if n := len(l.Commands); n != 2 || l.Commands[1].Program.Text != "zap" {
			t.Errorf("Inspect(%q) has %d commands: %v", text, n, written(l))
		}
	}
}

// TestSH12_backquotesThatDoNotEnd: denials find what stands behind them.
func TestSH12_backquotesThatDoNotEnd(t *testing.T) {
	for _, text := range []string{"echo `zap x", "echo \"`zap x", "ls `zap; ls", "echo `ls; zap x; ("} {
		if _, ok := shell.Inspect(text).Mentions([]string{"zap"}, nil); !ok {
			t.Errorf("%q: zap is not found", text)
		}
	}
}

// TestSH12_redirections: what stands in front of a redirection or behind it
// hides no program in a text that was not read whole, as bash runs the lines
// before the one that it cannot read.
func TestSH12_redirections(t *testing.T) {
	for _, text := range []string{
		">&- zap x", "<&- zap", "2>&- zap", "2>& - zap", ">&-zap x", "<&-zap", ">& \\\n -zap x", "{fd}>&- zap", "{FD}>x zap", "{fd[1]}<x zap",
		">- zap", "&>- zap", "<<-E zap", "<<- E zap", "2>x zap", "2\\\n>x zap", "zap>&-", "zap>&-x", "2>&1 zap", "2>&1- zap", ">|- zap", "<>- zap",
		`za\p>x`, `"zap">&-`, "<<<- zap", "2147483647>x zap", "<(zap x)", "> >(zap x)",
	} {
		if _, ok := shell.Inspect(text+"\n)").Mentions([]string{"zap"}, nil); !ok {
			t.Errorf("%q: zap is not found", text)
		}
	}
	for text, name := range map[string]string{
		`\0>0`: "0", `"0">0`: "0", "0''>0": "0", "2147483648>0": "2147483648", `\{a}>x`: "{a}", "{a-b}>x": "{a-b}",
	} {
		if _, ok := shell.Inspect(text+"\n)").Mentions([]string{name}, nil); !ok {
			t.Errorf("%q: the program %q is not found", text, name)
		}
	}
	for _, text := range []string{
		"zap a&>x -r", "zap a 2&>x -r", "coproc C { v=b zap a -r; }", "coproc C { while zap a -r; do ls; done; }", "ls $'\\c'; zap a -r",
		"cat <<'E'\nit's\nE\n'za'p a -r", "cat <<'E'\n`\nE\nzap a -r `x`", "zap $'a' -r",
	} {
		if _, ok := shell.Inspect(strings.Repeat(" ", shell.MaxBytes)+text+"\n)").Mentions([]string{"zap", "a", "-r"}, nil); !ok {
			t.Errorf("%q: zap a -r is not found", text)
		}
	}
	if _, ok := shell.Inspect("echo 2147483648>/dev/null").Mentions([]string{"echo", "2147483648"}, nil); !ok {
		t.Error("a number that is too great for a descriptor is a word")
	}
	for _, text := range []string{"ls >zap", "ls 2>zap", "ls >& zap", "ls <<-zap", "ls >&2 - zap"} {
		if _, ok := shell.Inspect(text+"\n)").Mentions([]string{"zap"}, nil); ok {
			t.Errorf("%q: zap is found, and is not there", text)
		}
	}
}

// TestSH12_lineEnds: a text of line ends takes time in proportion to its length.
func TestSH12_lineEnds(t *testing.T) {
	for _, blank := range []string{"\n", " \n", "\t\n\n", ";\n"} {
		text := strings.Repeat(blank, (shell.MaxBytes-10)/len(blank)) + "zap x"
		best := time.Hour
		for range 3 {
			began := time.Now()
			l := shell.Inspect(text)
			best = min(best, time.Since(began))
			if n := len(l.Commands); l.Understood() && (n != 1 || l.Commands[0].Program.Text != "zap") {
				t.Errorf("%q many times: %d commands", blank, n)
			}
		}
		if best > time.Second {
			t.Errorf("%q many times: %v", blank, best)
		}
	}
}
