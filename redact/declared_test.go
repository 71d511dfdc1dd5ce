package redact_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/redact"
)

// TestVW5_sourceCode: a value is hidden however source code gives it to a
// telling name, and what is no value stays.
func TestVW5_sourceCode(t *testing.T) {
	const secret = "Zq8vK2mX9pLw4TnB7rYc"
	for line, keeps := range map[string]string{
		`const token: string = "SECRET"; next()`:                   "next()",
		`export const token: string = "SECRET";`:                   "export const token: string",
		`export const SECRET_KEY: Readonly<string> = 'SECRET'`:     "Readonly<string>",
		`private readonly token: string = 'SECRET';`:               "private readonly",
		`static token?: string = "SECRET";`:                        "static token",
		`var token string = "SECRET"`:                              "var token string",
		`const token string = "SECRET" // note`:                    "// note",
		`let token: &'static str = "SECRET";`:                      "let token",
		`val token: String = "SECRET"`:                             "val token",
		`var password: String? = "SECRET"`:                         "String?",
		`token: str | None = "SECRET"`:                             "str | None",
		`def f(token: str = "SECRET", n=1):`:                       "n=1",
		`token: Optional[str] = f"SECRET"`:                         "token",
		`#define TOKEN "SECRET"`:                                   "#define TOKEN",
		`req.header("X-API-Key", "SECRET").send()`:                 ".send()",
		`setenv("TOKEN", "SECRET", 1);`:                            ", 1);",
		`headers.set('Authorization', 'Bearer SECRET'); fetch(u);`: "fetch(u);",
		`client.setPassword("SECRET"); connect();`:                 "connect();",
		`std::string apiKey("SECRET");`:                            "std::string",
		"client-key-data: SECRET\nport: 80":                        "port: 80",
	} {
		got := shownText(t, strings.NewReplacer("SECRET_KEY", "SECRET_KEY", "SECRET", secret).Replace(line))
		for i := 0; i+8 <= len(secret); i++ {
			if strings.Contains(got, secret[i:i+8]) {
				t.Errorf("%s: shown as %s", line, got)
				break
			}
		}
		if !strings.Contains(got, keeps) {
			t.Errorf("%s: %q is gone from %s", line, keeps, got)
		}
	}
	for _, line := range []string{
		`func f(token string, name string) error {`, `token: str = None`, `let token: Token = parse("x1y2z3w4")`, `getSecret("database")`,
		`f("token", "name")`, `header("X-API-Key", "Accept")`, `fields = ["token", "first_name2"]`, `t.Run("token", func(t *testing.T) {`,
		`var token string`, `#define TOKEN_H`, `type Token = string`, `loadToken("the token of the session 1")`,
		`token_file: run/secrets/deploy`, `ls --token-file run/secrets/deploy`,
	} {
		if got := shownText(t, line); got != line {
			t.Errorf("%s: shown as %s", line, got)
		}
	}
}

// shownText is a text as people are shown it, after redaction.
func shownText(t *testing.T, line string) string {
	t.Helper()
	args, err := jcs.Marshal(map[string]string{"content": line})
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := redact.New(nil).Call(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Content string `json:"content"`
	}
	if err := jcs.Unmarshal(hidden.Full, &out); err != nil {
		t.Fatal(err)
	}
	return out.Content
}
