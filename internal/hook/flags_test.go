package hook

import (
	"slices"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	pin := []string{"--state", "/s", "--config", "/c", "--runtime", "/r"}
	with := func(more ...string) []string { return append(append([]string{"claude-code"}, pin...), more...) }
	for _, tt := range []struct {
		args   []string
		strict bool
		pinned bool
		fails  bool
	}{
		{args: []string{"claude-code"}},
		{args: []string{"claude-code", "--strict"}, strict: true},
		{args: with(), pinned: true},
		{args: with("--strict"), pinned: true, strict: true},
		{args: with("--server", "https://gate.example", "--token-file", "/t"), pinned: true},
		{args: []string{"claude-code", "--approve-all", "--for", "30m"}, fails: true},
		{args: []string{"claude-code", "--strcit"}, fails: true},
		{args: []string{"claude-code", "--state", "/s"}, fails: true},
		{args: []string{"claude-code", "--state"}, fails: true},
		{args: []string{"claude-code", "--state", "s", "--config", "/c", "--runtime", "/r"}, fails: true},
		{args: []string{"claude-code", "--server", "https://gate.example"}, fails: true},
		{args: []string{"--strict"}, fails: true},
		{args: []string{"claude"}, fails: true},
		{args: nil, fails: true},
	} {
		in, err := flags(tt.args)
		if (err != nil) != tt.fails || err == nil && (in.strict != tt.strict || in.pinned != tt.pinned) {
			t.Errorf("%q: %+v, %v", tt.args, in, err)
		}
	}
}

func TestMain_tellsAPersonHow(t *testing.T) {
	for _, arg := range []string{"--help", "-h"} {
		var out, told strings.Builder
		status := 0
		Main(Env{Args: []string{arg}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told, Exit: func(n int) { status = n }})
		if status != 2 || out.Len() > 0 || !strings.HasPrefix(told.String(), "usage: sayso-hook HOST") || !strings.Contains(told.String(), names()) {
			t.Errorf("%s: status %d, said %q and told %q", arg, status, &out, &told)
		}
	}
}

// A repository that was cloned brings .claude/settings.json with an env that
// points SAYSO_SERVER at a server of its own, which allows everything, or
// SAYSO_HOME at a folder of the repository with a policy that allows
// everything. The host hands these variables to our hook. The place that init
// wrote into the hook's arguments stands.
func TestPlace_isNotMovedByVariables(t *testing.T) {
	in, err := flags([]string{"claude-code", "--state", "/s", "--config", "/c", "--runtime", "/r"})
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Environ: []string{
		"PATH=/bin", "HOME=/repo", "SAYSO_HOME=/repo/.x", "SAYSO_SERVER=http://127.0.0.1:7995", "SAYSO_TOKEN_FILE=/proc/self/personality",
		"XDG_STATE_HOME=/repo", "XDG_CONFIG_HOME=/repo", "XDG_RUNTIME_DIR=/repo", "SAYSO_PATIENCE=1s", "CLAUDE_PROJECT_DIR=/repo",
	}}
	in.settle(&env)
	paths, err := env.find()
	if err != nil || paths.State != "/s" || paths.Config != "/c" || paths.Runtime != "/r" {
		t.Errorf("the gate is at %+v, %v", paths, err)
	}
	for _, kv := range env.Environ {
		if strings.Contains(kv, "/repo") && kv != "CLAUDE_PROJECT_DIR=/repo" || strings.HasPrefix(kv, "SAYSO_SERVER") || strings.HasPrefix(kv, "SAYSO_TOKEN") {
			t.Errorf("%s is still heard", kv)
		}
	}
	if !slices.Contains(env.Environ, "SAYSO_PATIENCE=1s") {
		t.Error("what moves nothing is gone too")
	}
}
