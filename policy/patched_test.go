package policy_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/policy"
)

// A patch is judged for all the files that it names: what is said against one is
// said against the patch, and what allows it must be said of each.
func TestPatch(t *testing.T) {
	file, err := policy.Parse("policy.yaml", []byte("version: 1\nrules:\n  - allow: \"file-edit:src/**\"\n  - deny: \"file-edit:src/secret/**\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: file})
	if err != nil {
		t.Fatal(err)
	}
	update := func(name string) string { return "*** Update File: " + name + "\n@@\n-a\n+b\n" }
	for name, tt := range map[string]struct {
		patch string
		want  sayso.Effect
	}{
		"one that is allowed":             {update("src/a"), sayso.Allow},
		"two that are allowed":            {update("src/a") + update("src/b"), sayso.Allow},
		"one of two":                      {update("src/a") + update("docs/b"), sayso.Ask},
		"the other of two":                {update("docs/b") + update("src/a"), sayso.Ask},
		"one that is denied":              {update("src/secret/a"), sayso.Deny},
		"a second that is denied":         {update("src/a") + update("src/secret/a"), sayso.Deny},
		"one that is moved to the denied": {strings.Replace(update("src/a"), "@@", "*** Move to: src/secret/a\n@@", 1), sayso.Deny},
		"one that is moved":               {strings.Replace(update("src/a"), "@@", "*** Move to: src/b\n@@", 1), sayso.Ask},
		"one that is deleted":             {"*** Delete File: src/a\n", sayso.Ask},
		"a control file beside":           {update("src/a") + update("src/.git/hooks/pre-commit"), sayso.Ask},
		"a dollar within a name beside":   {update("src/a") + update("src/$HOME"), sayso.Allow},
		"a tilde beside":                  {update("src/a") + update("~/a"), sayso.Ask},
		"no patch":                        {"*** Update src/a\n", sayso.Ask},
	} {
		args, err := jcs.Marshal(map[string]string{"command": "*** Begin Patch\n" + tt.patch + "*** End Patch\n"})
		if err != nil {
			t.Fatal(err)
		}
		c := sayso.Call{Host: "codex", Tool: "apply_patch", Args: args, Cwd: "/w", Session: "s"}
		f := sayso.Facts{Workspace: "/w", Cwd: "/w"}
		for line := range strings.Lines(tt.patch) {
			for _, head := range []string{"*** Update File: ", "*** Delete File: ", "*** Move to: "} {
				if path, ok := strings.CutPrefix(strings.TrimSpace(line), head); ok {
					f.Operands = append(f.Operands, sayso.PathFact{Arg: "command", Path: path, Resolved: "/w/" + path, State: sayso.PathFile, Links: 1})
				}
			}
		}
		if v := rules.Judge(t.Context(), c, f); v.Effect != tt.want {
			t.Errorf("%s: %s by %q, because %s; want %s", name, v.Effect, v.Rule, v.Reason, tt.want)
		}
	}
}
