package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/policy"
)

// files is the text of the policy, and its files by their tier.
func files(t *testing.T, l *local.Local) (wire.PolicyFiles, map[string]wire.PolicyFile) {
	t.Helper()
	e, _ := l.Engine()
	out, err := e.LookBack().Files()
	if err != nil {
		t.Fatal(err)
	}
	byTier := map[string]wire.PolicyFile{}
	for _, f := range out.Files {
		byTier[f.Tier] = f
	}
	return out, byTier
}

func TestFiles_areThoseInForce(t *testing.T) {
	p := at(t)
	const text = "version: 1\nrules:\n  - ask: bash\n"
	policyIs(t, p, text)
	workspace := t.TempDir()
	if err := p.Trust(home.Trusted{Workspace: workspace, Text: "version: 1\nrules:\n  - deny: web-search\n", By: "ann", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	l := open(t, p, local.Options{})
	out, by := files(t, l)
	user, repo := by["user"], by["repo"]
	if user.Text != text || user.Rules != 1 || user.State != "in force" || user.File != p.Policy() || user.Altered || out.Mistake != "" || out.Stands {
		t.Errorf("the person's file: %+v of %+v", user, out)
	}
	if !strings.Contains(repo.Text, "deny: web-search") || repo.Workspace != workspace || repo.File != filepath.Join(workspace, home.RepoPolicy) || repo.State != "in force as accepted" {
		t.Errorf("the project's file: %+v", repo)
	}

	policyIs(t, p, "version: 1\nrules:\n  - alow: bash\n")
	out, by = files(t, l)
	user = by["user"]
	if user.State != "does not load" || len(user.Mistakes) == 0 || user.Mistakes[0].Line != 3 || user.Mistakes[0].Column != 5 || !out.Stands || !strings.Contains(out.Mistake, "policy.yaml:3:5: ") {
		t.Errorf("with a mistake: %+v of %+v", user, out)
	}

	if err := os.Remove(p.Policy()); err != nil {
		t.Fatal(err)
	}
	if _, by = files(t, l); by["user"].State != "not there" || by["user"].Text != "" {
		t.Errorf("with no file: %+v", by["user"])
	}
}

// What somebody wrote into a policy file is shown to others who may answer.
func TestFiles_showNothingHiddenAndNothingThatDeceives(t *testing.T) {
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	p := at(t)
	policyIs(t, p, "version: 1\nrules:\n  - {ask: bash, note: 'use "+secret+" \u202egnp'}\n  - {alow: '"+secret+"'}\n")
	out, by := files(t, open(t, p, local.Options{}))
	user := by["user"]
	told := user.Text + out.Mistake
	for _, m := range user.Mistakes {
		told += m.What + m.Write
	}
	if strings.Contains(told, secret) || strings.Contains(told, "\u202e") || !user.Altered || len(user.Mistakes) == 0 {
		t.Errorf("%+v of %+v", user, out)
	}
}

// The policies that people begin with are shown as they are, so that a change of
// them can be tried.
// Where the secret of a notice is kept is no secret: the text is that of the
// file, and can be tried again as it is. What is hidden leaves YAML.
func TestFiles_sayWhereSecretsAreKept(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	p := at(t)
	l := open(t, p, local.Options{})
	for text, hidden := range map[string]bool{
		"version: 1\nnotices:\n  - name: team\n    webhook: https://x.example/hook\n    secret: {file: ~/.config/whsec}\n": false,
		"version: 1\nnotices:\n  - {name: kept, webhook: {env: HOOK}, secret: {env: TEAM_SECRET}} # kept\n":                false,
		"version: 1\nnotices:\n  - name: team\n    webhook: {file: /hook}\n    secret:\n      file: ~/.config/whsec\n":     false,
		"version: 1\nnotices:\n  - name: team\n    chat: {file: /" + token + "}\n":                                         true,
		"version: 1\nnotices:\n  - name: team\n    webhook: {file: /a}\n    secret: {file: /" + token + "}\n":              true,
		"version: 1\nnotices:\n  - name: team\n    webhook: {file: /a}\n    secret: hunter2-hunter2\n":                     true,
		"version: 1\nnotices:\n  - {name: team, webhook: {file: /a}, secret: hunter2-hunter2} # so\n":                      true,
	} {
		policyIs(t, p, text)
		_, by := files(t, l)
		got := by["user"]
		if got.Altered != hidden || (got.Text != text) != hidden || strings.Contains(got.Text, "hunter2") || strings.Contains(got.Text, token) {
			t.Errorf("%s\nis shown as (altered: %v)\n%s", text, got.Altered, got.Text)
		}
		var read map[string]any
		if err := yaml.Unmarshal([]byte(got.Text), &read); err != nil {
			t.Errorf("%v:\n%s", err, got.Text)
		}
		for _, n := range read["notices"].([]any) {
			if secret := n.(map[string]any)["secret"]; strings.Contains(text, "secret: hunter2") && secret != "[hidden 15 bytes]" {
				t.Errorf("the secret reads %v:\n%s", secret, got.Text)
			}
		}
	}
}

func TestFiles_presetsAreShownAsTheyAre(t *testing.T) {
	for _, name := range policy.Presets() {
		text, _ := policy.Preset(name)
		p := at(t)
		policyIs(t, p, string(text))
		if _, by := files(t, open(t, p, local.Options{})); by["user"].Altered || by["user"].Text != string(text) {
			t.Errorf("%s is altered", name)
		}
	}
}
