package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sayso-dev/sayso"
)

// Wall is a rule of a host's own that has the host ask by itself. It stands when
// our hook is gone, or was never started.
type Wall struct {
	Says string // what it does, and what it costs
	// Path is the file that it stands in, for a hook in a place. Own says that
	// nothing else is in it.
	Path func(getenv func(string) string, hook string) string
	Own  bool
	// Put returns the file with the wall in it, and Take without.
	Put, Take func(text []byte) ([]byte, error)
}

// Stands reports whether the wall is in its file.
func (w Wall) Stands(text []byte) bool {
	if len(bytes.TrimSpace(text)) == 0 {
		return false
	}
	with, err := w.Put(text)
	return err == nil && bytes.Equal(with, text)
}

// claudeWall takes the one mode from Claude Code in which it asks nothing. What
// we allow it does not ask about again, so nobody is asked twice.
var claudeWall = Wall{
	Says: "Claude Code cannot be started in bypassPermissions: without the hook it asks you itself. With the hook nothing is asked twice",
	Path: func(_ func(string) string, hook string) string { return hook },
	Put:  putClaudeWall, Take: takeClaudeWall,
}

const claudeBypass, claudeNoBypass = "disableBypassPermissionsMode", `"disable"`

func putClaudeWall(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := claudeFormat.object(text)
	if err != nil {
		return nil, err
	}
	permissions := root.get("permissions")
	n := permissions.get(claudeBypass)
	s := styleOf(text, root)
	switch {
	case n != nil && string(n.raw(text)) == claudeNoBypass:
		return text, nil
	case n != nil || permissions != nil && permissions.kind != '{':
		return nil, fmt.Errorf("%w: permissions.%s is something else than %s", sayso.ErrConflict, claudeBypass, claudeNoBypass)
	case permissions != nil:
		return s.insert(text, permissions, 1, s.member(claudeBypass, []byte(claudeNoBypass))), nil
	}
	value := s.lay([]byte(`{"`+claudeBypass+`":`+claudeNoBypass+`}`), 1)
	return s.insert(text, root, 0, s.member("permissions", value)), nil
}

func takeClaudeWall(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	root, err := claudeFormat.object(text)
	if err != nil {
		return nil, err
	}
	permissions := root.get("permissions")
	if n := permissions.get(claudeBypass); n == nil || string(n.raw(text)) != claudeNoBypass {
		return text, nil
	}
	if len(permissions.members) == 1 {
		return cut(text, root, place(root, "permissions")), nil
	}
	return cut(text, permissions, place(permissions, claudeBypass)), nil
}

// place is which member of an object has a name.
func place(n *node, name string) int {
	for i, m := range n.members {
		if m.name == name {
			return i
		}
	}
	return -1
}

// geminiWall is a file of rules for Gemini CLI, which heeds them before --yolo.
// It asks whatever a hook has said.
var geminiWall = Wall{
	Says: "Gemini CLI asks before commands, writes, fetches and MCP tools, also with --yolo; where nobody can be asked it refuses. It asks whatever the hook says, so you are asked twice",
	Path: func(getenv func(string) string, _ string) string {
		return filepath.Join(filepath.Dir(geminiPlaces(getenv, "")[0].Path), "policies", "sayso.toml")
	},
	Own: true,
	Put: func(text []byte) ([]byte, error) {
		if len(bytes.TrimSpace(text)) > 0 && string(text) != geminiRules {
			return nil, fmt.Errorf("%w: the file is another than sayso init writes", sayso.ErrConflict)
		}
		return []byte(geminiRules), nil
	},
	Take: func(text []byte) ([]byte, error) { return takeRules(text, geminiRules) },
}

// takeRules takes our rules out of a file, and leaves what the person wrote beside them.
func takeRules(text []byte, rules string) ([]byte, error) {
	before, after, ours := strings.Cut(string(text), rules)
	rest := before + after
	switch {
	case !ours && strings.TrimSpace(rest) != "":
		return nil, fmt.Errorf("%w: what sayso init wrote is not there as it wrote it", sayso.ErrConflict)
	case strings.TrimSpace(rest) == "":
		return nil, nil
	}
	return []byte(rest), nil
}

const geminiRules = `# The second wall of sayso: Gemini CLI asks by itself, also with --yolo, whatever a hook
# says. It is put here by "sayso init gemini --second-wall"; with --undo it goes.
[[rule]]
toolName = ["run_shell_command", "write_file", "replace", "web_fetch"]
decision = "ask_user"
priority = 998

[[rule]]
toolName = "*"
mcpName = "*"
decision = "ask_user"
priority = 998
`

// codexWall is a file of rules for Codex. A rule of its names the words that a command
// begins with, so that it can only be about commands that are known to do harm. It asks our
// hook then, too.
var codexWall = Wall{
	Says: "Codex asks before commands that delete, publish, take other rights or reach other machines, as far as their programs are named there, and where nobody can be asked it refuses them. It asks whatever the hook says, so you are asked twice about those",
	Path: func(getenv func(string) string, _ string) string {
		return filepath.Join(codexFolder(getenv), "rules", "sayso.rules")
	},
	Own: true,
	Put: func(text []byte) ([]byte, error) {
		if len(bytes.TrimSpace(text)) > 0 && string(text) != codexRules {
			return nil, fmt.Errorf("%w: the file is another than sayso init writes", sayso.ErrConflict)
		}
		return []byte(codexRules), nil
	},
	Take: func(text []byte) ([]byte, error) { return takeRules(text, codexRules) },
}

const codexRules = `# The second wall of sayso: Codex asks by itself before what begins with these words,
# whatever a hook says. It is put here by "sayso init codex --second-wall"; with --undo it goes.
prefix_rule(
    pattern = [["rm", "rmdir", "shred", "unlink", "truncate", "dd", "mkfs", "find", "xargs"]],
    decision = "prompt",
)
prefix_rule(
    pattern = ["git", ["push", "send-pack", "reset", "clean", "checkout", "restore", "rebase", "filter-branch", "config"]],
    decision = "prompt",
)
prefix_rule(
    pattern = [["npm", "pnpm", "yarn", "bun", "cargo", "gem", "twine", "poetry", "uv"], ["publish", "unpublish", "push", "upload", "yank"]],
    decision = "prompt",
)
prefix_rule(
    pattern = [["sudo", "su", "doas", "chmod", "chown", "crontab", "systemctl", "launchctl"]],
    decision = "prompt",
)
prefix_rule(
    pattern = [["curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "socat"]],
    decision = "prompt",
)
prefix_rule(
    pattern = [["docker", "podman", "kubectl", "helm", "terraform", "aws", "gcloud", "az", "gh", "glab"]],
    decision = "prompt",
)
`
