package main

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/install"
)

// What the doctor found is read on a narrow terminal, with what to type on a line of
// its own; without a terminal each finding is one line.
func TestDoctor_lines(t *testing.T) {
	d := doctor{app: &app{}}
	d.add("files", ok, "", "folders and files are closed to others")
	d.about = install.Hosts()[0]
	d.add("settings", ok, "", "the hook is in /home/ana/.claude/settings.json")
	d.about = install.Host{Name: "codex"}
	d.add("trust", fail, "codex, and in it /hooks", "codex skips the hook for preToolUse in /home/ana/.codex/hooks.json: it is untrusted")
	want := `ok          files                 folders and files are closed to others
ok          claude-code settings  the hook is in /home/ana/.claude/settings.json
FAIL        codex trust           codex skips the hook for preToolUse in
            /home/ana/.codex/hooks.json: it is untrusted
            type: codex, and in it /hooks`
	if got := strings.Join(d.lines(80), "\n"); got != want {
		t.Errorf("in 80 columns:\n%s\nwant\n%s", got, want)
	}
	if got := d.lines(0); len(got) != 3 || !strings.HasSuffix(got[2], "it is untrusted  type: codex, and in it /hooks") {
		t.Errorf("without a terminal: %q", got)
	}
	d.list = d.list[:2]
	if got := d.lines(0)[1]; !strings.HasPrefix(got, "ok          settings  the hook") {
		t.Errorf("of one agent: %q", got)
	}
}

// A list of sessions or of tools fits a terminal of 80 columns: what has no room
// beside the name goes below it.
func TestFitted(t *testing.T) {
	rows := [][]string{
		{"SESSION", "HOST", "REQUESTS", "OPEN", "GRANTS", "MODE", "LAST"},
		{"b7d1c9e2-7a55-4f2e-9d0c-1f6a2e8c33aa", "claude-code", "12", "1", "0", "interactive", "2026-11-23 10:12:13"},
		{"s1", "mcp", "1", "0", "0", "strict", "2026-11-23 10:12:13"},
	}
	want := `SESSION
      HOST         REQUESTS  OPEN  GRANTS  MODE         LAST
b7d1c9e2-7a55-4f2e-9d0c-1f6a2e8c33aa
      claude-code  12        1     0       interactive  2026-11-23 10:12:13
s1
      mcp          1         0     0       strict       2026-11-23 10:12:13
`
	if got := fitted(80, 1, rows); got != want {
		t.Errorf("in 80 columns:\n%s\nwant\n%s", got, want)
	}
	whole := fitted(0, 1, rows)
	if lines := strings.Split(whole, "\n"); len(lines) != 4 || !strings.HasPrefix(lines[2], "s1    ") {
		t.Errorf("without a terminal:\n%s", whole)
	}
	if got := fitted(120, 1, rows); got != whole {
		t.Errorf("in 120 columns:\n%s", got)
	}
}

// A list of what waits fits a terminal, down to what is too little to read.
func TestInbox_room(t *testing.T) {
	r := sayso.Request{Tool: "bash", Preview: sayso.Args(`{"command":"git push ` + strings.Repeat("--force ", 30) + `origin main"}`)}
	for columns, want := range map[int]int{0: 96, 90: 90, 80: 80, 60: 60} {
		rows := [][]string{{"ID", "AGE", "LEFT", "FROM"}, {"k7fm", "8s", "1h00m", "claude-code/main"}}
		got := withWhat(columns, rows, []sayso.Request{r})
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		n := ansi.StringWidth(lines[len(lines)-1])
		if n != want || !strings.HasSuffix(got, "origin main\n") || (len(lines) == 3) != (columns == 60) || !strings.HasPrefix(lines[1], "k7fm  8s   1h00m  claude-code/main") {
			t.Errorf("in %d columns it is %d wide:\n%s", columns, n, got)
		}
	}
	r.Preview = sayso.Args(`{"command":"git push --force"}`)
	rows := [][]string{{"ID", "FROM"}, {"k7fm", "claude-code/main"}}
	if got, want := withWhat(42, rows, []sayso.Request{r}), "ID    FROM              WHAT\nk7fm  claude-code/main  git push --force\n"; got != want {
		t.Errorf("where it fits:\n%swant\n%s", got, want)
	}
}
