package policy_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

func TestURLs(t *testing.T) {
	p := load(t, rules(
		`allow: ["web-fetch:https://*.example.org/*", "web-fetch:https://docs.test-site.com/go/*", "web-fetch:http://localhost:3000/*", "web-fetch:https://one.com/", "web-fetch:https://whole.com"]`,
		`deny: ["web-fetch:*://evil.com", "web-fetch:https://*.evil.net/admin/*"]`,
	))
	u := func(url string) sayso.Call { return call(t, "web-fetch", obj{"url": url}) }
	expect(t, p, []sees{
		{"a host under", u("https://www.example.org/a?b#c"), sayso.Allow, sayso.CauseRule},
		{"two labels under", u("https://a.b.example.org"), sayso.Allow, sayso.CauseRule},
		{"the host itself", u("https://example.org/"), sayso.Ask, sayso.CauseDefault},
		{"no dot", u("https://badexample.org/"), sayso.Ask, sayso.CauseDefault},
		{"as a label in front", u("https://www.example.org.evil.org/"), sayso.Ask, sayso.CauseDefault},
		{"as user information", u("https://www.example.org@evil.org/"), sayso.Ask, sayso.CauseNotUnderstood},
		{"as user information, backslash", u(`https://evil.org\@www.example.org/`), sayso.Ask, sayso.CauseNotUnderstood},
		{"another scheme", u("http://www.example.org/"), sayso.Ask, sayso.CauseDefault},
		{"another port", u("https://www.example.org:8443/"), sayso.Ask, sayso.CauseDefault},
		{"the port of the scheme", u("https://www.example.org:443/"), sayso.Allow, sayso.CauseRule},
		{"a path", u("https://docs.test-site.com/go/x"), sayso.Allow, sayso.CauseRule},
		{"out of the path", u("https://docs.test-site.com/go/../private"), sayso.Ask, sayso.CauseDefault},
		{"out of the path, escaped", u("https://docs.test-site.com/go/%2e%2e/private"), sayso.Ask, sayso.CauseDefault},
		{"beside the path", u("https://docs.test-site.com/gopher"), sayso.Ask, sayso.CauseDefault},
		{"local, named", u("http://localhost:3000/x"), sayso.Allow, sayso.CauseRule},
		{"local, another port", u("http://localhost:3001/x"), sayso.Ask, sayso.CauseDefault},
		{"one page", u("https://one.com/"), sayso.Allow, sayso.CauseRule},
		{"one page and a query", u("https://one.com/?x"), sayso.Ask, sayso.CauseDefault},
		{"another page", u("https://one.com/x"), sayso.Ask, sayso.CauseDefault},
		{"a whole host", u("https://whole.com/x/y?z"), sayso.Allow, sayso.CauseRule},
		{"and not its neighbours", u("https://www.whole.com/"), sayso.Ask, sayso.CauseDefault},
		{"denied", u("http://evil.com/any"), sayso.Deny, sayso.CauseRule},
		{"denied with a dot", u("https://evil.com./"), sayso.Deny, sayso.CauseRule},
		{"denied with a user", u("https://www.example.org@evil.com/"), sayso.Deny, sayso.CauseRule},
		{"denied with a port", u("https://evil.com:444/"), sayso.Deny, sayso.CauseRule},
		{"denied with escapes", u("https://%65vil.com/"), sayso.Deny, sayso.CauseRule},
		{"denied with one slash", u("https:/evil.com/"), sayso.Deny, sayso.CauseRule},
		{"denied in capitals", u("HTTPS://EVIL.COM/"), sayso.Deny, sayso.CauseRule},
		{"denied and long", u("https://evil.com/" + strings.Repeat("a", 10_000)), sayso.Deny, sayso.CauseRule},
		{"denied path", u("https://www.evil.net/admin/x"), sayso.Deny, sayso.CauseRule},
		{"denied path, escaped letter", u("https://www.evil.net/%61dmin/x"), sayso.Deny, sayso.CauseRule},
		{"denied path, escaped slash", u("https://www.evil.net/x%2f..%2fadmin/x"), sayso.Deny, sayso.CauseRule},
		{"another path, escaped slash", u("https://www.evil.net/x%2fadmin"), sayso.Ask, sayso.CauseNotUnderstood},
		{"no string", call(t, "web-fetch", obj{"url": 1}), sayso.Ask, sayso.CauseNotUnderstood},
	})
}

func TestURLs_wideAllowIsNeverLocal(t *testing.T) {
	for _, text := range []string{rules(`allow: "web-fetch:https://*"`), rules(`allow: "web-fetch:*"`), rules(`allow: "web-fetch:*://*"`), "version: 1\ndefault: allow\n"} {
		p := load(t, text)
		expect(t, p, []sees{{"a public host", call(t, "web-fetch", obj{"url": "https://example.org/x"}), sayso.Allow, ""}})
		for _, host := range []string{
			"localhost", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "017700000001", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "192.168.1.1", "169.254.169.254",
			"0.0.0.0", "printer", "a.local", "metadata.google.internal", "localhost.", "224.0.0.1", "[fe80::1]",
		} {
			if v := judge(p, call(t, "web-fetch", obj{"url": "https://" + host + "/"})); v.Effect != sayso.Ask {
				t.Errorf("%s under %q: %s", host, text, v.Effect)
			}
		}
	}
}
