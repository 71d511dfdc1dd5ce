package main

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/home"
)

func TestUnit_startsTheServerAndNothingElse(t *testing.T) {
	a := demoApp()
	a.getenv = func(name string) string { return map[string]string{"HOME": "/home/dev"}[name] }
	a.paths = home.Paths{Home: `/srv/a "b" %c`}
	for goos, want := range map[string][]string{
		"linux":  {`ExecStart="/opt/x y/sayso" serve`, `Environment="SAYSO_HOME=/srv/a \"b\" %%c"`, "UMask=0077"},
		"darwin": {"<string>/opt/x y/sayso</string><string>serve</string>", "<string>/srv/a &#34;b&#34; %c</string>"},
	} {
		u, err := a.unitFor(goos, "/opt/x y/sayso")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(u.text, w) {
				t.Errorf("%s: no %s in\n%s", goos, w, u.text)
			}
		}
		if !strings.HasPrefix(u.path, "/home/dev/") {
			t.Errorf("%s: %s", goos, u.path)
		}
	}
	if _, err := a.unitFor("plan9", "/x"); err == nil {
		t.Error("a service for a system that has none")
	}
}
