package home_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/sayso-dev/sayso/internal/home"
)

// TestTrusted: what was accepted is kept with its bytes, one for each project,
// and no other bytes pass for it.
func TestTrusted(t *testing.T) {
	p := at(t)
	if list, err := p.Trusted(); err != nil || len(list) != 0 {
		t.Fatalf("at first: %v, %v", list, err)
	}
	var all sync.WaitGroup
	for _, dir := range []string{"/a", "/b", "/c", "/d"} {
		all.Go(func() {
			if err := p.Trust(home.Trusted{Workspace: dir, Text: "version: 1 # " + dir, By: "dev", At: noon}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := p.Trust(home.Trusted{Workspace: "/b", Text: "version: 1 # again", By: "dev", At: noon}); err != nil {
		t.Fatal(err)
	}
	if err := p.Trust(home.Trusted{Workspace: "/c"}); err != nil {
		t.Fatal(err)
	}
	list, err := p.Trusted()
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, one := range list {
		if one.Digest != home.PolicyDigest([]byte(one.Text)) || one.File() != one.Workspace+"/.sayso/policy.yaml" || one.Workspace == "/b" && one.Text != "version: 1 # again" {
			t.Errorf("%+v", one)
		}
	}
	text, err := os.ReadFile(p.TrustedList())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.TrustedList(), []byte(strings.Replace(string(text), "again", "other", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Trusted(); err == nil || !strings.Contains(err.Error(), "not the one that was accepted") {
		t.Errorf("another text under the digest: %v", err)
	}
}
