package policy_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

func TestCheck(t *testing.T) {
	p := load(t, rules(`deny: "bash:rm*"`, "ask: \"bash:git push*\"\n    danger: true\n    note: It leaves the machine.", `allow: "bash:ls"`))
	for _, tt := range []struct {
		line, want string
		ok         bool
	}{
		{`{"tool":"bash","args":{"command":"ls; rm -rf x"}}`,
			`{"effect":"deny","cause":"rule","rule":"deny: bash:rm*","file":"policy.yaml","line":3,"span":[4,6],"reason":"a rule of the policy denies it","risk":"destructive","danger":["delete"]}`, true},
		{`{"tool":"Bash","host":"claude-code","args":{"command":"git push"}}`,
			`{"effect":"ask","cause":"rule","rule":"ask: bash:git push*","file":"policy.yaml","line":4,"span":[0,8],"reason":"It leaves the machine.","risk":"destructive","danger":["network_write","rule"]}`, true},
		{`{"tool":"bash","args":{"command":"ls"},"cwd":"/home/dev/app"}`,
			`{"effect":"allow","cause":"rule","rule":"allow: bash:ls","file":"policy.yaml","line":7,"span":[0,2],"reason":"a rule of the policy allows it","risk":"safe","danger":[]}`, true},
		{`{"tool":"file-read","args":{"path":"/etc/passwd"}}`,
			`{"effect":"ask","cause":"default","rule":"default: ask","file":"","line":0,"span":[0,11],"reason":"no rule speaks about this call, so a person is asked","risk":"safe","danger":[]}`, true},
		{`{"tool":"bash","args":{"command":"ls"},"extra":1}`, `{"effect":"deny","error":`, false},
		{`{"tool":"bash","args":{"command":"ls","command":"rm"}}`, `{"effect":"deny","error":`, false},
		{`{"tool":"bash","args":{"n":1e999}}`, `{"effect":"deny","error":`, false},
		{`{"Tool":"bash","args":{}}`, `{"effect":"deny","error":`, false},
		{`{"tool":"bash"}`, `{"effect":"deny","error":`, false},
		{`nonsense`, `{"effect":"deny","error":`, false},
		{``, `{"effect":"deny","error":`, false},
	} {
		got, ok := policy.Check(context.Background(), p, gather, []byte(tt.line))
		if ok != tt.ok || ok && string(got) != tt.want || !strings.HasPrefix(string(got), tt.want) {
			t.Errorf("%s\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	paths := policy.Paths{User: filepath.Join(dir, "user.yaml"), Org: filepath.Join(dir, "org.yaml")}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	none, err := policy.Load(paths, policy.Options{})
	if err != nil || judge(none, bash(t, "ls")).Effect != sayso.Ask {
		t.Fatalf("without files: %v", err)
	}
	write(paths.User, "version: 1\ndefault: allow\n")
	write(paths.Org, rules(`deny: web-search`))
	both, err := policy.Load(paths, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := judge(both, call(t, "web-search", obj{"query": "x"}))
	if v.Effect != sayso.Deny || v.File != paths.Org {
		t.Errorf("%s by %s", v.Effect, v.File)
	}
	write(paths.Org, "version: 1\nrules: [{deny: bsh}]\n")
	if p, err := policy.Load(paths, policy.Options{}); err == nil || p != nil || !strings.Contains(err.Error(), "org.yaml:2:16") {
		t.Errorf("a broken file: %v", err)
	}
	if _, err := policy.Load(policy.Paths{User: dir}, policy.Options{}); err == nil {
		t.Error("a folder is no policy")
	}
}
