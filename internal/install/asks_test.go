package install_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/install"
)

// An entry is known to ask this gate only as it is written by us, with nothing beside
// it that moves it.
func TestAsks(t *testing.T) {
	const program = `"command": "/opt/my tools/sayso"`
	const place = `"--state-dir", "/state", "--config-dir", "/config", "--runtime-dir", "/run"`
	const args = `"args": ["mcp", "--name", "x", ` + place + `, "--", "npx"]`
	with := func(more string) string { return strings.Replace(args, `"--", "npx"`, more+`, "--", "npx"`, 1) }
	l := listOf(t, "claude-code", install.ScopeUser)
	for entry, want := range map[string]string{
		args: "",
		args + `, "env": {"KEY": "x", "SAYSO_PATIENCE": "5m"}`:       "",
		with(`"--patience", "5m"`):                                   "",
		`"args": ["mcp", ` + place + `, "--name", "x", "--", "npx"]`: "",

		args + `, "env": {"SAYSO_HOME": "/x"}`:                            "its entry has SAYSO_HOME, which may move it",
		args + `, "env": {"XDG_STATE_HOME": "/x"}`:                        "its entry has XDG_STATE_HOME",
		args + `, "env": {"HOME": "/x"}`:                                  "its entry has HOME",
		args + `, "env": {"PATH": "/x"}`:                                  "its entry has PATH",
		args + `, "env": {"LD_PRELOAD": "/x"}`:                            "its entry has LD_PRELOAD",
		args + `, "env": ["HOME=/x"]`:                                     "its entry has env",
		args + `, "envFile": ".env"`:                                      "its entry has envFile",
		args + `, "url": "https://x"`:                                     "its entry has an address",
		with(`"--server", "http://x"`):                                    "sayso init mcp does not write --server",
		with(`"--token-file", "/x"`):                                      "sayso init mcp does not write --token-file",
		with(`"--home", "/x"`):                                            "sayso init mcp does not write --home",
		with(`"--policy", "/x"`):                                          "sayso init mcp does not write --policy",
		with(`"--state-dir", "/x"`):                                       "sayso init mcp does not write --state-dir",
		with(`"--state-dir=/x"`):                                          "sayso init mcp does not write --state-dir=/x",
		with(`"--name", "y"`):                                             "--name stands twice",
		with(`"approve"`):                                                 "sayso init mcp does not write approve",
		strings.Replace(args, `"/config"`, `"/x"`, 1):                     "its flags name another place",
		strings.Replace(args, `"/run"`, `"/x"`, 1):                        "its flags name another place",
		`"args": ["mcp", "--name", "x", "--", "npx"]`:                     "its flags name another place",
		`"args": ["mcp", "--name", "--state-dir", "/state", "--", "npx"]`: "its flags name another place",
	} {
		s, err := l.Servers([]byte(`{"mcpServers": {"x": {` + program + `, ` + entry + `}}}`))
		if err != nil || len(s) != 1 || !s[0].Gated {
			t.Errorf("%s: %+v, %v", entry, s, err)
			continue
		}
		if got := s[0].Asks(gateway.Place); got == "" != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
	toml, err := listOf(t, "codex", install.ScopeUser).Servers([]byte("[mcp_servers.x]\n" + `command = "/s/sayso"` + "\n" + strings.Replace(args, `"args": `, "args = ", 1) + "\n[mcp_servers.x.env]\nHOME = \"/x\"\n"))
	if err != nil || len(toml) != 1 || !strings.HasPrefix(toml[0].Asks(gateway.Place), "its entry has HOME") {
		t.Errorf("of Codex: %+v, %v", toml, err)
	}
}
