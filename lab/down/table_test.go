//go:build unix

package down_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/lab/machine"
)

func TestMain(m *testing.M) { machine.Main(m) }

// pages are where the tables are.
var pages = []string{"README.md", filepath.Join("docs", "guide.md")}

// row is one line of a table.
type row struct{ page, what, agent, person, typed string }

// seen is what a test saw of its row.
type seen struct {
	agent  string // all that the agent was told
	person string // all that the person was shown by what they typed
}

// rows reads the tables that begin with "what | the agent sees".
func rows(t *testing.T) (all []row) {
	t.Helper()
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		in := false
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(strings.TrimSpace(line), "|")
			switch {
			case !strings.HasPrefix(line, "|"):
				in = false
			case strings.HasPrefix(line, "| what | the agent sees |"):
				in = true
			case in && !strings.HasPrefix(line, "|-") && len(cells) == 6:
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				all = append(all, row{page, cells[1], cells[2], cells[3], cells[4]})
			case in && !strings.HasPrefix(line, "|-"):
				t.Errorf("%s: a row has not four cells: %s", page, line)
			}
		}
	}
	return all
}

// TestDown runs the test of each row, and there is a row for each test.
func TestDown(t *testing.T) {
	all := rows(t)
	named := map[string]bool{}
	for _, r := range all {
		name := strings.ReplaceAll(r.what, "`", "")
		if named[name] {
			t.Errorf("%s: there are two rows %q", r.page, name)
		}
		named[name] = true
		do := cases[name]
		if do == nil {
			t.Errorf("%s: nothing tests the row %q", r.page, name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := machine.New(t)
			got := do(t, m)
			t.Logf("the agent: %s\nyou: %s\ntyped: %s", got.agent, got.person, strings.Join(m.Typed(), "\n"))
			compare(t, r, got, m.Typed())
		})
	}
	for name := range cases {
		if !named[name] {
			t.Errorf("no row of %s says what happens: %s", strings.Join(pages, ", "), name)
		}
	}
}

// quoted is what a cell quotes: text of a program between backquotes.
var quoted = regexp.MustCompile("`([^`]+)`")

// compare holds a row against what was seen: whatever a cell quotes is there,
// and whatever it says to type was typed.
func compare(t *testing.T, r row, s seen, typed []string) {
	t.Helper()
	holds(t, r.page+": the agent sees", r.agent, s.agent)
	holds(t, r.page+": you see", r.person, s.person)
	if strings.HasPrefix(r.agent, "nothing") && s.agent != "" {
		t.Errorf("%s: the agent sees nothing, it says, but was told %q", r.page, s.agent)
	}
	for _, q := range quoted.FindAllStringSubmatch(r.typed, -1) {
		if strings.HasPrefix(q[1], "sayso ") && !slices.ContainsFunc(typed, func(line string) bool { return alike(q[1], line) }) {
			t.Errorf("%s: the test does not type %s; it types\n%s", r.page, q[1], strings.Join(typed, "\n"))
		}
	}
}

// holds expects everything that a cell quotes in what was seen. An ellipsis
// stands for any text.
func holds(t *testing.T, where, cell, got string) {
	t.Helper()
	for _, q := range quoted.FindAllStringSubmatch(cell, -1) {
		rest := got
		for _, part := range strings.Split(q[1], "…") {
			_, after, ok := strings.Cut(rest, strings.TrimSpace(part))
			if !ok {
				t.Errorf("%s %s; it was %q", where, q[0], got)
				break
			}
			rest = after
		}
	}
}

// alike reports whether a line that was typed is the one of the table, in which
// a word of capitals or a ticket stands for any.
func alike(table, line string) bool {
	want, got := strings.Fields(table), strings.Fields(line)
	if len(got) < len(want) {
		return false
	}
	for i, w := range want {
		if w != got[i] && w != "k7fm" && w != strings.ToUpper(w) {
			return false
		}
	}
	return true
}
