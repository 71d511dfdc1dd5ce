package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/redact"
)

// nested are texts of brackets in brackets. Each is a beginning, what is repeated,
// what stands in the middle, and what closes each repetition.
var nested = map[string]struct{ begin, unit, middle, end string }{
	"data":                      {"", "token:{", "abc", "}"},
	"calls":                     {"", "token:{", "f(x)", "}"},
	"calls first":               {"", "token:{f(x),", "abc", "}"},
	"two names":                 {"", "token:{key:{", "f(x)", "}}"},
	"lists":                     {"", "token:[", "f(x)", "]"},
	"sessions":                  {"", "session:{", `\"`, "}"},
	"sessions and a quote":      {"", "session:{a: b, ", `\"x`, "}"},
	"sessions in quotes":        {"", `session:{"`, `'`, "}"},
	"programs":                  {"", "token:{", `command: x, \"`, "}"},
	"programs at the end":       {"", "token:{", `\"`, ", command: x}"},
	"sessions with backslashes": {"", "session:{" + strings.Repeat(`\`, 33) + `"`, "", "}"},
	"not closed":                {"", "token:{", "f(x)", ""},
	"not closed by one":         {"token:{", "token:{", "f(x)", "}"},
	"one in quotes":             {`token:{"`, `token:{'token:{"`, "f(x)", `}}`},
	"numbers":                   {"", "tokens:[1,1,", "f(x)", "]"},
	"over lines":                {"", "token: {\n", "f(x)\n", "}\n"},
}

// nest nests them up to a size; brackets are read where they close within 64 KiB,
// so what is larger is many of that size.
func nest(name string, size int) string {
	n, block := nested[name], min(size, 60<<10)
	times := block / len(n.unit+n.end)
	s := n.begin + strings.Repeat(n.unit, times) + n.middle + strings.Repeat(n.end, times) + "\n"
	return strings.Repeat(s, size/block)
}

// What stands in brackets in brackets is not looked at once for each of them:
// what is looked at grows with the text, and no faster.
func TestNestedBracketsAreLookedAtOnce(t *testing.T) {
	const most = 8 // times that a byte is looked at
	for name := range nested {
		for size := 1 << 10; size <= 256<<10; size *= 4 {
			s := nest(name, size)
			if looked := redact.Looked(s); looked > most*len(s) {
				t.Errorf("%s: of %d bytes %d were looked at", name, len(s), looked)
				break
			}
		}
	}
}

// A bracket that is not closed hides nothing of one behind it that is.
func TestBracketsBehindOneThatIsNotClosed(t *testing.T) {
	const in = "tokens: [a\nsecret: {a: bcd efg, b: hij}\n"
	want := "tokens: [hidden 2 bytes]\nsecret: {a: [hidden 7 bytes], b: [hidden 3 bytes]}\n"
	if got, _ := redact.New(nil).Text(in); got != want {
		t.Errorf("%q is shown as %q", in, got)
	}
}

func BenchmarkNestedBrackets(b *testing.B) {
	for _, size := range []int{4 << 10, 32 << 10, 256 << 10} {
		s := nest("two names", size)
		b.Run(fmt.Sprintf("%d KiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			r := redact.New(nil)
			for b.Loop() {
				r.Text(s)
			}
		})
	}
}
