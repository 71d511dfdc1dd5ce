//go:build unix

package hosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/hosts"
)

// patience is how long a host waits for a hook here, in seconds. It is long, so
// that a busy machine makes no hook late but the one that is meant to be.
const patience = 30

// failures are the ways in which a hook can fail, in the order of the table: what
// is said of it, and what it does. %DENY% is a denial that the host understands,
// without its closing brace.
var failures = []struct{ hook, does string }{
	{"denies: JSON, exit status 2 and words", `printf '%DENY%}'; echo lab >&2; exit 2`},
	{"exits 2 with words", `echo lab >&2; exit 2`},
	{"exits 2 without a word", `exit 2`},
	{"prints a denial and exits 0", `printf '%DENY%}'`},
	{"prints a denial and exits 1", `printf '%DENY%}'; exit 1`},
	{"prints a denial with a member too many", `printf '%DENY%,"lab":1}'`},
	{"exits 1", `exit 1`},
	{"is killed", `kill -9 $$`},
	{"is missing", `exec /no/such/hook`},
	{"prints half a JSON object", `printf '%DENY%'`},
	{"prints plain text", `echo no`},
	{"prints a word that is no decision", `printf '%WORD%'`},
	{"prints nothing and exits 0", `exit 0`},
	{"runs past its time", fmt.Sprintf(`exec sleep %d`, 2*patience)},
}

// spelled are a denial and a decision that does not exist, as a host spells them.
var spelled = map[string][2]string{
	"gemini":  {`{"decision":"deny","reason":"lab"`, `{"decision":"perhaps"}`},
	"copilot": {`{"permissionDecision":"deny","permissionDecisionReason":"lab"`, `{"permissionDecision":"perhaps"}`},
}

// record is what was seen of a release of a host.
type recordOf struct {
	Host    string `json:"host"`
	Version string `json:"version"`
	Date    string `json:"date"`
	Rows    []row  `json:"rows"`
}

// row is what becomes of a call whose hook fails in one way: with the hook alone,
// and with the line that sayso init writes.
type row struct {
	Hook  string `json:"hook"`
	Alone string `json:"alone"`
	Wired string `json:"wired"`
}

const (
	blocked = "blocked"
	runs    = "runs"
)

// TestFailures makes a call for each way in which a hook can fail, and compares
// what became of it with the record. With -update the record is written.
func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, h hosts.Host) {
		alone, behind := fail(t, h, ""), fail(t, h, lastWord(t, h))
		got := recordOf{Host: h.Name, Version: h.Version, Date: time.Now().UTC().Format(time.DateOnly)}
		for i, f := range failures {
			got.Rows = append(got.Rows, row{f.hook, alone[i], behind[i]})
		}
		path := recordFile(h)
		if *update {
			text, err := jcs.MarshalIndent(got)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(text)+"\n")
		}
		want := readRecord(t, path)
		want.Date = got.Date
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the host does otherwise than in the record (-record +seen):\n%s", diff)
		}
	})
}

func recordFile(h hosts.Host) string {
	return filepath.Join("testdata/records", h.Name+"-"+h.Version+".json")
}

func readRecord(t *testing.T, path string) (r recordOf) {
	t.Helper()
	if err := jcs.Unmarshal([]byte(read(t, path)), &r); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

// lastWord is what sayso init writes behind the hook.
func lastWord(t *testing.T, h hosts.Host) string {
	t.Helper()
	g := wired(t, h, "")
	for _, path := range []string{".gemini/settings.json", ".copilot/hooks/sayso.json"} {
		text, err := os.ReadFile(filepath.Join(g.Home, path))
		if err != nil {
			continue
		}
		var all any
		if err := jcs.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		if line := textWith(all, " || "); line != "" {
			_, last, _ := strings.Cut(line, " || ")
			return " || " + last
		}
	}
	t.Fatalf("the hook of %s has no last word", h.Name)
	return ""
}

// textWith is the first string in a JSON value that holds another.
func textWith(v any, part string) string {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, part) {
			return v
		}
	case map[string]any:
		for _, m := range v {
			if s := textWith(m, part); s != "" {
				return s
			}
		}
	case []any:
		for _, e := range v {
			if s := textWith(e, part); s != "" {
				return s
			}
		}
	}
	return ""
}

// fail runs the host once, with a hook that fails at each call in another way, and
// says what became of the calls.
func fail(t *testing.T, h hosts.Host, last string) []string {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	script := filepath.Join(home, "hook.sh")
	write(t, script, failingHook(h))
	setup := hosts.Setup{Hooks: map[string]string{h.Before: "/bin/sh " + script + last}, Wait: patience}
	if err := h.Write(home, setup); err != nil {
		t.Fatal(err)
	}
	var turns []modelstub.Turn
	for i := range failures {
		turns = append(turns, modelstub.Use(modelstub.Call{
			ID: fmt.Sprintf("toolu_%02d", i), Name: h.Shell, Input: hosts.Command(fmt.Sprintf("touch ran-%02d", i)),
		}))
	}
	stub := modelstub.New(turns...)
	r := h.Run(t, hosts.Options{Stub: stub, Dir: dir, Home: home, Timeout: 5 * time.Minute})
	if n := stub.Left(); n != 0 {
		t.Fatalf("%d calls were not asked for: %+v", n, r)
	}
	var became []string
	for i := range failures {
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("ran-%02d", i))); err == nil {
			became = append(became, runs)
			continue
		}
		became = append(became, blocked)
	}
	return became
}

// failingHook is a script that knows by the call how to fail.
func failingHook(h hosts.Host) string {
	var script strings.Builder
	script.WriteString("case $(cat) in\n")
	words := strings.NewReplacer("%DENY%", spelled[h.Name][0], "%WORD%", spelled[h.Name][1])
	for i, f := range failures {
		fmt.Fprintf(&script, "*'touch ran-%02d'*) %s;;\n", i, words.Replace(f.does))
	}
	script.WriteString("*) echo 'a call that nobody made' >&2; exit 2;;\nesac\n")
	return script.String()
}
