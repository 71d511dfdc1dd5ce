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

// A patch of one file passes what a write of it passes, and is treated alike,
// whichever host makes it; another file beside that one makes it no milder.
func TestPatch_likeAWrite(t *testing.T) {
	file, err := policy.Parse("policy.yaml", []byte("version: 1\nrules:\n  - allow: [apply_patch, file-edit, file-write]\n  - {deny: [\"file-edit:docs/deep/**\", \"file-write:docs/deep/**\"], name: not these}\nsandbox:\n  paths:\n"+
		"    all: {root: ., mode: rw, write_approval: false}\n    etc: {root: /etc}\n    home: {root: /home/dev, mode: rw, write_approval: false}\n"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(policy.Options{Home: "/home/dev"}, policy.Tiered{Tier: policy.TierUser, File: file})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(host, tool, arg, text string) sayso.Verdict {
		c := call(t, tool, obj{arg: text})
		c.Host = host
		return rules.Judge(t.Context(), c, gatherFor(rules, machine, c))
	}
	const begin, end = "*** Begin Patch\n", "*** End Patch\n"
	effects := map[sayso.Effect]int{}
	for _, name := range []string{
		"src/new.go", "main.go", "docs/../main.go", "docs/deep/x", "readme", "hard", "fifo", "out/x", ".git/hooks/pre-commit", ".envrc", "/home/dev/.bashrc", "~/.bashrc",
		"/home/dev/.codex/hooks.json", "/home/dev/.claude/settings.json", "/etc/cron.d/x", "/var/x", "../app2/secret", "loop",
		"/home/dev/.local/state/sayso/off.json", "../.local/state/sayso/policy.yaml", "state/policy.yaml", "/home/dev/.config/sayso/policy.yaml", "~/.config/sayso/policy.yaml",
	} {
		want := judge("claude-code", "Write", "file_path", name)
		effects[want.Effect]++
		for host, arg := range map[string]string{"codex": "command", "copilot": "input", "vscode": "input", "claude-code": "input", "": "input"} {
			got := judge(host, "apply_patch", arg, begin+"*** Add File: "+name+"\n+x\n"+end)
			if got.Effect != want.Effect || got.Cause != want.Cause || got.Rule != want.Rule && got.Effect != sayso.Allow || got.Person != want.Person || got.Remember != want.Remember {
				t.Errorf("%q, a patch of %s: %s by %q; a write: %s by %q", host, name, got.Effect, got.Rule, want.Effect, want.Rule)
			}
			// Not read strictly, beside another, as where one is moved, and under another name.
			for text, arg := range map[string]string{
				begin + "*** Add File: a\n+x\n*** Update File: " + name + "\n@@\n-a\n+b\n" + end:          arg,
				begin + "*** Update File: main.go\n*** Move to: " + name + "\n@@\n-a\n+b\n" + end:         arg,
				begin + "*** Add File: a\r\n+x\r\n  *** Delete File: " + name + "\r\n" + end:              arg,
				"<<'EOF'\n" + begin + "*** Add File: a\n+x\n*** Add File: " + name + "\n" + end + "EOF\n": arg,
			} {
				if got := judge(host, "apply_patch", arg, text); got.Effect > want.Effect || want.Person && !got.Person && got.Effect != sayso.Deny {
					t.Errorf("%q, a patch of more than %s: %s by %q; a write: %s by %q", host, name, got.Effect, got.Rule, want.Effect, want.Rule)
				} else if got.Span != [2]int{0, len(text)} {
					t.Errorf("%q: %s is said of bytes %v of the %d of the patch", host, got.Rule, got.Span, len(text))
				}
			}
		}
	}
	if effects[sayso.Allow] < 2 || effects[sayso.Ask] < 4 || effects[sayso.Deny] < 5 {
		t.Errorf("writes come out as %v", effects)
	}
	// What nobody can read is asked about, whatever allows it.
	for name, v := range map[string]sayso.Verdict{
		"no patch":               judge("codex", "apply_patch", "command", "x"),
		"a patch of another key": judge("copilot", "apply_patch", "patch", begin+"*** Add File: a\n+x\n"+end),
	} {
		if v.Effect != sayso.Ask || !v.Person {
			t.Errorf("%s: %s by %q", name, v.Effect, v.Rule)
		}
	}
	if v := judge("other", "ApplyPatch", "patchText", begin+"*** Add File: /home/dev/.config/sayso/policy.yaml\n+x\n"+end); v.Effect != sayso.Deny {
		t.Errorf("our state, under a key that nobody knows: %s by %q", v.Effect, v.Rule)
	}
}

// A rule by the name that hosts give the tool is none that never speaks.
func TestPatch_rulesByItsName(t *testing.T) {
	for _, rule := range []string{"allow: apply_patch", "ask: apply_patch", "deny: apply_patch", `allow: "apply_patch:src/**"`} {
		file, err := policy.Parse("policy.yaml", []byte("version: 1\nrules:\n  - "+rule+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if w := file.Warnings; len(w) > 0 {
			t.Errorf("%s: %v", rule, w)
		}
		rules, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: file})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range rules.Lint() {
			if f.Kind != policy.FindingOverWide {
				t.Errorf("%s: %s, %s: %s", rule, f.Kind, f.What, f.Call.Args)
			}
		}
	}
}
