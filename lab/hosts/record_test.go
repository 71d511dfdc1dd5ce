//go:build unix

package hosts_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/lab/hosts"
	"github.com/sayso-dev/sayso/lab/machine"
)

var (
	update = flag.Bool("update", false, "write records, payloads and pages anew")
	real   = flag.Bool("real", false, "fetch and run the hosts that are left out otherwise")
	only   = flag.String("host", "", "run this host alone, whichever it is")
)

// TestMain makes the test binary its own MCP server when a host starts it as
// one.
func TestMain(m *testing.M) {
	if os.Getenv("LAB_MCP_SERVER") == "1" {
		hosts.ServeMCP(os.Stdin, os.Stdout)
		return
	}
	flag.Parse()
	// Hosts wait more than they work.
	if n := flag.Lookup("test.parallel"); n.Value.String() == n.DefValue {
		_ = flag.Set("test.parallel", "6") // a number
	}
	machine.Main(m)
}

// each runs a test for each host that is to be run.
func each(t *testing.T, run func(t *testing.T, h hosts.Host)) {
	for _, h := range hosts.All {
		t.Run(h.Name, func(t *testing.T) {
			if *only != "" && *only != h.Name || *only == "" && !*real && !h.Often {
				t.Skipf("%s is fetched and run by a flag; type: make lab HOST=%s", h.Title, h.Name)
			}
			run(t, h)
		})
	}
}

// record is what was seen of a release of a host.
type record struct {
	Host    string `json:"host"`
	Version string `json:"version"`
	Date    string `json:"date"` // of the last run
	Cases   []seen `json:"cases"`
	Rows    []row  `json:"rows"`
	// Switches are what became of a call that a rule denies, in a folder whose
	// settings are said to switch hooks off.
	Switches []switched `json:"switches"`
	Unseen   []unseen   `json:"unseen"`
}

// seen is what came of a case.
type seen struct {
	Case string   `json:"case"`
	Held bool     `json:"held"` // what must come of it came of it
	Ran  []string `json:"ran"`  // the files that calls left
	Told string   `json:"told"` // which of our words reached the model last
	Log  []string `json:"log"`  // each call that the gate saw, and its life
}

// of returns what came of a case.
func (r record) of(name string) (seen, bool) {
	i := slices.IndexFunc(r.Cases, func(s seen) bool { return s.Case == name })
	if i < 0 {
		return seen{}, false
	}
	return r.Cases[i], true
}

// put keeps what came of a case, in the order of the list. What is on the list no
// more goes.
func (r *record) put(got seen) {
	var cases []seen
	for _, c := range labCases {
		if c.name == got.Case {
			cases = append(cases, got)
		} else if old, ok := r.of(c.name); ok {
			cases = append(cases, old)
		}
	}
	r.Cases = cases
}

func recordFile(h hosts.Host) string {
	return filepath.Join("testdata/records", h.Name+"-"+h.Version+".json")
}

func readRecord(t testing.TB, path string) (r record) {
	t.Helper()
	if err := jcs.Unmarshal([]byte(read(t, path)), &r); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

var amending sync.Mutex

// amend changes the record of a host, which tests that run at once do.
func amend(t testing.TB, h hosts.Host, change func(*record)) {
	t.Helper()
	amending.Lock()
	defer amending.Unlock()
	var r record
	if _, err := os.Stat(recordFile(h)); err == nil {
		r = readRecord(t, recordFile(h))
	}
	r.Host, r.Version, r.Date = h.Name, h.Version, time.Now().UTC().Format(time.DateOnly)
	change(&r)
	text, err := jcs.MarshalIndent(r)
	if err != nil {
		t.Fatal(err)
	}
	write(t, recordFile(h), string(text)+"\n")
}
