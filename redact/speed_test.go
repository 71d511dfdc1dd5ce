package redact_test

import (
	"strings"
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

// within is generous: a quadratic reader needs minutes. Tests run with the race
// detector on, which makes all ten times slower.
const within = 4 * time.Second

func TestHostileTextsTakeLinearTime(t *testing.T) {
	for name, unit := range hostile {
		for _, key := range []string{"command", "content"} {
			t.Run(name+" as "+key, func(t *testing.T) {
				s := strings.Repeat(unit, 1<<20/len(unit))
				begin := time.Now()
				if _, err := redact.New(nil).Call(nil, map[string]string{key: s}); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took > within {
					t.Errorf("1 MiB took %v", took)
				} else {
					t.Logf("1 MiB took %v", took)
				}
			})
		}
	}
}
