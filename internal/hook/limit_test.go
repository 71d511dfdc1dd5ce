package hook

import (
	"testing"
	"time"

	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
)

var moments = map[claudecode.Event]agent.Moment{
	claudecode.PreToolUse: agent.Before, claudecode.PostToolUse: agent.After, claudecode.PostToolUseFailure: agent.After,
	claudecode.SessionStart: agent.Begin, claudecode.SessionEnd: agent.End,
}

// What the settings tell the host to wait must be longer than we take.
func TestHK1_endsBeforeTheHostWaits(t *testing.T) {
	text, err := install.Claude(nil, install.Hook{Program: "/bin/sayso-hook"})
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[claudecode.Event][]struct {
			Matcher string `json:"matcher"`
			Hooks   []struct {
				Type          string   `json:"type"`
				Command       string   `json:"command"`
				Args          []string `json:"args"`
				Timeout       int      `json:"timeout"` // in seconds
				OnFailure     string   `json:"onFailure"`
				StatusMessage string   `json:"statusMessage"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := jcs.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	if len(settings.Hooks) != 5 {
		t.Errorf("%d events in %s", len(settings.Hooks), text)
	}
	for event, groups := range settings.Hooks {
		host, ours := time.Duration(groups[0].Hooks[0].Timeout)*time.Second, claudeCode.limit(moments[event])
		if host != event.Timeout() || ours >= host || ours <= 0 {
			t.Errorf("%s: the host waits %v, we take up to %v", event, host, ours)
		}
		if event == claudecode.PreToolUse && (claudeCode.patience() >= ours || ours != time.Hour-30*time.Second) {
			t.Errorf("a person is waited for %v of %v", claudeCode.patience(), ours)
		}
	}
}

func TestHK1_endsBeforeCodexWaits(t *testing.T) {
	host, _ := install.Find("codex")
	text, err := host.Put(nil, install.Hook{Program: "/bin/sayso-hook"})
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[codex.Event][]struct {
			Hooks []struct {
				Type          string `json:"type"`
				Command       string `json:"command"`
				Timeout       int    `json:"timeout"` // in seconds
				StatusMessage string `json:"statusMessage"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := jcs.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	if len(settings.Hooks) != 5 {
		t.Errorf("%d events in %s", len(settings.Hooks), text)
	}
	for event, groups := range settings.Hooks {
		moment := agent.After
		if event.Asks() {
			moment = agent.Before
		}
		waits, ours := time.Duration(groups[0].Hooks[0].Timeout)*time.Second, codexHost.limit(moment)
		if waits != event.Timeout() || ours >= waits || ours <= 0 || event.Asks() && codexHost.patience() >= ours {
			t.Errorf("%s: the host waits %v, we take up to %v", event, waits, ours)
		}
	}
}
