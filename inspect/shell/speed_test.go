package shell_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// much is a quarter of what is read: enough for what is not linear to show.
const much = shell.MaxBytes / 4

// patient is far more processor time than any text takes on a slow machine, and
// far less than one takes that is read again and again.
const patient = 5 * time.Second

// TestSH12_time gives inspection what would take long if anything in it took
// more than its share.
func TestSH12_time(t *testing.T) {
	much := few(much)
	for _, text := range []string{
		"ls;", "ls|", "ls&&", "( ", "$(", "$((", "{ ", "{", "{a,", "{a,b} ", "`", "`\\", "\"$(", "a ", "sudo ", "eval ", "env -S ", "A=b ", "xargs -n 1 ",
		"find -exec a ; ", "git -c a ", "'a' ", "\\", "\\\n", "cat <<E\nE\n", "<<E ", "if a; then ", "case a in a) ", "let a;", "let a|b;", "let ", "|time a", "time ",
		"f() { ls; }; ", "a=b ", "cd a;", "cd a||", "for i in a; do cd x; ", "a[", "[", "a=~", "${a:-", ">a ", "<<<$(a) ", "<(", "getline ", "a\x00b ", "\u200b",
		"{1..64} ", "`a` ", "coproc a;", "trap 'a' 1;", "-v a[$] ", "'a[$(b)]' ", "-c ", "((a);", "# a\\\n", "! ", "&& ", "sh -c 'a' ", "-a=", "a\"b\"", "$'\\x41'",
	} {
		for _, whole := range []string{text, "sudo git " + text, "sh -c '" + text, "(( " + text} {
			lead := strings.TrimSuffix(whole, text)
			whole = (lead + strings.Repeat(text, much/len(text)+1))[:much]
			start := processor(t)
			l := shell.Inspect(whole)
			l.Mentions([]string{"git", "push", "--force"}, nil)
			if d := processor(t) - start; d > patient {
				t.Errorf("%q and on takes %v", lead+text, d)
			}
		}
	}
}

// processor is the processor time that this process has used. Unlike the time that
// passed it does not depend on what else the machine does.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
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
