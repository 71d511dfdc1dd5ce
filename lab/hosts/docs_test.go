//go:build unix

package hosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
)

const (
	page  = "../../docs/hosts.md"
	table = "../../internal/install/runs.json"
	anew  = "type: go test ./lab/hosts -run TestDocs -args -update"
)

// The page on hosts says what was seen, and nothing else: its tables are made of
// the records of the runs. So is what the doctor knows. With -update both are
// written.
func TestDocs(t *testing.T) {
	all := records(t)
	failures := ""
	for _, r := range all {
		failures += failuresTable(r)
	}
	places := map[string]string{"cases": casesTable(all), "failures": failures, "switches": switchesTable(all), "unseen": unseenTable(all)}
	got := read(t, page)
	want := got
	for name, text := range places {
		begin := "<!-- the " + name + ", from the records of lab/hosts -->\n"
		before, rest, ok := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, "<!-- until here -->\n")
		if !ok || !ended {
			t.Fatalf("%s has no place for the %s", page, name)
		}
		want = before + begin + text + "\n<!-- until here -->\n" + after
	}
	if *update {
		write(t, page, want)
		got = want
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page differs from the records (-records +page); %s\n%s", anew, diff)
	}
	told, err := jcs.MarshalIndent(runsOf(all))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		write(t, table, string(told)+"\n")
	}
	if diff := cmp.Diff(string(told)+"\n", read(t, table)); diff != "" {
		t.Errorf("what the doctor knows differs from the records (-records +known); %s\n%s", anew, diff)
	}
}

// records are all that there are, in the order of the hosts.
func records(t *testing.T) (all []record) {
	t.Helper()
	for _, h := range install.Hosts() {
		files, err := filepath.Glob("testdata/records/" + h.Name + "-[0-9]*.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			all = append(all, readRecord(t, file))
		}
	}
	files, err := os.ReadDir("testdata/records")
	if err != nil || len(files) != len(all) || len(all) == 0 {
		t.Fatalf("%d files are the records of %d runs, %v", len(files), len(all), err)
	}
	return all
}

// casesTable is the table of all hosts, a row for each case.
func casesTable(all []record) string {
	head, dates := []string{""}, []string{"run on"}
	for _, r := range all {
		head, dates = append(head, title(r)), append(dates, r.Date)
	}
	rows := [][]string{dates}
	for _, c := range labCases {
		cells := []string{c.name}
		for _, r := range all {
			cells = append(cells, cell(r, c.name))
		}
		rows = append(rows, cells)
	}
	for _, m := range marks {
		cells := []string{m.what}
		for _, r := range all {
			cells = append(cells, m.of(r))
		}
		rows = append(rows, cells)
	}
	if others := notRun(all); len(others) > 0 {
		head = append(head, strings.Join(others, ", "))
		for i := range rows {
			rows[i] = append(rows[i], "not run")
		}
	}
	return lines(head, rows)
}

// marks are what the log of a case says beside its outcome.
var marks = []struct {
	what string
	of   func(r record) string
}{
	{"that a call ended is reported", func(r record) string { return r.says("a rule allows", "finished", "yes", "no") }},
	{"the server of an MCP tool is told", func(r record) string { return r.says("a tool of an MCP server", " of lab by", "yes", "no") }},
	{"an agent of the host's own is told apart", func(r record) string {
		return r.says("an agent of the host's own makes the call", "bash by "+r.Host+"/main", "no", "yes")
	}},
}

// says is one word if the log of a case holds a text, else another.
func (r record) says(name, text, with, without string) string {
	s, ok := r.of(name)
	switch {
	case !ok:
		return "not run"
	case slices.ContainsFunc(s.Log, func(l string) bool { return strings.Contains(l, text) }):
		return with
	}
	return without
}

// cell says what became of the call of a case. A call that ran and must not have
// is hard to overlook.
func cell(r record, name string) string {
	s, ok := r.of(name)
	switch {
	case !ok:
		return "not run"
	case !s.Held && len(s.Ran) > 0:
		return loud(runs)
	case !s.Held:
		return "does not run"
	case len(s.Ran) == 0:
		return blocked
	case len(s.Ran) > 1:
		return fmt.Sprintf("%d run, 1 blocked", len(s.Ran))
	case s.Ran[0] == "edited":
		return "runs as edited"
	}
	return runs
}

// failuresTable is what becomes of calls whose hook fails, in one host.
func failuresTable(r record) string {
	var rows [][]string
	for _, row := range r.Rows {
		rows = append(rows, []string{row.Hook, loud(row.Alone), loud(row.Wired)})
	}
	return fmt.Sprintf("\n**%s**, run on %s\n", title(r), r.Date) +
		lines([]string{"a hook that", "alone", "as `sayso init " + r.Host + "` writes it"}, rows)
}

// switchesTable says which files of a project switch hooks off.
func switchesTable(all []record) string {
	var rows [][]string
	for _, r := range all {
		for _, s := range r.Switches {
			said := "`" + strings.Join(strings.Fields(s.Text), " ") + "`"
			rows = append(rows, []string{title(r), "`" + s.File + "`", said, loud(s.Trusted), loud(s.Strange), s.Status})
		}
	}
	return lines([]string{"", "a file of the project", "says", "a denied call, where the folder is trusted", "where it is not", "`sayso status`"}, rows)
}

// unseenTable says what no hook may be told of, and what came of it.
func unseenTable(all []record) string {
	head := []string{""}
	rows := make([][]string, len(probes))
	for i, p := range probes {
		rows[i] = []string{p.what}
	}
	for _, r := range all {
		head = append(head, title(r))
		for i, p := range probes {
			rows[i] = append(rows[i], r.came(p.what))
		}
	}
	return lines(head, rows)
}

// came is what a probe showed.
func (r record) came(what string) string {
	for _, u := range r.Unseen {
		switch {
		case u.What == what && u.Came == nobodyAsked:
			return "**" + u.Came + "**"
		case u.What == what:
			return u.Came
		}
	}
	return "not run"
}

// lines are a table as the page has it.
func lines(head []string, rows [][]string) string {
	var b strings.Builder
	b.WriteString("\n")
	for i, cells := range append([][]string{head}, rows...) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
		}
	}
	return b.String()
}

func title(r record) string {
	h, _ := install.Find(r.Host)
	return h.Title + " " + r.Version
}

// notRun are the hosts that there is no record of.
func notRun(all []record) (titles []string) {
	for _, h := range install.Hosts() {
		if !slices.ContainsFunc(all, func(r record) bool { return r.Host == h.Name }) {
			titles = append(titles, h.Title)
		}
	}
	return titles
}

// loud makes a call that ran hard to overlook.
func loud(what string) string {
	if what == runs {
		return "**" + what + "**"
	}
	return what
}

// known is what the doctor knows of a record.
func known(r record) install.Run {
	run := install.Run{Host: r.Host, Version: r.Version, Date: r.Date, Open: []string{}}
	for _, row := range r.Rows {
		if row.Wired == runs {
			run.Open = append(run.Open, row.Hook)
		}
	}
	return run
}

func runsOf(all []record) (list []install.Run) {
	for _, r := range all {
		list = append(list, known(r))
	}
	return list
}
