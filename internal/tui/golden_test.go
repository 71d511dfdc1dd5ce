package tui

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
	"github.com/sayso-dev/sayso/present/highlight"
)

var update = flag.Bool("update", false, "write the screens anew")

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// golden is a screen as it is drawn, without a program.
func golden(columns, rows int, plain bool) *model {
	m := newModel(context.Background(), Options{Plain: plain, Highlight: highlight.Code, Now: func() time.Time { return noon }})
	m.Update(tea.WindowSizeMsg{Width: columns, Height: rows})
	m.Update(connectedMsg{door: Door{Where: "server /run/user/1000/sayso/socket"}, fresh: true, open: samples()})
	m.see("01m7wyf0nnpx5134avv40bmx4g3chvqgbe01")
	return m
}

// see looks at a request, without reading it.
func (m *model) see(id sayso.ID) {
	m.choose(id)
	r := m.items.byID[id].Request
	m.look.request, m.look.content, m.look.ready = r, contentOf(r), true
	style := m.style()
	style.Columns = m.detailColumns()
	m.Update(drawnMsg{id, r.Content, style.Columns, lines(asked(r, m.look.content), style)})
	m.guard.live = true
}

// samples are requests of every kind of presentation.
func samples() []sayso.Request {
	list := []sayso.Request{
		{
			Tool: "bash", HostTool: "Bash", Kind: sayso.KindShell, Risk: sayso.RiskDestructive, Danger: []sayso.Danger{sayso.DangerDelete}, CanEdit: true,
			Preview: sayso.Args(`{"command":"make test && rm -rf build"}`), Said: map[string]string{"description": "Clean up, then test"},
			Cause: sayso.CauseRule, Rule: "deletions need a person", File: "policy.yaml", Line: 12,
			Covers: []sayso.CoverOffer{{Cover: sayso.CoverCall, Label: "this exact call", WouldHaveCovered: 2, LookedAt: 40}},
		},
		{
			Tool: "file-edit", Kind: sayso.KindEdit, Risk: sayso.RiskModerate, Cause: sayso.CauseDefault,
			Preview: sayso.Args(`{"new_string":"## Executive Summary","old_string":"## Summary","path":"notes/report.md"}`),
			Covers: []sayso.CoverOffer{
				{Cover: sayso.CoverCall, Label: "this exact call"}, {Cover: sayso.CoverDirectory, Label: "file-edit in notes", Pattern: "file-edit:notes/**", WouldHaveCovered: 7, Denied: 1, LookedAt: 40},
			},
		},
		{Tool: "file-write", Kind: sayso.KindWrite, Risk: sayso.RiskModerate, Cause: sayso.CauseDefault, Preview: sayso.Args(`{"content":"package x\n\nfunc X() {}\n","path":"x.go"}`)},
		{Tool: "create_issue", Server: "tracker", Kind: sayso.KindMCP, Risk: sayso.RiskModerate, Cause: sayso.CauseDefault, Preview: sayso.Args(`{"labels":["bug"],"title":"It fails"}`)},
		{Tool: "create_issue", Server: "tracker", Kind: sayso.KindMCP, Risk: sayso.RiskModerate, Cause: sayso.CauseDefault, Preview: sayso.Args(`{"labels":["bug"],"title":"It fails"}`)},
		{
			Tool: "bash", Kind: sayso.KindShell, Risk: sayso.RiskSafe, Cause: sayso.CauseNotUnderstood, Preview: sayso.Args(`{"command":"echo a\u202eb"}`),
			Warnings: []sayso.Warning{{Kind: sayso.WarnBidi, Path: "/command"}}, Redactions: []sayso.Redaction{{Path: "/env/TOKEN", Key: "TOKEN", Length: 40}},
		},
	}
	for i := range list {
		r := &list[i]
		r.ID = sayso.ID("01m7wyf0nnpx5134avv40bmx4g3chvqgbe0" + string(rune('1'+i)))
		r.ShortID, r.State, r.Host, r.Caller, r.SessionID, r.Cwd = r.ID.Short(), sayso.StateOpen, "claude-code", "claude-code/main", "s1", "/home/dev/app"
		r.Digest, r.Content = sayso.HashOf("test", r.Preview), sayso.HashOf("content", r.Preview)
		left := float64(95 + 600*i)
		r.RemainingS, r.CreatedAt, r.Requirement.Count = &left, noon, 1
	}
	list[5].ShortID = "zzzz"
	for i := range list {
		list[i].ShortID = string(rune('a'+i)) + "7fm"
	}
	list[2].RemainingS, list[2].Requirement.Count = nil, 2
	return list
}

func contentOf(r sayso.Request) sayso.RequestedFull {
	full := sayso.RequestedFull{Args: r.Preview}
	var p sayso.Presentation
	switch r.Kind {
	case sayso.KindShell:
		p = present.Command("make test && rm -rf build", "/home/dev/app", sayso.Mark{From: 13, To: 15, Kind: sayso.MarkDelete, Text: "rm deletes: build"})
	case sayso.KindEdit:
		p = present.Diff("notes/report.md", "# Weekly Report\n## Summary\n", "# Weekly Report\n## Executive Summary\nKey findings from this week:\n")
	case sayso.KindWrite:
		p = present.File("x.go", "package x\n\nfunc X() {}\n")
	case sayso.KindMCP:
		p = present.Structured(r.Preview)
	}
	full.Presentation = &p
	return full
}

// change are the steps to a screen.
type change func(m *model)

func pressed(keys ...string) change {
	return func(m *model) {
		for _, key := range keys {
			m.screen()
			m.now = m.now.Add(time.Second)
			m.alone = true
			switch {
			case key == "end":
				m.key(tea.KeyPressMsg{Code: tea.KeyEnd})
			case key == "enter":
				m.key(tea.KeyPressMsg{Code: tea.KeyEnter})
			default:
				m.hold.last = time.Time{}
				m.key(tea.KeyPressMsg{Code: []rune(key)[0], Text: key})
			}
		}
		m.guard.live = true
	}
}

func at(n int) change {
	return func(m *model) { m.see(m.order()[n]) }
}

func TestScreens(t *testing.T) {
	edited := sayso.Args(`{"command":"make test"}`)
	for _, c := range []struct {
		name    string
		columns int
		rows    int
		plain   bool
		do      []change
	}{
		{"command", 80, 24, false, nil},
		{"command-wide", 120, 40, false, nil},
		{"command-plain", 80, 24, true, nil},
		{"diff", 80, 24, false, []change{at(1)}},
		{"diff-plain", 120, 40, true, []change{at(1)}},
		{"file", 120, 40, false, []change{at(5)}},
		{"long-path", 120, 40, false, []change{func(m *model) {
			m.items.byID[m.cursor].Preview = sayso.Args(`{"command":"cp /home/dev/app/` + strings.Repeat("deeper/", 12) + `secret.go /mnt/elsewhere"}`)
			m.items.byID[m.order()[1]].Preview = sayso.Args(`{"path":"/home/dev/app/` + strings.Repeat("deeper/", 12) + `report.md"}`)
		}}},
		{"structured", 80, 24, false, []change{at(2)}},
		{"warnings", 80, 24, false, []change{at(4)}},
		{"inert", 80, 24, false, []change{func(m *model) { m.guard.live = false }}},
		{"smallest", 60, 16, false, nil},
		{"too-small", 50, 10, false, nil},
		{"ended", 80, 24, false, []change{func(m *model) {
			m.items.byID[m.cursor].close(sayso.Decision{Request: m.cursor, State: sayso.StateDenied, By: []sayso.Actor{{Principal: "ann"}}, Note: "not now"})
		}}},
		{"lost", 80, 24, false, []change{func(m *model) { m.heard(lostMsg{}) }}},
		{"mode", 80, 24, false, []change{func(m *model) { m.setMode(sayso.ModeState{Mode: sayso.ModeApproveAll, Left: 29 * time.Minute}) }}},
		{"locked", 80, 24, false, []change{func(m *model) { m.switched = "LOCKED: everything asks or denies" }}},
		{"deny", 80, 24, false, []change{pressed("n", "n", "o")}},
		{"danger", 80, 24, false, []change{pressed("end", "y", "b", "7")}},
		{"remember", 80, 24, false, []change{at(1), pressed("end", "s", "j", "t", "u")}},
		{"filter", 80, 24, false, []change{pressed("/", "i", "s", "s", "u", "e")}},
		{"batch", 80, 24, false, []change{pressed("x"), at(1), pressed("x"), func(m *model) {
			b := &batch{wanted: []sayso.ID{"1", "2"}}
			for _, i := range m.picked() {
				b.read = append(b.read, lookedMsg{request: i.Request, content: contentOf(i.Request)})
			}
			m.open(b)
			batchMsg{b, b.read}.deliver(m)
		}}},
		{"edit", 80, 24, false, []change{func(m *model) {
			e := &editing{args: edited}
			m.ask(e)
			judgedMsg{e, sayso.Verdict{Match: sayso.Match{Effect: sayso.Ask, Rule: "make"}}, nil}.deliver(m)
			m.guard.live = true
		}}},
		{"help", 80, 24, false, []change{pressed("?")}},
		{"grants", 80, 24, false, []change{func(m *model) {
			m.open(&grants{calls: map[sayso.ID]string{samples()[0].ID: "bash  git add ."}})
			in := noon.Add(time.Hour)
			grantsMsg{list: []sayso.Grant{{
				ID: "01m7wyf0nnpx5134avv40bmx4g3chvqgbe09", ShortID: "g7fm", Tool: "bash", Label: "commands that begin with", Pattern: "bash:git add*", SessionID: "s1",
				By: sayso.Actor{Principal: "dev"}, Request: "01m7wyf0nnpx5134avv40bmx4g3chvqgbe01", MaxUses: 3, Uses: 1, ExpiresAt: &in,
			}}}.deliver(m)
		}}},
		{"mode-change", 80, 24, false, []change{pressed("m"), func(m *model) {
			modeReadMsg{of: m.panel.(*moding), state: sayso.ModeState{}}.deliver(m)
		}, pressed("j", "j", "t", "enter", "a", "p")}},
		{"history", 80, 24, false, []change{func(m *model) {
			list := samples()
			for i, s := range []sayso.State{sayso.StateAllowed, sayso.StateDenied, sayso.StateExpired} {
				list[i].State, list[i].Decision = s, &sayso.Decision{State: s, Source: sayso.SourcePerson, At: noon.Add(time.Minute), By: []sayso.Actor{{Principal: "dev"}}}
			}
			m.open(&history{limit: historyPage})
			historyMsg{limit: historyPage, list: list}.deliver(m)
		}}},
		{"empty", 80, 24, false, []change{func(m *model) { m.items = newItems(nil, noon); m.sort(); m.first() }}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := golden(c.columns, c.rows, c.plain)
			for _, do := range c.do {
				do(m)
			}
			m.screen() // what is drawn may say where its end is
			checkScreen(t, c.name, m.screen(), c.columns, c.rows)
			if left := present16(m.screen()); c.plain && left {
				t.Error("a colour where none is wanted")
			}
		})
	}
}

// present16 reports whether a screen has colours.
func present16(screen string) bool {
	for _, code := range []string{"31", "32", "33", "34", "35", "36"} {
		if strings.Contains(screen, "\x1b["+code+"m") {
			return true
		}
	}
	return false
}

func checkScreen(t *testing.T, name, got string, columns, rows int) {
	t.Helper()
	all := strings.Split(got, "\n")
	if len(all) > rows {
		t.Errorf("%d rows of %d", len(all), rows)
	}
	for _, line := range all {
		if n := ansi.StringWidth(line); n > columns {
			t.Errorf("%d columns of %d: %q", n, columns, line)
		}
	}
	shown := strings.ReplaceAll(got, "\x1b", "^") + "\n"
	path := filepath.Join("testdata", name+".screen")
	if *update {
		if err := os.WriteFile(path, []byte(shown), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), shown); d != "" {
		t.Errorf("the screen is another (-want +got); if that is meant, type: go test ./internal/tui -run TestScreens -update\n%s", d)
	}
}

// Each change of a sample's presentation is drawn from what words makes of it.
func TestViewOf_namesTheKind(t *testing.T) {
	for _, r := range samples() {
		if v := viewOf(r, contentOf(r)); !strings.HasPrefix(v.Title, r.ShortID+"  ") || v.Risk == "" && len(v.Danger) == 0 {
			t.Errorf("%s: %+v, %v", r.Tool, v.Title, words.From(r))
		}
	}
}

// BenchmarkEvent is one batch of events, and the screen after it, while
// thousands wait.
func BenchmarkEvent(b *testing.B) {
	m := golden(120, 40, false)
	var open []sayso.Request
	for i := range 5000 {
		r := samples()[i%6]
		r.ID = sayso.ID(fmt.Sprintf("01m7wyf0nnpx5134avv40bmx4g3chvq%05d", i))
		r.SessionID = fmt.Sprint("s", i%40)
		r.Digest = sayso.HashOf("test", []byte(r.ID))
		open = append(open, r)
	}
	m.Update(connectedMsg{fresh: true, open: open})
	for i := 0; b.Loop(); i++ {
		m.Update(eventsMsg{{Type: sayso.EventParked, RequestID: open[i%5000].ID}})
		m.View()
	}
}
