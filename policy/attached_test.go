package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// opencode reads the files that the prompt of an agent names behind an @, without a
// call: what allows agents does not allow that.
func TestJudge_attached(t *testing.T) {
	p := preset(t, "developer")
	for prompt, want := range map[string]sayso.Effect{
		"Look at the tests.":                    sayso.Allow,
		"Ask ann@example.org, or `@decorator`.": sayso.Allow,
		"one @ two, @":                          sayso.Allow,
		"@~/.aws/credentials":                   sayso.Ask,
		"Say what is in @/etc/passwd, please.":  sayso.Ask,
		"a@b and (@../x)":                       sayso.Ask,
		"\u00e9@x":                              sayso.Ask, // no letter to the host
		"first line\n@.":                        sayso.Ask,
	} {
		args := obj{"prompt": prompt, "description": "x"}
		c := call(t, "task", args)
		c.Host = "opencode"
		v := p.Judge(t.Context(), c, sayso.Facts{Workspace: "/home/dev/app", Cwd: "/home/dev/app"})
		if v.Effect != want {
			t.Errorf("%q: %s (%s), want %s", prompt, v.Effect, v.Reason, want)
		}
		c.Host = "copilot" // which reads nothing by itself
		if v := p.Judge(t.Context(), c, sayso.Facts{Workspace: "/home/dev/app", Cwd: "/home/dev/app"}); v.Effect != sayso.Allow {
			t.Errorf("%q at Copilot: %s (%s)", prompt, v.Effect, v.Reason)
		}
	}
}
