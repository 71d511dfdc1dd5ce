package shell_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// manual finds the options in what a program says of itself: their names, and the
// values that stand behind them.
var manual = regexp.MustCompile(`(--?[A-Za-z][A-Za-z-]*)(\[=| ?\[|=| )?([A-Z]+)?`)

// Every option that make has is in its table, with a value if it has one.
func TestTables_make(t *testing.T) {
	out, err := exec.Command("make", "--help").Output()
	if err != nil || !strings.Contains(string(out), "GNU") && !strings.Contains(string(out), "gnu.org") {
		t.Skip("GNU make is not here; type: apt-get install make")
	}
	options, seen := shell.Options("make"), 0
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "  -") {
			continue
		}
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  ")
		for _, m := range manual.FindAllStringSubmatch(line, -1) {
			seen++
			i := slices.IndexFunc(options, func(o shell.Option) bool { return o.Name == m[1] })
			switch {
			case i < 0:
				t.Errorf("make has %s, and its table has not", m[1])
			case m[3] != "" && !strings.Contains(m[2], "[") && !options[i].Value:
				t.Errorf("%s of make has a value %s, and none in its table", m[1], m[3])
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d options were found", seen)
	}
}

// An option that no table has of a program whose options are listed is outside of
// what is allowed of it.
func TestSH8_listed(t *testing.T) {
	for text, beyond := range map[string]bool{
		"make --unheard-of": true, "make -Z": true, "ninja --unheard-of=x": true, "deno test --unheard-of x": true,
		"make -j4 -ks all": false, "ninja -C build -v all": false, "deno test --filter x": false, "make -- --unheard-of": false,
	} {
		if got := shell.Inspect(text).Commands[0].Beyond() != nil; got != beyond {
			t.Errorf("%q is outside of an allow: %v, want %v", text, got, beyond)
		}
	}
}

// What an option of make holds is a makefile, and a recipe in it is a command.
func TestSH6_recipes(t *testing.T) {
	for _, text := range []string{
		"make -E 'x:;zap x'", "make -nE 'x:;zap x'", "gmake --eval='x:;zap x'", "make --eval 'x: ; zap x'",
		"coverage run -m zap x", "python3 -m cProfile -o y -m zap x", "python3 -m coverage run -m zap x", "uv run -m zap x",
		"meson subprojects foreach zap x", "yarn run perl zap x", "bun run perl zap x",
	} {
		l := shell.Inspect(text)
		if !slices.ContainsFunc(l.Commands[1:], func(c shell.Command) bool {
			return c.Program.Text == "zap" || slices.ContainsFunc(c.Args, func(w shell.Word) bool { return w.Text == "zap" })
		}) {
			t.Errorf("%q: zap is in none of the commands behind the first", text)
		}
	}
}
