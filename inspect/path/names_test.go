package path_test

import (
	"testing"

	"github.com/sayso-dev/sayso/inspect/path"
)

func TestControl(t *testing.T) {
	for p, want := range map[string]bool{
		"/work/app/.git/config":                                           true,
		"/work/app/.git":                                                  true,
		"/work/app/.GIT/hooks/pre-commit":                                 true,
		"/work/app/.Git/config":                                           true,
		"/work/app/.g\u200cit/config":                                     true,
		"/work/app/.git./config":                                          true,
		"/work/app/.git /config":                                          true,
		"/work/app/.git::$INDEX_ALLOCATION/config":                        true,
		"/work/app/GIT~1/config":                                          true,
		"/work/app/.claude/settings.json":                                 true,
		"/work/app/.claude/new":                                           true,
		"/work/app/.CURSOR/mcp.json":                                      true,
		"/work/app/.vscode/tasks.json":                                    true,
		"/work/app/.vſcode/tasks.json":                                    true,
		"/work/app/.mcp.json":                                             true,
		"/home/dev/.config/Claude/claude_desktop_config.json":             true,
		"/Users/dev/Library/Application Support/Code/User/mcp.json":       true,
		"/Users/dev/Library/Application Support/Codebase/user/notes.json": false,
		"/work/app/.MCP.JSON":                                             true,
		"/work/app/.envrc":                                                true,
		"/work/app/.sayso/policy.yaml":                                    true,
		"/home/dev/.bashrc":                                               true,
		"/home/dev/.bashrc.d":                                             true,
		"/home/dev/.zshenv":                                               true,
		"/home/dev/.gitconfig":                                            true,
		"/home/dev/.config/git/config":                                    true,
		"/home/dev/.config/fish/config.fish":                              true,
		"/home/dev/.config/sayso/policy.yaml":                             true,
		"/home/dev/.ssh/authorized_keys":                                  true,
		"/etc/profile.d/x.sh":                                             true,
		"/work/app/.github/workflows/ci.yml":                              true,
		"/work/app/.github/README.md":                                     false,
		"/work/app/.github/CODEOWNERS":                                    false,
		"/work/app/.github":                                               true, // a folder put in its place brings all of them
		"/work/app/.github/ISSUE_TEMPLATE":                                false,
		"/work/app/.github/copilot":                                       true,
		"/work/app/.github/copilot/settings.json":                         true,
		"/work/app/.GitHub/Copilot/settings.json":                         true,
		"/work/app/.github/copilots":                                      false,
		"/work/app/.github/hooks/x.json":                                  true,
		"/work/app/.github/extensions/x/main.mjs":                         true,
		"/work/app/.github/mcp.json":                                      true,
		"/home/dev/.copilot/config.json":                                  true,
		"/home/dev/.gemini/trustedFolders.json":                           true,
		"/work/app/.agents/hooks.json":                                    true,
		"/etc/gemini-cli/settings.json":                                   true,
		"/work/app/main.go":                                               false,
		"/work/app/git/config":                                            false,
		"/work/app/.gitignore":                                            false,
		"/work/app/x.git/y":                                               false,
		"/work/app/x.git/config":                                          true,
		"/work/app/x.git/hooks/pre-commit":                                true,
		"/work/app/x.GIT/info/attributes":                                 true,
		"/work/app/x/HEAD":                                                true, // makes a repository of x
		"/work/app/x/head":                                                true, // where cases are not told apart
		"/work/app/head/x":                                                false,
		"/work/app/HEAD.go":                                               false,
		"/work/app/claude/settings.json":                                  false,
		"/work/app/.drone.yml":                                            true, "/work/app/.woodpecker/test.yaml": true, "/work/app/.woodpecker.yml": true, "/work/app/.buildkite/pipeline.yml": true, "/work/app/.cirrus.yml": true,
		"/work/app/.lefthook.yml": true, "/work/app/lefthook.toml": true, "/work/app/.lefthook/pre-commit/x": true, "/work/app/.simple-git-hooks.json": true, "/work/app/.overcommit.yml": true,
		"/work/app/.gdbinit": true, "/work/app/.lldbinit": true, "/work/app/.Rprofile": true, "/work/app/.irbrc": true, "/home/dev/.psqlrc": true, "/home/dev/.curlrc": true, "/home/dev/.wgetrc": true,
		"/work/app/.kiro/hooks/x": true, "/work/app/.goosehints": true, "/work/app/app.code-workspace": true, "/work/app/code-workspace/x": false, "/work/app/drone.yml": false, "/work/app/lefthook.go": false,
		"/work/app/.envrc.md": false,
		"/":                   false,
	} {
		if got := path.Control(p); got != want {
			t.Errorf("Control(%q) = %v", p, got)
		}
	}
}

func TestCredential(t *testing.T) {
	for p, want := range map[string]bool{
		"/work/app/.env":                          true,
		"/work/app/.ENV":                          true,
		"/work/app/.env.local":                    true,
		"/work/app/prod.env":                      true,
		"/work/app/.env.example":                  false,
		"/work/app/env":                           false,
		"/work/app/.environment":                  false,
		"/home/dev/.ssh/id_ed25519":               true,
		"/home/dev/.ssh/work":                     true,
		"/home/dev/.ssh/id_ed25519.pub":           false,
		"/home/dev/.ssh/known_hosts":              false,
		"/home/dev/.ssh":                          false,
		"/home/dev/.netrc":                        true,
		"/home/dev/.aws/credentials":              true,
		"/home/dev/.aws/sso/cache/x.json":         true,
		"/home/dev/.config/gcloud/credentials.db": true,
		"/home/dev/.kube/config":                  true,
		"/home/dev/.npmrc":                        true,
		"/home/dev/.pypirc":                       true,
		"/home/dev/.docker/config.json":           true,
		"/work/app/server.pem":                    true,
		"/work/app/tls/SERVER.KEY":                true,
		"/work/app/keys.go":                       false,
		"/work/app/docker/config.json":            false,
		"/etc/shadow":                             true,
		"/work/app/etc/shadow.go":                 false,
		"/home/dev/.gnupg/private-keys-v1.d/x":    true,
	} {
		if got := path.Credential(p); got != want {
			t.Errorf("Credential(%q) = %v", p, got)
		}
	}
}

func BenchmarkNames(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		path.Control("/home/dev/src/app/internal/server/main.go")
		path.Credential("/home/dev/src/app/internal/server/main.go")
	}
}
