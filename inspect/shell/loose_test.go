package shell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// TestSH12_loosely: without a grammar every command is found, whatever else is
// taken for one.
func TestSH12_loosely(t *testing.T) {
	for _, text := range []string{
		"rm x", "ls; rm x", "ls|rm x", "ls &rm x", "ls\nrm x", "(rm x)", "$(rm x)", "`rm x`", "`ls \\`rm x\\``", "\"$(rm x)\"", "\"`rm x`\"", "ls \"a $(rm x) b\" c", "'r'm x", `r\m x`, "r\\\nm x", `$'\x72m' x`, "ls <(rm x)",
		"ls >x; rm x", "2>&1>&- rm x", "2>&1>x rm x", "2>&{fd}>&- rm x", "2>&1 rm x", ">&- rm x", ">& - rm x", "<<-E rm x", "&>x rm x", "{fd}>x rm x", "{a[0]}>x rm x", "2147483647>x rm x", "ls 2>&1 | rm x", "\x00rm x", "ls\x00;rm x",
		"ls # '\nrm x", "ls 'x\nrm x", "ls \"x\nrm x", "ls # x'\nrm x\n'", "$(case x in a) rm x;; esac)", "\"$(time -p case x in a) rm x;; esac)\"", "\"$(echo case)\" ; rm x; \"\nesac\n)\"", "ls ) ; rm x", "$(ls (a) ; rm x",
	} {
		var found []string
		shell.Loosely(text, func(words []shell.Word) {
			for _, w := range words {
				found = append(found, w.Text)
			}
		})
		for i := range found {
			if found[i] == "rm" && slices.Contains(found[i:], "x") {
				found = nil
				break
			}
		}
		if found != nil {
			t.Errorf("%q: found %q, not rm x", text, strings.Join(found, " "))
		}
	}
	for text, want := range map[string]bool{"ls": false, "ls 'x y' \"z\"": false, "ls 'x": true, "ls )": false, "$(ls": true, "echo case": false, "`ls": true} {
		if got := shell.Loosely(text, func([]shell.Word) {}); got != want {
			t.Errorf("%q: broken is %v", text, got)
		}
	}
}

// TestSH12_behindALimit: what a program reads, what stands in the word of an
// option and what a here-document expands is found in a text that is too long to
// be read.
func TestSH12_behindALimit(t *testing.T) {
	for _, text := range []string{
		"bash <<< 'zap x'", "bash <<<\"ls; zap x\"", "sh -s <<< 'zap x' >y", "z$\"\"ap x", "z$\"a\"p x", "$\"zap\" x", "z$''ap x",
		"env -S\"zap x\"", `env -S 'zap\_x'`, `env -iS'ls\_;zap\tx'`, "env -Szap x", "env --split-string='zap x'", "env -iS'zap x'", "su --command='zap x'", "su -c'zap x'", "su -lc'zap x'",
		"script --command='zap x'", "script -qc'zap x'", "flock y -c'zap x'", "bash -c'zap x'", "bash -lc'zap x'",
		"cat <<E\n'$(zap x)'\nE", "cat <<E\n# $(zap x)\nE", "cat <<E\n# `zap x`\nE", "cat <<E\nit's $(zap x)\nE", "cat <<-E\n\t# \"$(zap x)\"\n\tE", "cat <<E\n\\'$(zap x)'\nE", "cat <<E\n\"$(z''ap x)\"\nE",
		"vagrant ssh -c 'zap x'", "adb shell zap x", "sbatch --wrap='zap x'", "docker run --entrypoint=zap y", "flatpak run --command zap y", "op run -- zap x", "rustup run stable zap x", "lxc exec y -- zap x", "git rebase --exec='zap x'",
	} {
		if _, ok := shell.Inspect(strings.Repeat(" ", shell.MaxBytes)+text).Mentions([]string{"zap"}, nil); !ok {
			t.Errorf("%q: zap is not found", text)
		}
		if _, ok := shell.Inspect(") ; "+text).Mentions([]string{"zap"}, nil); !ok {
			t.Errorf("%q, where it does not parse: zap is not found", text)
		}
	}
	for _, text := range []string{"echo zap", "ls zap", "ls \"zap x\"", "ls # zap", "cat < zap"} {
		if _, ok := shell.Inspect(strings.Repeat(" ", shell.MaxBytes)+text).Mentions([]string{"zap"}, nil); ok {
			t.Errorf("%q: zap is found, and is not run", text)
		}
	}
}
