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
		"ls >x; rm x", "2>&1 rm x", ">&- rm x", ">& - rm x", "<<-E rm x", "&>x rm x", "{fd}>x rm x", "{a[0]}>x rm x", "2147483647>x rm x", "ls 2>&1 | rm x", "\x00rm x", "ls\x00;rm x",
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
