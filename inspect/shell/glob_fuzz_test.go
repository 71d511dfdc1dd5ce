package shell_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// FuzzGlobWords asks of any glob what it may be and what it may hold: words that
// it may be, but for their case.
func FuzzGlobWords(f *testing.F) {
	for _, s := range [][2]string{{"pus?", "push"}, {"p[u]sh", "push"}, {"[", "x"}, {"[]a]*", "a"}, {"*[!", "-exec"}, {"{a,b}*", "b"}, {"@(a|b)", "a"}, {"-*", "--hard"}, {"]?", "]"}, {"{*a,b}*", "B"}, {"[+]+*", "\x81000"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, glob, text string) {
		if len(glob) > 100 || len(text) > 50 {
			return
		}
		l := shell.Inspect("x " + glob)
		for i := range l.Commands {
			for _, w := range l.Commands[i].Args {
				w.MayBe(text)
				lower := w
				lower.Text = strings.ToLower(w.Text)
				for _, held := range w.Holding(text) {
					if !lower.MayBe(strings.ToLower(held)) {
						t.Errorf("%q may stand for %q, and may not", w.Text, held)
					}
				}
			}
		}
	})
}
