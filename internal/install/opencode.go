package install

import (
	"bytes"
	_ "embed" // for the plugin
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/opencode"
	"github.com/sayso-dev/sayso/internal/jcs"
)

var opencodeHost = Host{
	Name: opencode.Host, Title: "opencode", Program: "opencode", Update: "npm install -g opencode-ai",
	Oldest: opencode.Oldest, Older: "was never run with this gate; %s is the first that was",
	Scopes: []Scope{ScopeUser, ScopeProject}, Places: opencodePlaces,
	Put: putPlugin, Take: takePlugin, Survey: surveyPlugin, Doubt: opencodeDoubt, Off: opencodeOff, Wall: &opencodeWall,
}

// opencodePlaces is the one plugin that is ours, in the folders of which opencode
// loads every file.
func opencodePlaces(getenv func(string) string, dir string) []Place {
	return []Place{
		{ScopeUser, filepath.Join(opencodeFolder(getenv), "plugin", "sayso.js")},
		{ScopeProject, filepath.Join(dir, ".opencode", "plugin", "sayso.js")},
	}
}

// opencodeFolder is where opencode keeps what the person configures.
func opencodeFolder(getenv func(string) string) string {
	config := getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(getenv("HOME"), ".config")
	}
	return filepath.Join(config, "opencode")
}

// opencodeWall is the weakest of the files that opencode configures itself from:
// what the person allows in the others stays allowed.
var opencodeWall = Wall{
	Says: "opencode asks before its own tools and MCP tools, and `opencode run` rejects them; not before a line that only redirects, nor before what plugins bring. It asks whatever the hook says, so you are asked twice",
	Path: func(getenv func(string) string, _ string) string {
		return filepath.Join(opencodeFolder(getenv), "config.json")
	},
	Own: true,
	Put: func(text []byte) ([]byte, error) {
		if len(bytes.TrimSpace(text)) > 0 && string(text) != opencodeRules {
			return nil, fmt.Errorf("%w: the file is another than sayso init writes", sayso.ErrConflict)
		}
		return []byte(opencodeRules), nil
	},
	Take: func(text []byte) ([]byte, error) {
		if len(bytes.TrimSpace(text)) > 0 && string(text) != opencodeRules {
			return nil, fmt.Errorf("%w: the file is not one that sayso init wrote", sayso.ErrConflict)
		}
		return nil, nil
	},
}

// opencodeRules names its schema, which opencode else writes into the file.
const opencodeRules = `{
  "$schema": "https://opencode.ai/config.json",
  "permission": {
    "*": "ask"
  }
}
`

//go:embed opencode.js
var plugin string

// The line of the plugin that says how our hook is started, and how the plugin
// begins.
const (
	hookLine   = "const hook = "
	pluginHead = "// sayso asks before each call of opencode"
)

// Plugin is the file that opencode loads, for a hook.
func Plugin(h Hook) ([]byte, error) {
	if !filepath.IsAbs(h.Program) {
		return nil, fmt.Errorf("%w: the hook's program must be an absolute path, not %q", sayso.ErrInvalid, h.Program)
	}
	words, err := jcs.Marshal(slices.Concat([]string{h.Program, opencode.Host}, h.Place))
	if err != nil {
		return nil, err
	}
	return []byte(strings.Replace(plugin, hookLine+"[]\n", hookLine+string(words)+"\n", 1)), nil
}

// pluginHook is how a plugin of ours starts our hook; false if the text is none.
func pluginHook(text []byte) (h Hook, ours bool) {
	if !bytes.HasPrefix(text, []byte(pluginHead)) {
		return h, false
	}
	for line := range strings.Lines(string(text)) {
		list, ok := strings.CutPrefix(strings.TrimSpace(line), hookLine)
		if !ok {
			continue
		}
		var words []string
		if err := jcs.Unmarshal([]byte(list), &words); err == nil && len(words) > 1 {
			h.Program, h.Place = words[0], words[2:]
		}
		break
	}
	return h, true
}

func putPlugin(text []byte, h Hook) ([]byte, error) {
	if _, ours := pluginHook(text); !ours && len(bytes.TrimSpace(text)) > 0 {
		return nil, fmt.Errorf("%w: the file is somebody else's plugin, and opencode loads ours by this name", sayso.ErrConflict)
	}
	return Plugin(h)
}

func takePlugin(text []byte) ([]byte, error) {
	if _, ours := pluginHook(text); ours {
		return nil, nil
	}
	return text, nil
}

// surveyPlugin compares the whole file: it is a program, and a line more in it can
// let everything run.
func surveyPlugin(text []byte) (s Survey, err error) {
	h, ours := pluginHook(text)
	if !ours {
		return s, nil
	}
	s.Program, s.State = h.Program, h.option("--state")
	want, err := Plugin(h)
	switch {
	case err != nil:
		s.Differs = "it does not say which program to ask"
	case !bytes.Equal(text, want):
		s.Differs = "its text is another"
	default:
		s.Installed = true
	}
	return s, nil
}

// opencodeDoubt is why opencode does not load the plugin of a project.
func opencodeDoubt(getenv func(string) string, p Place) *Doubt {
	const name = "OPENCODE_DISABLE_PROJECT_CONFIG"
	if p.Scope != ScopeProject || !isSet(getenv(name)) {
		return nil
	}
	return &Doubt{Why: name + " is set: opencode loads no plugins of projects", Type: "unset " + name}
}

// opencodeOff looks for the variable that has opencode load no plugins. Its flag
// --pure does the same for one run, and cannot be seen from here.
func opencodeOff(getenv func(string) string, _ string) *Doubt {
	const name = "OPENCODE_PURE"
	if !isSet(getenv(name)) {
		return nil
	}
	return &Doubt{Why: name + " is set: opencode loads no plugins, and calls run without being asked about", Type: "unset " + name}
}

// isSet reports what opencode takes for yes; what it might take for it counts too.
func isSet(value string) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "off", "n"}, strings.ToLower(value))
}

// PluginFile writes the plugin for a run of opencode that we start ourselves,
// into a folder that is closed to others.
func PluginFile(dir string, h Hook) (path string, err error) {
	text, err := Plugin(h)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "sayso.js")
	return path, os.WriteFile(path, text, 0o600)
}
