package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// The agent writes HEAD, config and objects into a folder: git takes it for a
// repository, and runs what its config names the next time somebody looks there.
func TestFS3_aFolderMadeARepository(t *testing.T) {
	p := load(t, "version: 1\nsandbox: {paths: {p: {root: ., mode: rw, write_approval: false}}}\n"+rules(`allow: ["bash:echo*", "bash:cp*", "bash:mv*", "bash:ln*", "bash:tee*", "bash:mkdir*", "bash:touch*", "bash:git*"]`)[len("version: 1\n"):])
	commands(t, p, sayso.Ask, "echo 'ref: refs/heads/x' > docs/HEAD", "tee docs/head", "cp docs/HEAD docs/x", "mv x docs/HEAD", "ln -s ../.git/HEAD docs", "touch docs/HEAD", "echo x > docs/.git", "mkdir docs/.git",
		"echo x > repo.git/config", "cp x repo.git/hooks/post-checkout", "git init --bare docs", "git clone --bare x docs", "git clone --mirror x docs")
	commands(t, p, sayso.Allow, "echo x > docs/head.md", "git show HEAD", "git diff HEAD -- docs", "git reset HEAD", "git init", "touch docs/config", "git stash push HEAD", "git branch x HEAD", "git tag v1 HEAD")
	for _, path := range []string{"docs/HEAD", "docs/.git/config", "x.git/config"} {
		if v := judge(p, call(t, "file-write", obj{"path": path, "content": "x"})); v.Effect != sayso.Ask {
			t.Errorf("%s: %s by %q", path, v.Effect, v.Rule)
		}
	}
}
