package install

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sayso-dev/sayso/agent/codex"
)

// InTheWay says why the host, started in a directory, may not start a hook that
// stands in a place: a file that counts there switches hooks off, or the place
// itself is doubtful. It is nil if nothing is known to be in the way.
func (h Host) InTheWay(getenv func(string) string, dir string, p Place) *Doubt {
	if h.Off != nil {
		if d := h.Off(getenv, dir); d != nil {
			return d
		}
	}
	if h.Doubt == nil {
		return nil
	}
	return h.Doubt(getenv, p)
}

// geminiOff looks for hooksConfig in all files of settings that count, also
// those in which no hook of ours stands.
func geminiOff(getenv func(string) string, dir string) *Doubt {
	var files []string
	for _, p := range geminiPlaces(getenv, dir) {
		if dir != "" || p.Scope != ScopeProject {
			files = append(files, p.Path)
		}
	}
	files = append(files, "/etc/gemini-cli/system-defaults.json")
	for _, name := range []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"} {
		if path := getenv(name); path != "" {
			files = append(files, path)
		}
	}
	return firstOff(files, "hooksConfig", func(text []byte, root *node) string {
		config := root.get("hooksConfig")
		if n := config.get("enabled"); n != nil && !truth(text, n) {
			return "all hooks off by hooksConfig.enabled"
		}
		for _, name := range elements(config.get("disabled")) {
			if stringOf(text, name) == geminiName {
				return "our hook off by hooksConfig.disabled"
			}
		}
		return ""
	})
}

// copilotOff looks for disableAllHooks in the person's settings and those of the
// repository, Claude Code's among them, which Copilot CLI reads too.
func copilotOff(getenv func(string) string, dir string) *Doubt {
	own := copilotFolder(getenv)
	files := []string{
		filepath.Join(own, "config.json"), filepath.Join(own, "settings.json"), filepath.Join(own, "hooks", "sayso.json"),
		filepath.Join(getenv("HOME"), ".claude", "settings.json"),
	}
	for _, folder := range upward(dir) {
		for _, name := range []string{"copilot/settings.json", "copilot/settings.local.json"} {
			files = append(files, filepath.Join(folder, ".github", name))
		}
		for _, name := range []string{"settings.json", "settings.local.json"} {
			files = append(files, filepath.Join(folder, ".claude", name))
		}
	}
	return firstOff(files, "disableAllHooks", func(text []byte, root *node) string {
		if n := root.get("disableAllHooks"); n != nil && string(n.raw(text)) != "false" {
			return "all hooks off by disableAllHooks"
		}
		return ""
	})
}

// codexOff looks for features.hooks in the config.toml of the folders that Codex
// is started in. The person's own is looked at with the hook.
func codexOff(_ func(string) string, dir string) *Doubt {
	for _, folder := range upward(dir) {
		path := filepath.Join(folder, "."+codex.Host, "config.toml")
		switch config, err := Read(path); {
		case err != nil:
			return unread(path, err)
		case codexSwitchedOff(config):
			return &Doubt{Why: path + " switches hooks off: no hook runs", Type: mend(path)}
		}
	}
	return nil
}

// firstOff is the first of the files that switches hooks off, by what a file
// that has the word says. Hosts read more than JSON, comments for one: of a
// file with the word that we cannot read, the worst is said.
func firstOff(files []string, word string, says func(text []byte, root *node) string) *Doubt {
	for _, path := range files {
		text, err := Read(path)
		if err != nil {
			return unread(path, err)
		}
		if !bytes.Contains(text, []byte(word)) && !bytes.Contains(text, []byte(`\u`)) {
			continue
		}
		root, err := parse(text)
		if err != nil {
			return unread(path, err)
		}
		if what := says(text, root); what != "" {
			return &Doubt{Why: path + " switches " + what + ": calls run without being asked about", Type: mend(path)}
		}
	}
	return nil
}

func unread(path string, err error) *Doubt {
	return &Doubt{Why: fmt.Sprintf("whether %s switches hooks off is not known: %v", path, err), Type: mend(path)}
}

// mend is what to type to change a file by hand.
func mend(path string) string { return "${EDITOR:-vi} " + quoted(path) }

// upward is a directory and those above it, up to the root of its repository;
// the directory alone where there is none, and nothing if it is not known.
func upward(dir string) []string {
	if dir == "" {
		return nil
	}
	folders := []string{dir}
	for at := dir; ; at = filepath.Dir(at) {
		if at != dir {
			folders = append(folders, at)
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return folders
		}
		if at == filepath.Dir(at) {
			return folders[:1]
		}
	}
}
