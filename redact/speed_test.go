package redact_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/redact"
)

// hostile are texts that make a careless reader go over the same bytes again
// and again.
var hostile = map[string]string{
	"equals":        "=",
	"colons":        "token:",
	"pairs":         "a=",
	"telling pairs": "token=",
	"quotes":        `token="`,
	"one quote":     `token='a`,
	"escaped":       `token=\"`,
	"brackets":      "token:[",
	"braces":        "{",
	"calls":         "token=f(",
	"subst":         "$(",
	"subst values":  "token=$(",
	"backquotes":    "`",
	"backquote val": "token=`a",
	"jwt":           "eyJ-",
	"sk":            "sk-a-",
	"begin":         "-----BEGIN PRIVATE KEY-----\n",
	"urls":          "http://a:b",
	"urls at":       "http://@",
	"query":         "?token=a&",
	"words":         "a ",
	"pair words":    "a=b ",
	"from literal":  "secret set a=b ",
	"docker":        "docker -p ",
	"mysql":         "mysql -pa ",
	"curl":          "curl -u a:b ",
	"sections":      "[token]\na=b\n",
	"sentences":     "x curl ",
	"pipes":         "echo a|sudo -S ",
	"colon values":  "token: a ",
	"ends":          "token=a;b",
	"quoted words":  "'a' ",
	"heredocs":      "<<a ",
	"heredoc lines": "<<a\n",
	"dashes":        "--token ",
	"params":        "${a:-",
	"lines":         "password:\n",
	"block":         "password:\n  ",
	"commands":      "curl -u\n",
	"continued":     "curl \\\n",
	"names":         "aB",
	"json":          `["`,
	"enclosed":      `"token: `,
	"percent":       "http://a/?a=%3d&",
	"marker":        "[hidden ",
	"groups":        "(",
	"yaml":          "- name: token\n",
	"basic":         "basic ",
	"comments":      "#\n",
	"angle":         "<token>",
	"netrc":         "login a password ",
	"semicolons":    "https://a?token=a;",
}

// hostileSize is large enough that a quadratic reader needs more than within
// for it, where a linear one needs some tens of milliseconds. In a short run, as
// is the one with the race detector, an eighth of it is read, so that the
// detector sees each reader.
const (
	hostileSize = 256 << 10
	within      = 4 * time.Second
)

func TestManySecretsTakeLinearTime(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"tokens":[`)
	for i := range 8000 {
		fmt.Fprintf(&b, `"secret-%d-%x",`, i, i*7919)
	}
	b.WriteString(`"x"],"text":"` + strings.Repeat("secret-1-secret-2-", 1<<13) + `"}`)
	begin := processor(t)
	if _, _, err := redact.New(nil).Args([]byte(b.String())); err != nil {
		t.Fatal(err)
	}
	if took := processor(t) - begin; took > within {
		t.Errorf("took %v", took)
	}
}

func TestDeepNestingTakesLinearTime(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 3000) + "[" + strings.Repeat(`"x",`, 1<<15) + `1]` + strings.Repeat("}", 3000)
	begin := processor(t)
	if _, _, err := redact.New(nil).Args([]byte(deep)); err != nil {
		t.Fatal(err)
	}
	if took := processor(t) - begin; took > within {
		t.Errorf("took %v", took)
	}
}

func TestHostileTextsTakeLinearTime(t *testing.T) {
	for name, unit := range hostile {
		for _, key := range []string{"command", "content"} {
			t.Run(name+" as "+key, func(t *testing.T) {
				size := hostileSize
				if testing.Short() {
					size /= 8
				}
				s := strings.Repeat(unit, size/len(unit))
				begin := processor(t)
				if _, err := redact.New(nil).Call(nil, map[string]string{key: s}); err != nil {
					t.Fatal(err)
				}
				if took := processor(t) - begin; took > within {
					t.Errorf("%d KiB took %v", size>>10, took)
				}
			})
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

func BenchmarkArgs(b *testing.B) {
	raw := []byte(`{"command":"curl -sS -H 'Authorization: Bearer abcdefgh12345678' https://api.example.com/v1/x?y=1 -d '{\"a\":1}' | jq .","description":"ask the API","timeout":120000}`)
	r := redact.New(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Args(raw); err != nil {
			b.Fatal(err)
		}
	}
}
