package main

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/codexapp"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// written is a hook as `sayso init codex` writes it and Codex 0.169.0 lists it.
func written(t *testing.T, event, state string) codexapp.Hook {
	t.Helper()
	hook := install.Hook{Program: "/bin/sayso-hook", Place: []string{"--state", state, "--config", "/c", "--runtime", "/r"}}
	h := codexapp.Hook{Event: event, Handler: "command", Seconds: 3600, Enabled: true, Trust: "trusted", Source: "/home/dev/.codex/hooks.json", Command: codexLine(t, hook, event)}
	if _, differs, ours := install.CodexGate(h); !ours || differs != "" {
		t.Fatalf("what is written does not count: %q %v", differs, ours)
	}
	return h
}

// codexLine is the command of a hook in the settings that are written.
func codexLine(t *testing.T, h install.Hook, event string) string {
	t.Helper()
	codex, _ := install.Find("codex")
	text, err := codex.Put(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string `json:"command"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := jcs.UnmarshalLenient(text, &settings); err != nil {
		t.Fatal(err)
	}
	groups := settings.Hooks[strings.ToUpper(event[:1])+event[1:]]
	if len(groups) != 1 || len(groups[0].Hooks) != 1 {
		t.Fatalf("no hook for %s in %s", event, text)
	}
	return groups[0].Hooks[0].Command
}

// Only what is to the letter as sayso init writes it, for this gate, counts as trusted:
// what has its name in it may let every call run.
func TestDoctor_codexTrustsOurHooksAlone(t *testing.T) {
	asks, permits := written(t, "preToolUse", "/s"), written(t, "permissionRequest", "/s")
	with := func(h codexapp.Hook, change func(*codexapp.Hook)) codexapp.Hook { change(&h); return h }
	matcher, elsewhere := "Bash", "box"
	for name, tt := range map[string]struct {
		asks codexapp.Hook
		want string // in what is said of it; empty if all is well
	}{
		"as it is written":          {asks, ""},
		"managed":                   {with(asks, func(h *codexapp.Hook) { h.Trust = "managed" }), ""},
		"not trusted":               {with(asks, func(h *codexapp.Hook) { h.Trust = "untrusted" }), "codex skips the hook for preToolUse"},
		"switched off":              {with(asks, func(h *codexapp.Hook) { h.Enabled = false }), "it is switched off"},
		"a name in a comment":       {with(asks, func(h *codexapp.Hook) { h.Command = "true # " + h.Command }), "names sayso and is not ours"},
		"a name in the path":        {with(asks, func(h *codexapp.Hook) { h.Command = "/opt/sayso/lets-all-run codex" }), "names sayso and is not ours"},
		"within another command":    {with(asks, func(h *codexapp.Hook) { h.Command = h.Command + " || true" }), "is not as sayso init writes it"},
		"without its last word":     {with(asks, func(h *codexapp.Hook) { h.Command = "/bin/sayso-hook codex --state /s --config /c --runtime /r" }), "is not as sayso init writes it"},
		"without a place":           {with(asks, func(h *codexapp.Hook) { h.Command = "/bin/sayso-hook codex" }), "is not as sayso init writes it"},
		"nobody waits for it":       {with(asks, func(h *codexapp.Hook) { h.Async = true }), "is not as sayso init writes it"},
		"for one tool":              {with(asks, func(h *codexapp.Hook) { h.Matcher = &matcher }), "is not as sayso init writes it"},
		"elsewhere":                 {with(asks, func(h *codexapp.Hook) { h.Environment = &elsewhere }), "is not as sayso init writes it"},
		"with another time":         {with(asks, func(h *codexapp.Hook) { h.Seconds = 1 }), "is not as sayso init writes it"},
		"no command":                {with(asks, func(h *codexapp.Hook) { h.Handler = "prompt" }), "is not as sayso init writes it"},
		"of another gate":           {written(t, "preToolUse", "/elsewhere"), "asks another gate"},
		"none":                      {codexapp.Hook{Event: "stop", Command: asks.Command}, "sees no hook of this gate for preToolUse"},
		"somebody else's":           {with(asks, func(h *codexapp.Hook) { h.Command = "guard" }), "sees no hook of this gate for preToolUse"},
		"trusted, and of another's": {with(asks, func(h *codexapp.Hook) { h.Command = "/bin/sayso-hook claude-code --state /s --config /c --runtime /r" }), "names sayso and is not ours"},
	} {
		d := &doctor{app: &app{paths: home.Paths{State: "/s"}}}
		d.codexHooks([]codexapp.Hook{tt.asks, permits})
		said, good := "", false
		for _, f := range d.list {
			said += string(f.Grade) + ": " + f.Text + "\n"
			good = good || f.Grade == ok
		}
		if good != (tt.want == "") || !strings.Contains(said, tt.want) || !good && !failed(d.list) {
			t.Errorf("%s: want %q in\n%s", name, tt.want, said)
		}
	}
}

// A call ran as Codex skips our hook: what helps is to trust it, and not to write it
// again, which was just done.
func TestDoctor_codexSaysWhatHelps(t *testing.T) {
	asks, permits := written(t, "preToolUse", "/s"), written(t, "permissionRequest", "/s")
	for trust, want := range map[string]string{"untrusted": "codex, and in it /hooks", "trusted": "sayso init codex"} {
		asks.Trust = trust
		d := &doctor{app: &app{paths: home.Paths{State: "/s"}}}
		d.about, _ = install.Find("codex")
		d.codexHooks([]codexapp.Hook{asks, permits})
		d.judge(proof{ran: true})
		if last := d.list[len(d.list)-1]; last.Grade != fail || last.Type != want {
			t.Errorf("%s: %+v", trust, last)
		}
	}
}
