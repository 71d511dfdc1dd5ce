package shell_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// much is a quarter of what is read: enough for what is not linear to show.
const much = shell.MaxBytes / 4

// patient is far more than any text takes on a slow machine with the race
// detector on, and far less than one takes that is read again and again.
const patient = 5 * time.Second

// TestSH12_time gives inspection what would take long if anything in it took
// more than its share.
func TestSH12_time(t *testing.T) {
	for _, text := range []string{
		"ls;", "ls|", "ls&&", "( ", "$(", "$((", "{ ", "{", "{a,", "{a,b} ", "`", "`\\", "\"$(", "a ", "sudo ", "eval ", "env -S ", "A=b ", "xargs -n 1 ",
		"find -exec a ; ", "git -c a ", "'a' ", "\\", "\\\n", "cat <<E\nE\n", "<<E ", "if a; then ", "case a in a) ", "let a;", "let a|b;", "let ", "|time a", "time ",
		"f() { ls; }; ", "a=b ", "cd a;", "cd a||", "for i in a; do cd x; ", "a[", "[", "a=~", "${a:-", ">a ", "<<<$(a) ", "<(", "getline ", "a\x00b ", "\u200b",
		"{1..64} ", "`a` ", "coproc a;", "trap 'a' 1;", "-v a[$] ", "'a[$(b)]' ", "-c ", "((a);", "# a\\\n", "! ", "&& ", "sh -c 'a' ", "-a=", "a\"b\"", "$'\\x41'",
	} {
		for _, whole := range []string{text, "sudo git " + text, "sh -c '" + text, "(( " + text} {
			lead := strings.TrimSuffix(whole, text)
			whole = (lead + strings.Repeat(text, much/len(text)+1))[:much]
			start := time.Now()
			l := shell.Inspect(whole)
			l.Mentions([]string{"git", "push", "--force"}, nil)
			if d := time.Since(start); d > patient {
				t.Errorf("%q and on takes %v", lead+text, d)
			}
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	session := "cd src && git status --short | head -20; grep -rn 'foo bar' --include='*.go' . 2>/dev/null || echo none\n"
	for _, bm := range []struct{ name, text string }{
		{"short", "go test ./..."},
		{"pipe", "git log --oneline -5 | head -3 && ls -la src"},
		{"1KiB", strings.Repeat(session, 10)},
		{"64KiB", "cat <<'E'\n" + strings.Repeat(session, 600) + "E\n"},
		{"64KiB commands", strings.Repeat(session, 190)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.text)))
			b.ReportAllocs()
			for b.Loop() {
				shell.Inspect(bm.text)
			}
		})
	}
}
