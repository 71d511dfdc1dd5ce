package install

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/sayso-dev/sayso/agent/copilot"
	"github.com/sayso-dev/sayso/agent/vscode"
)

// vscodeHost is VS Code. It reads the hooks of Copilot CLI, also those that are
// written for it alone, so the two have one hook in one file: a second would be
// asked about every call too.
var vscodeHost = Host{
	Name: vscode.Host, Told: copilot.Host, Title: "VS Code",
	Scopes: []Scope{ScopeUser}, Places: copilotPlaces,
	Put: copilotFormat.put, Take: copilotFormat.take, Survey: copilotFormat.survey, Off: vscodeOff,
}

// vscodeFolder is where VS Code keeps what is the person's.
func vscodeFolder(getenv func(string) string) string {
	if dir := filepath.Join(getenv("HOME"), "Library", "Application Support"); isDir(dir) {
		return filepath.Join(dir, "Code", "User")
	}
	return filepath.Join(configFolder(getenv), "Code", "User")
}

// Hooked are the hosts to which a hook in their settings is known to belong: Copilot CLI
// and VS Code have one in one file, so it takes a sign of Copilot CLI that it is here,
// and of VS Code where there is one of Copilot CLI. found reports whether a program is
// in PATH.
func Hooked(getenv func(string) string, found func(program string) bool) []Host {
	cli := found(copilotHost.Program) || usedBesides(copilotFolder(getenv), "hooks")
	editor := !cli || isDir(vscodeFolder(getenv))
	return slices.DeleteFunc(Hosts(), func(h Host) bool {
		return h.Name == copilotHost.Name && !cli || h.Name == vscodeHost.Name && !editor
	})
}

// usedBesides reports whether a folder holds more than one thing.
func usedBesides(folder, one string) bool {
	list, err := os.ReadDir(folder)
	return err == nil && slices.ContainsFunc(list, func(e os.DirEntry) bool { return e.Name() != one })
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// vscodeOff looks for what keeps VS Code from our hook: settings of its own, and
// what switches off the hooks of Copilot CLI, whose harness it has too.
func vscodeOff(getenv func(string) string, dir string) *Doubt {
	files := []string{filepath.Join(vscodeFolder(getenv), "settings.json")}
	for _, folder := range upward(dir) {
		files = append(files, filepath.Join(folder, ".vscode", "settings.json"))
	}
	for _, path := range files {
		text, err := Read(path)
		if err != nil {
			return unread(path, err)
		}
		if !bytes.Contains(text, []byte("ook")) && !bytes.Contains(text, []byte(`\u`)) {
			continue
		}
		root, err := parseLoose(text)
		if err != nil {
			return unread(path, err)
		}
		if what := vscodeSwitch(text, root); what != "" {
			return &Doubt{Why: path + " switches " + what + ": calls run without being asked about", Type: mend(path)}
		}
	}
	return copilotOff(getenv, dir)
}

func vscodeSwitch(text []byte, root *node) string {
	if n := root.get("chat.useHooks"); n != nil && !truth(text, n) {
		return "all hooks off by chat.useHooks"
	}
	if n := root.get("chat.hookFilesLocations").get("~/.copilot/hooks"); n != nil && !truth(text, n) {
		return "our hook off by chat.hookFilesLocations"
	}
	return ""
}
