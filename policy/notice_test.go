package policy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/policy"
)

func TestNotices(t *testing.T) {
	user := parsed(t, `version: 1
notices:
  - {name: team, webhook: http://127.0.0.1:9/x, secret: {env: TEAM}}
  - {name: phone, chat: {file: ~/phone}, on: expired, detail: none}
`)
	org := parsed(t, `version: 1
notices:
  - {name: team, webhook: {file: /etc/sayso/team.url}, secret: {file: /etc/sayso/team}, on: [opened, mode], detail: preview}
`)
	p, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: user}, policy.Tiered{Tier: policy.TierOrg, File: org})
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.Notice{
		{Name: "phone", Chat: policy.Held{File: "~/phone"}, On: []string{"expired"}, Detail: "none"},
		{Name: "team", Webhook: policy.Held{File: "/etc/sayso/team.url"}, Secret: policy.Held{File: "/etc/sayso/team"}, On: []string{"opened", "mode"}, Detail: "preview"},
	}
	if diff := cmp.Diff(want, p.Notices()); diff != "" {
		t.Error(diff)
	}
	if w := p.Warnings(); len(w) != 1 || !strings.Contains(w[0].What, "called team") {
		t.Errorf("warnings: %v", w)
	}
}

// What an address may hold is told to nobody: mistakes reach agents and logs.
func TestNotices_addressesAreNotTold(t *testing.T) {
	for _, address := range []string{"http://hooks.example.org/SECRET", "https://h.example.org/x?token=SECRET", "https://u:SECRET@h.example.org/", "SECRET", "ftp://h/SECRET", "https://h%SECRET"} {
		_, err := policy.Parse("policy.yaml", []byte("version: 1\nnotices:\n  - {name: a, webhook: \""+address+"\", secret: {env: A}}\n"))
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, key := range []string{"secret", "chat"} {
		_, err := policy.Parse("policy.yaml", []byte("version: 1\nnotices:\n  - {name: a, "+key+": SECRET}\n"))
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func parsed(t *testing.T, text string) *policy.File {
	t.Helper()
	f, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The page on notices shows what loads.
func TestNotices_page(t *testing.T) {
	page, err := os.ReadFile("../docs/notices.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	p, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: parsed(t, text)})
	if err != nil || len(p.Notices()) != 2 {
		t.Errorf("%v, %v", p.Notices(), err)
	}
	for _, word := range append(policy.NoticeEvents(), policy.NoticeDetails()...) {
		if !strings.Contains(string(page), "`"+word+"`") {
			t.Errorf("the page does not say what %s is", word)
		}
	}
}
