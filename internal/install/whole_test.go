package install_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/install"
)

// edits are what a person, or an agent, may do to the hook so that it does not
// stop every call any more; to be replaced, and by what.
var edits = map[string]map[string][2]string{
	"claude-code": {
		"asked about less":    {`"matcher": "*"`, `"matcher": "Bash"`},
		"given less time":     {`"timeout": 3600`, `"timeout": 1`},
		"no time":             {`"timeout": 3600,`, ``},
		"failure passes":      {`"onFailure": "block"`, `"onFailure": "continue"`},
		"failure not said":    {`"onFailure": "block",`, ``},
		"not waited for":      {`"type": "command",`, `"type": "command", "async": true,`},
		"only if":             {`"type": "command",`, `"type": "command", "if": "Bash(git *)",`},
		"only once":           {`"type": "command",`, `"type": "command", "once": true,`},
		"through a shell":     {`"command": "/usr/local/bin/sayso-hook"`, `"command": "true || /usr/local/bin/sayso-hook"`},
		"another type":        {`"type": "command"`, `"type": "prompt"`},
		"another host":        {`"claude-code",`, `"codex",`},
		"only helps":          {`"--state",`, `"--help", "--state",`},
		"gate from elsewhere": {`"--config",`, `"--c",`},
		"a group switched":    {`"matcher": "*",`, `"matcher": "*", "disabled": true,`},
		"another event":       {`"PreToolUse"`, `"PreCompact"`},
	},
	"codex": {
		"asked about less":     {"\"PreToolUse\": [\n      {", `"PreToolUse": [{"matcher": "Bash",`},
		"given less time":      {`"timeout": 3600`, `"timeout": 1`},
		"not waited for":       {`"type": "command",`, `"type": "command", "async": true,`},
		"true at the end":      {`/runtime",`, `/runtime || true",`},
		"watched by nobody":    {`{ [ $? -eq 2 ] || echo \"sayso: the hook failed, so this call does not run; type: sayso doctor\" >&2; exit 2; }' sayso`, `true' sayso`},
		"not watched":          {"/bin/sh -c ", "/bin/echo "},
		"another host":         {"sayso-hook codex", "sayso-hook gemini"},
		"another event":        {`"PreToolUse"`, `"PostCompact"`},
		"within other quotes":  {`/usr/local/bin/sayso-hook codex`, `\"/usr/local/bin/sayso-hook\" codex`},
		"a command before it":  {`"command": "/bin/sh`, `"command": "true; /bin/sh`},
		"a timeout of another": {`"command": "/bin/sh`, `"command": "timeout 1 /bin/sh`},
	},
	"gemini": {
		"asked about less":  {`"matcher": "*"`, `"matcher": "write_file"`},
		"given less time":   {`"timeout": 3600000`, `"timeout": 3600`},
		"true at the end":   {`exit 2; }"`, `exit 2; } || true"`},
		"no last word":      {` || { [ $? -eq 2 ]`, `; { [ $? -eq 2 ]`},
		"passes":            {`exit 2; }`, `exit 0; }`},
		"in the background": {`sayso-hook gemini --state`, `sayso-hook gemini & --state`},
		"another name":      {`"name": "sayso"`, `"name": "lint"`},
		"another type":      {`"type": "command"`, `"type": "none"`},
	},
	"copilot": {
		"given less time": {`"timeoutSec": 3600`, `"timeoutSec": 30`},
		"no time":         {`"timeoutSec": 3600`, `"other": 3600`},
		"true at the end": {`exit 2; }"`, `exit 2; } || true"`},
		"asked about less": {`"preToolUse": [
      {`, `"preToolUse": [{"matcher": "view",`},
		"elsewhere":       {`"type": "command",`, `"type": "command", "cwd": "/nowhere",`},
		"another command": {`"type": "command",`, `"type": "command", "command": "true",`},
		"in other shells": {`"type": "command",`, `"type": "command", "powershell": "exit 0",`},
	},
	"cursor": {
		"failure passes": {`"failClosed": true`, `"failClosed": false`},
		"failure not said": {`,
        "failClosed": true`, ``},
		"given less time":  {`"timeout": 3600`, `"timeout": 5`},
		"true at the end":  {`}'"`, `}' || true"`},
		"asked about less": {`"failClosed": true`, `"failClosed": true, "matcher": "Read"`},
	},
	"antigravity": {
		"given less time":  {`"timeout": 3600`, `"timeout": 5`},
		"asked about less": {`"matcher": "*"`, `"matcher": "view_file"`},
		"another event":    {`"PreToolUse"`, `"PostToolUse"`},
		"allows":           {`\"decision\":\"deny\"`, `\"decision\":\"allow\"`},
		"true at the end":  {`}'"`, `}' || true"`},
	},
}

// A hook that was changed in any way is not installed: what a change means to
// its host is for the host to know. init mends it.
func TestSurvey_anyEdit(t *testing.T) {
	hook := install.Hook{Program: program, Place: []string{"--state", "/state", "--config", "/config", "--runtime", "/runtime"}}
	for name, changes := range edits {
		h, ok := install.Find(name)
		if !ok {
			t.Fatalf("there is no host %s", name)
		}
		in, err := h.Put(nil, hook)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := h.Survey(in); err != nil || !s.Installed || s.Differs != "" || s.State != "/state" {
			t.Errorf("%s: as it was written: %+v, %v\n%s", name, s, err, in)
		}
		for what, c := range changes {
			t.Run(name+"/"+what, func(t *testing.T) {
				changed := strings.Replace(string(in), c[0], c[1], 1)
				if changed == string(in) {
					t.Fatalf("there is no %s in\n%s", c[0], in)
				}
				s, err := h.Survey([]byte(changed))
				if err != nil || s.Installed {
					t.Errorf("it counts as installed: %+v, %v", s, err)
				}
				if gone := what == "another event" || what == "another host"; !gone && s.Differs == "" {
					t.Error("nobody says in what it differs")
				}
				mended, err := h.Put([]byte(changed), hook)
				if err != nil {
					t.Fatal(err)
				}
				if s, err := h.Survey(mended); err != nil || !s.Installed {
					t.Errorf("it is not mended: %+v, %v\n%s", s, err, mended)
				}
			})
		}
	}
}

// What only asks for more, and what others put beside ours, takes nothing away.
func TestSurvey_harmlessEdits(t *testing.T) {
	for name, c := range map[string][2]string{
		"claude-code": {`"claude-code",`, `"claude-code", "--strict",`},
		"codex":       {"sayso-hook codex", "sayso-hook codex --strict"},
		"gemini":      {`"hooks": [`, `"hooks": [{"type": "command", "command": "lint"},`},
	} {
		h, _ := install.Find(name)
		in, err := h.Put(nil, placed)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(in), c[0], c[1], 1)
		if s, err := h.Survey([]byte(changed)); err != nil || !s.Installed || changed == string(in) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}
