package main

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/home"
)

func TestUnit_startsTheServerAndNothingElse(t *testing.T) {
	a := demoApp()
	a.getenv = func(name string) string {
		return map[string]string{"HOME": "/home/dev", "XDG_STATE_HOME": "/elsewhere"}[name]
	}
	a.paths = home.Paths{Home: `/srv/a "b" %c`}
	for goos, want := range map[string][]string{
		"linux":  {`ExecStart="/opt/x y/sayso" serve`, `Environment="SAYSO_HOME=/srv/a \"b\" %%c"`, "UMask=0077"},
		"darwin": {"<string>/opt/x y/sayso</string><string>serve</string>", "<key>SAYSO_HOME</key><string>/srv/a &#34;b&#34; %c</string>"},
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
		if !strings.HasPrefix(u.path, "/home/dev/") || strings.Contains(u.text, "XDG_") {
			t.Errorf("%s: %s\n%s", goos, u.path, u.text)
		}
	}
	if _, err := a.unitFor("plan9", "/x"); err == nil {
		t.Error("a service for a system that has none")
	}
}

// The system starts the service without what the person's shell sets, so what
// moves our files and what serve goes by stands in the unit.
func TestUnit_findsWhatCommandsFind(t *testing.T) {
	a := demoApp()
	a.getenv = func(name string) string {
		return map[string]string{"HOME": "/home/dev", "XDG_STATE_HOME": "/data/state", "XDG_CONFIG_HOME": "relative", "XDG_RUNTIME_DIR": "/run/user/7"}[name]
	}
	var err error
	a.settings, _, err = home.Load([]string{"SAYSO_LISTEN=127.0.0.1:9", "SAYSO_LOG_LEVEL=warn", "SAYSO_TOKEN_FILE=/t", "SAYSO_SERVER=https://gate.example"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"HOME": "/home/dev", "XDG_STATE_HOME": "/data/state", "SAYSO_LISTEN": "127.0.0.1:9", "SAYSO_LOG_LEVEL": "warn"}
	for goos, form := range map[string]string{"linux": `Environment="NAME=VALUE"`, "darwin": "<key>NAME</key><string>VALUE</string>"} {
		u, err := a.unitFor(goos, "/opt/sayso")
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if line := strings.NewReplacer("NAME", name, "VALUE", value).Replace(form); !strings.Contains(u.text, line) {
				t.Errorf("%s: no %s in\n%s", goos, line, u.text)
			}
		}
		for _, not := range []string{"TOKEN_FILE", "SAYSO_SERVER", "CONFIG_HOME", "RUNTIME_DIR"} {
			if strings.Contains(u.text, not) {
				t.Errorf("%s: %s in\n%s", goos, not, u.text)
			}
		}
	}
}
