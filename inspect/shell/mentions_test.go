package shell_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// TestSH12_mentionsNamed holds the search by the name of a program against the
// one that looks at every place.
func TestSH12_mentionsNamed(t *testing.T) {
	words := []string{"rm", "RM", "/bin/rm", "./Rm", "ſudo", "sudo", "SUDO", "K", "k", "\u212a", "É", "é", "a/", "", "x", "-x", "-", "--", "/", "'", "\"", "(", "`", "$x", "\x01", "\xff", "\xfe"}
	patterns := []string{"rm", "Rm", "/bin/rm", "/BIN/RM", "./rm", "sudo", "k", "K", "é", "É", "a/", "", "x", "/", "\xff", "-x"}
	d := rand.New(rand.NewPCG(5, 5))
	found := 0
	for range few(20_000) {
		var b strings.Builder
		for range 1 + d.IntN(6) {
			b.WriteString(words[d.IntN(len(words))] + []string{" ", " ", ";", "\n", ""}[d.IntN(5)])
		}
		b.WriteString("'") // so that the text is not understood
		pattern := []string{patterns[d.IntN(len(patterns))], patterns[d.IntN(len(patterns))]}[:1+d.IntN(2)]
		equal := func(p, w string) bool { return p == w || p == pattern[0] && strings.EqualFold(p, w) }
		l := shell.Inspect(b.String())
		at, ok := l.MentionsNamed(pattern, equal)
		wantAt, want := l.Mentions(pattern, equal)
		if at != wantAt || ok != want {
			t.Fatalf("%q in %q: %v %v, and at every place %v %v", pattern, b.String(), at, ok, wantAt, want)
		}
		if ok {
			found++
		}
	}
	if found < few(1000) {
		t.Errorf("%d patterns were found: too few to say anything", found)
	}
}
