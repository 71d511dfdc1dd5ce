package path

import (
	"iter"
	"strings"
)

// Control reports whether writing to the absolute path could change what
// programs do later without anybody calling this file by name: version
// control, agents, editors, shells and ourselves. Anything inside a control
// folder is a control file.
func Control(path string) bool {
	path = plainPath(path)
	for name, rest := range namesOf(path) {
		if controlNames[name] || controlRuns.match(name, rest) {
			return true
		}
		if rest == "" && (startsControl(name) || strings.HasSuffix(name, ".code-workspace") || name == "head" || holdsControl(name)) || strings.HasSuffix(name, ".git") && makesRepository(rest) {
			return true
		}
	}
	return false
}

// makesRepository reports whether a path in a repository without a work tree, as
// they are called, is one that makes git run something there. In a folder called
// otherwise it is HEAD that makes a repository of it, whatever else is there.
func makesRepository(rest string) bool {
	first, _, _ := strings.Cut(rest, "/")
	return first == "config" || first == "config.worktree" || first == "hooks" || first == "info"
}

// holdsControl is for folders in which some names are control files, and others
// are not: what is put in the place of the whole folder, or into it, can bring
// any of them.
func holdsControl(name string) bool {
	return name[0] == '.' && controlRuns[name] != nil
}

// startsControl is for the last names that come with endings of their own.
func startsControl(name string) bool {
	for _, start := range controlStarts {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// Credential reports whether the absolute path is that of a file known to hold
// keys, passwords or tokens.
func Credential(path string) bool {
	path = plainPath(path)
	last := path[strings.LastIndexByte(path, '/')+1:]
	if credentialNames[last] || isDotEnv(last) || isKeyFile(last) {
		return true
	}
	for name, rest := range namesOf(path) {
		if credentialRuns.match(name, rest) {
			return true
		}
		if name == ".ssh" && rest != "" && !openSSH[last] && !strings.HasSuffix(last, ".pub") {
			return true
		}
	}
	return false
}

// isDotEnv reports whether name is .env or one of its variants, and no sample
// of one.
func isDotEnv(name string) bool {
	if strings.HasSuffix(name, ".env") {
		return true
	}
	variant, ok := strings.CutPrefix(name, ".env.")
	switch variant {
	case "example", "sample", "template", "dist", "defaults":
		return false
	}
	return ok
}

// isKeyFile judges by the ending of a name.
func isKeyFile(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot >= 0 && credentialEndings[name[dot+1:]]
}

// namesOf yields each name of a path with what follows it.
func namesOf(path string) iter.Seq2[string, string] {
	return func(yield func(name, rest string) bool) {
		for path != "" {
			name, rest, _ := strings.Cut(path, "/")
			if name != "" && !yield(name, rest) {
				return
			}
			path = rest
		}
	}
}

// runs are paths that stand anywhere in a path, by their first name.
type runs map[string][]string

func runsOf(paths ...string) runs {
	r := make(runs)
	for _, p := range paths {
		first, rest, _ := strings.Cut(p, "/")
		r[first] = append(r[first], rest)
	}
	return r
}

// match reports whether one of the runs begins at name, which rest follows.
func (r runs) match(name, rest string) bool {
	for _, run := range r[name] {
		if run == "" || strings.HasPrefix(rest, run) && (len(rest) == len(run) || rest[len(run)] == '/') {
			return true
		}
	}
	return false
}

// plainPath is the path as the most forgiving file system would take it. Most
// paths are that already.
func plainPath(path string) string {
	if !strings.ContainsFunc(path, odd) && !strings.Contains(path, "./") && !strings.HasSuffix(path, ".") {
		return path
	}
	names := strings.Split(path, "/")
	for i := range names {
		names[i] = plain(names[i])
	}
	return strings.Join(names, "/")
}

// odd reports whether a character makes a name worth a second look.
func odd(r rune) bool {
	return r >= 0x80 || r >= 'A' && r <= 'Z' || r == ':' || r == '~' || r == ' '
}

// plain is one name in lower case, without the characters that HFS+ ignores
// and without what NTFS cuts off.
func plain(name string) string {
	name = strings.Map(ignore, name)
	// Up and down again: the long s and the Kelvin sign are letters too.
	name = strings.ToLower(strings.ToUpper(name))
	name, _, _ = strings.Cut(name, ":")
	if trimmed := strings.TrimRight(name, " ."); trimmed != "" {
		name = trimmed
	}
	if name == "git~1" {
		return ".git"
	}
	return name
}

// ignore drops the characters that HFS+ does not see in names.
func ignore(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e,
		r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// controlNames are files and folders, wherever they are.
var controlNames = set(
	// Version control, and what it runs.
	".git", ".hg", ".svn", ".jj", ".bzr", ".gitmodules", ".gitattributes", ".gitconfig", ".hgrc",
	".husky", ".huskyrc", ".huskyrc.json", ".githooks", ".pre-commit-config.yaml", ".overcommit.yml", ".simple-git-hooks.json", ".simple-git-hooks.js", ".simple-git-hooks.cjs",
	"lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json", ".lefthook", ".lefthookrc",
	"lefthook-local.yml", "lefthook-local.yaml", ".lefthook-local.yml", ".lefthook-local.yaml",
	// Agents.
	".claude", ".claude.json", ".mcp.json", ".codex", ".gemini", ".cursor", ".cursorrules",
	".opencode", "opencode.json", "opencode.jsonc", ".aider.conf.yml", ".continue", ".windsurf",
	".windsurfrules", ".cline", ".clinerules", ".roo", ".copilot", ".agents", ".antigravity",
	".kiro", ".crush.json", "crush.json", ".goosehints", ".amazonq", ".junie", ".trae", ".augment", "claude_desktop_config.json", "claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md",
	// Editors.
	".vscode", ".vscode-server", ".idea", ".fleet", ".zed", ".devcontainer", ".devcontainer.json",
	".vim", ".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".emacs", ".emacs.d", ".dir-locals.el",
	".editorconfig", ".nanorc",
	// Shells, and what they load.
	".envrc", ".direnvrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
	".bash_completion", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc",
	".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".xinitrc", ".xprofile",
	".xsession", ".xsessionrc", ".tmux.conf", ".screenrc", ".ssh", ".gnupg", ".pam_environment",
	"authorized_keys",
	// Debuggers, and what reads commands or settings where it is started.
	".gdbinit", ".lldbinit", ".irbrc", ".pryrc", ".rprofile", ".psqlrc", ".sqliterc", ".mailrc", ".wgetrc", ".curlrc", ".ripgreprc", ".direnv",
	// What package managers and version managers read before they run anything.
	".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".tool-versions", "mise.toml", ".mise.toml",
	".mise", ".asdfrc", ".pythonstartup",
	// What other machines do with what they are sent, and builds with each run.
	".gitlab-ci.yml", ".circleci", ".travis.yml", "jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml",
	".drone.yml", ".drone.yaml", ".drone.star", ".woodpecker", ".woodpecker.yml", ".woodpecker.yaml", ".buildkite", ".cirrus.yml", ".cirrus.star", ".semaphore", ".appveyor.yml", "appveyor.yml",
	".bazelrc",
	// Ourselves.
	".sayso",
)

// controlStarts are beginnings of the last name.
var controlStarts = []string{".bashrc.", ".zshrc.", ".profile.", "sayso.sock"}

// controlRuns are control files and folders by more than one name.
var controlRuns = runsOf(
	".github/workflows", ".github/actions", ".github/copilot-instructions.md", ".gitea/workflows", ".forgejo/workflows",
	// Agents: what Copilot reads of a repository, hooks and servers among it, and what
	// the machine says to all of an agent's users.
	".github/copilot", ".github/hooks", ".github/agents", ".github/instructions", ".github/prompts", ".github/skills",
	".github/extensions", ".github/plugin", ".github/mcp.json", ".github/lsp.json", ".config/github-copilot",
	"etc/gemini-cli", "etc/claude-code", "etc/codex", "etc/cursor", "etc/github-copilot",
	".cargo/config", ".cargo/config.toml", ".config/sayso", ".local/state/sayso", "etc/sayso",
	".config/git", ".config/fish", ".config/autostart", ".config/systemd", ".config/nvim",
	".config/opencode", ".config/zed", ".config/environment.d", ".config/direnv", ".config/mise",
	"library/launchagents", "etc/profile", "etc/profile.d", "etc/bash.bashrc", "etc/environment",
	"etc/cron.d", "etc/crontab", "etc/sudoers", "etc/sudoers.d", "etc/ld.so.preload",
	".config/code/user", ".config/cursor/user", "library/application support/code/user",
)

var credentialNames = set(
	".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", ".mylogin.cnf",
	".vault-token", ".terraformrc", "credentials.tfrc.json", ".htpasswd", ".dockercfg", ".boto", ".s3cfg",
	".envrc", ".credentials.json", "application_default_credentials.json", "kubeconfig",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
	"login.keychain-db", "logins.json", "key4.db", "cookies.sqlite",
)

var credentialEndings = set(
	"pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "p8", "ovpn", "agekey",
)

var credentialRuns = runsOf(
	".aws/credentials", ".aws/config", ".aws/sso", ".aws/cli/cache", ".azure", ".config/gcloud",
	".kube/config", ".kube/cache", ".docker/config.json", ".config/gh/hosts.yml", ".config/hub", ".config/glab-cli",
	".config/op", ".config/doctl", ".config/rclone", ".gnupg", ".password-store", ".config/sops",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
	".m2/settings-security.xml", ".gradle/gradle.properties", ".codex/auth.json", ".gemini/oauth_creds.json",
	".local/share/keyrings", ".local/share/opencode/auth.json", ".config/composer/auth.json", ".composer/auth.json",
	"etc/shadow", "etc/gshadow", "etc/ssl/private",
)

// openSSH are the files in .ssh that hold no secret.
var openSSH = set("known_hosts", "known_hosts.old", "config", "authorized_keys")
