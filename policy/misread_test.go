package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// TestTP2_argumentsThatAreNotUnderstood: an argument that cannot be read for
// certain is asked about. What a program could take it for is still denied where
// a rule denies that, and nothing else is.
func TestTP2_argumentsThatAreNotUnderstood(t *testing.T) {
	p := load(t, rules(
		`deny: ["bash:rm*", "web-fetch:https://evil.com/*", "file-write:private/**", "web-search:*codename*", "file-*:vault/*"]`,
		`deny: "file-delete:**"`, `allow: ["bash:ls*", "web-fetch:https://*", "file-write:**"]`,
	))
	expect(t, p, []sees{
		{"missing", call(t, "bash", obj{}), sayso.Ask, sayso.CauseNotUnderstood},
		{"null", call(t, "bash", obj{"command": nil}), sayso.Ask, sayso.CauseNotUnderstood},
		{"a number", call(t, "web-fetch", obj{"url": 1}), sayso.Ask, sayso.CauseNotUnderstood},
		{"another case", call(t, "bash", obj{"Command": "ls"}), sayso.Ask, sayso.CauseNotUnderstood},
		{"another case, denied", call(t, "bash", obj{"Command": "rm x"}), sayso.Deny, sayso.CauseRule},
		{"two cases", call(t, "bash", obj{"command": "ls", "COMMAND": "ls -l"}), sayso.Ask, sayso.CauseNotUnderstood},
		{"two cases, the first denied", call(t, "bash", obj{"command": "rm x", "COMMAND": "ls"}), sayso.Deny, sayso.CauseRule},
		{"two cases, the second denied", call(t, "bash", obj{"command": "ls", "COMMAND": "sudo rm x"}), sayso.Deny, sayso.CauseRule},
		{"a list of words", call(t, "bash", obj{"command": []string{"ls", "-l"}}), sayso.Ask, sayso.CauseNotUnderstood},
		{"a list of words, denied", call(t, "bash", obj{"command": []string{"rm", "-rf", "/"}}), sayso.Deny, sayso.CauseRule},
		{"an address", call(t, "web-fetch", obj{"url": "https://good.com/", "URL": "https://evil.com/x"}), sayso.Deny, sayso.CauseRule},
		{"two addresses", call(t, "web-fetch", obj{"url": "https://good.com/", "URL": "https://good.com/x"}), sayso.Ask, sayso.CauseNotUnderstood},
		{"a path", call(t, "file-write", obj{"path": "a", "Path": "private/x"}), sayso.Deny, sayso.CauseRule},
		{"two paths", call(t, "file-write", obj{"path": "a", "Path": "b"}), sayso.Ask, sayso.CauseNotUnderstood},
		{"a text", call(t, "web-search", obj{"Query": "the Codename"}), sayso.Deny, sayso.CauseRule},
		{"our state", call(t, "file-write", obj{"PATH": "/home/dev/.local/state/sayso/log.db"}), sayso.Deny, sayso.CauseBuiltin},
		{"to answer", call(t, "bash", obj{"COMMAND": "sayso approve k7fm"}), sayso.Deny, sayso.CauseBuiltin},
		{"every argument is denied", call(t, "file-delete", obj{"path": 5}), sayso.Deny, sayso.CauseRule},
		{"a server's tool of that name", sayso.Call{Tool: "file-write", Server: "fs", Cwd: "/home/dev/app", Args: []byte(`{"path":"x"}`)}, sayso.Ask, ""},
		{"called alike", call(t, "Write", obj{"file_path": "private/x", "content": ""}), sayso.Deny, sayso.CauseRule},
	})
}

// TestDE1_whatMayBeMeantIsNotWhatIsSaid: a rule that may be about a call does
// not keep the default from denying it.
func TestDE1_whatMayBeMeantIsNotWhatIsSaid(t *testing.T) {
	for effect, want := range map[string]sayso.Effect{"deny": sayso.Deny, "ask": sayso.Ask, "allow": sayso.Ask} {
		p := loadWith(t, policy.Options{Home: "/home/dev", FinalOnly: true}, "version: 1\ndefault: "+effect+"\nrules:\n  - deny: [\"bash:rm*\", \"web-fetch:https://a.org/x/*\", \"file-*:docs/deep/**\"]\n")
		for _, c := range []sayso.Call{
			call(t, "bash", obj{}), call(t, "web-fetch", obj{"url": "https://a.org/%2e"}), call(t, "file-list", obj{"path": "docs"}),
		} {
			if v := judge(p, c); v.Effect != want {
				t.Errorf("default: %s, %s %s: %s by %q (%s)", effect, c.Tool, c.Args, v.Effect, v.Rule, v.Reason)
			}
		}
	}
}

// TestUR1_pathsThatServersReadDifferently: an allow covers none of them, a deny
// those that a server may read as what it speaks of, and the rest are asked
// about.
func TestUR1_pathsThatServersReadDifferently(t *testing.T) {
	p := load(t, rules(`allow: "web-fetch:https://a.org/*"`, `deny: "web-fetch:https://a.org/x/private/*"`, `allow: "web-fetch:https://b.org/docs/*"`))
	for url, want := range map[string]sayso.Effect{
		"https://a.org/x/y":                         sayso.Allow,
		"https://a.org/x/private/y":                 sayso.Deny,
		"https://a.org/x/%70rivate/y":               sayso.Deny,
		"https://a.org/x%2fprivate/y":               sayso.Deny,
		"https://a.org/x%252fprivate%252fy":         sayso.Deny,
		"https://a.org/x%5cprivate/y":               sayso.Deny,
		"https://a.org/z/%2e%2e/x/private/y":        sayso.Deny,
		"https://a.org/x/z/%2e%2e%2fprivate/y":      sayso.Deny,
		"https://a.org/x/private/%2e%2e/y":          sayso.Deny,
		"https://a.org//x//private/y":               sayso.Deny,
		"https://a.org/x;v=1/private;v=2/y":         sayso.Deny,
		"https://a.org/z/..;/x/private/y":           sayso.Deny,
		"https://a.org/x/%25252525252570rivate%2fy": sayso.Deny, // too often to say
		"https://a.org/x%2fy":                       sayso.Ask,
		"https://a.org/x/%2e%2e/y":                  sayso.Ask,
		"https://a.org/x/100%25":                    sayso.Ask,
		"https://a.org/x//y;v=1":                    sayso.Allow,
		"https://b.org/docs/a;v=1":                  sayso.Allow,
		"https://b.org/docs/..;/admin":              sayso.Ask,
		"https://b.org/docs/%2e%2e/admin":           sayso.Ask,
	} {
		if v := judge(p, call(t, "web-fetch", obj{"url": url})); v.Effect != want {
			t.Errorf("%s: %s by %q (%s), want %s", url, v.Effect, v.Rule, v.Reason, want)
		}
	}
}

// TestUR1_deniedInOddSpellings: what browsers make of an address is denied too.
func TestUR1_deniedInOddSpellings(t *testing.T) {
	p := load(t, rules(`deny: "web-fetch:https://evil.com"`, `allow: "web-fetch:https://*"`))
	for _, url := range []string{
		"https://ev\til.com/", "ht\ntps://evil.com/", " https://evil.com/", "\x01https://evil.com/", "https://ｅｖｉｌ.com/", "https://evil。com/", "https://evil．com",
		"https://e\u200bvil.com/", "https://evil.com\u3002/", "https://ⓔvil.com/", "https://e\u00advil.com/",
	} {
		if v := judge(p, call(t, "web-fetch", obj{"url": url})); v.Effect != sayso.Deny {
			t.Errorf("%q: %s by %q (%s)", url, v.Effect, v.Rule, v.Reason)
		}
	}
}

// TestUR2_aBareNameIsWide: an allow without an address covers no local one,
// unless it says by its arguments or its condition which.
func TestUR2_aBareNameIsWide(t *testing.T) {
	for _, tt := range []struct {
		rule          string
		local, public sayso.Effect
	}{
		{`allow: web-fetch`, sayso.Ask, sayso.Allow},
		{`allow: WebFetch`, sayso.Ask, sayso.Ask}, // a host's name, and there is no host here
		{`allow: "*"`, sayso.Ask, sayso.Allow},
		{`allow: "web-*"`, sayso.Ask, sayso.Allow},
		{`allow: {kind: fetch}`, sayso.Ask, sayso.Allow},
		{`allow: {kind: fetch, args: {url: "http*"}}`, sayso.Ask, sayso.Allow},
		{`allow: {kind: fetch, args: {url: "http://localhost:8080/x"}}`, sayso.Allow, sayso.Ask},
		{`{allow: web-fetch, when: 'call.url.local && call.url.port == 8080'}`, sayso.Allow, sayso.Ask},
		{`{allow: web-fetch, when: 'call.cwd == "/home/dev/app"'}`, sayso.Ask, sayso.Allow},
	} {
		p := load(t, rules(tt.rule))
		for url, want := range map[string]sayso.Effect{"http://localhost:8080/x": tt.local, "https://example.org/x": tt.public} {
			if v := judge(p, call(t, "web-fetch", obj{"url": url})); v.Effect != want {
				t.Errorf("%s: %s: %s by %q, want %s", tt.rule, url, v.Effect, v.Rule, want)
			}
		}
	}
}

// TestDE5_anEmptyListIsNoCondition: a mapping with an empty list says nothing,
// and would stand for everything.
func TestDE5_anEmptyListIsNoCondition(t *testing.T) {
	for _, m := range []string{"kind: []", "tool: []", "server: []", "host: []", "caller: []", "session: []", "tags: []", "args: {a: []}", "annotations: {}"} {
		if _, err := policy.Parse("policy.yaml", []byte(rules("ask: {"+m+"}"))); err == nil {
			t.Errorf("%s loads", m)
		}
	}
}
