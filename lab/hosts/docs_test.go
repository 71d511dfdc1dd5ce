//go:build unix

package hosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	page  = "../../docs/hosts.md"
	begin = "<!-- from the records of lab/hosts -->\n"
	end   = "<!-- until here -->\n"
)

// The page on hosts says what was seen, and nothing else: its tables are made of
// the records of the runs. With -update they are written.
func TestDocs(t *testing.T) {
	files, err := filepath.Glob("testdata/records/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no records: %v", err)
	}
	var want strings.Builder
	for _, file := range files {
		r := readRecord(t, file)
		fmt.Fprintf(&want, "\n**%s %s**, run on %s\n\n| a hook that | alone | as `sayso init %s` writes it |\n|---|---|---|\n", titles[r.Host], r.Version, r.Date, r.Host)
		for _, row := range r.Rows {
			fmt.Fprintf(&want, "| %s | %s | %s |\n", row.Hook, loud(row.Alone), loud(row.Wired))
		}
	}
	want.WriteString("\n")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	got, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the records", page)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("the page differs from the records (-records +page); type: go test ./lab/hosts -run TestDocs -update\n%s", diff)
	}
}

var titles = map[string]string{"gemini": "Gemini CLI", "copilot": "Copilot CLI"}

// loud makes a call that ran hard to overlook.
func loud(what string) string {
	if what == runs {
		return "**" + what + "**"
	}
	return what
}
