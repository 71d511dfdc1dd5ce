//go:build unix

package hosts_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/hosts"
)

// patience is how long a host waits for a hook here, in seconds. It is long, so
// that a busy machine makes no hook late but the one that is meant to be.
const patience = 10

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
	{"prints a denial without its last brace", `printf '%DENY%'`},
	{"prints half a JSON object", `printf '%HALF%'`},
	{"prints plain text", `echo no`},
	{"prints a word that is no decision", `printf '%WORD%'`},
	{"prints nothing and exits 0", `exit 0`},
	{"runs past its time", fmt.Sprintf(`exec sleep %d`, 2*patience)},
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
	t.Parallel()
	each(t, func(t *testing.T, h hosts.Host) {
		t.Parallel()
		var became [2][]string
		t.Run("both", func(t *testing.T) {
			for i, wired := range []bool{false, true} {
				t.Run(fmt.Sprintf("wired %v", wired), func(t *testing.T) {
					t.Parallel()
					became[i] = fail(t, h, wired)
				})
			}
		})
		var got []row
		for i, f := range failures {
			got = append(got, row{f.hook, became[0][i], became[1][i]})
		}
		if *update {
			amend(t, h, func(r *record) { r.Rows = got })
		}
		if diff := cmp.Diff(readRecord(t, recordFile(h)).Rows, got); diff != "" {
			t.Errorf("the host does otherwise than in the record (-record +seen):\n%s", diff)
		}
	})
}

// fail runs the host once, with a hook that fails at each call in another way, and
// says what became of the calls. The hook is the host's alone, or one that sayso
// init was told is ours.
func fail(t *testing.T, h hosts.Host, wired bool) []string {
	t.Helper()
	g := bare(t, h)
	hook := g.hook(failingHook(h))
	setup := hosts.Setup{Wait: patience}
	if !wired {
		setup.Hooks = map[string]string{h.Before: strings.TrimPrefix(hook, "--hook=")}
	}
	err := h.Write(g.Home, setup)
	if wired {
		g.Must("init", h.Name, "--yes", hook)
		err = errors.Join(err, h.Hurry(g.Home, patience))
	}
	if err != nil {
		t.Fatal(err)
	}
	h.Ready(t, g.Dir, g.Home, g.Env)
	var turns []modelstub.Turn
	for i := range failures {
		turns = append(turns, modelstub.Use(g.touch(fmt.Sprintf("toolu_%02d", i), fmt.Sprintf("ran-%02d", i))))
	}
	stub := modelstub.New(turns...)
	r := h.Run(t, hosts.Options{Stub: stub, Dir: g.Dir, Home: g.Home, Env: g.Env, Timeout: 5 * time.Minute})
	if n := stub.Left(); n != 0 {
		t.Fatalf("%d calls were not asked for: %+v", n, r)
	}
	var became []string
	for i := range failures {
		if g.Exists(fmt.Sprintf("ran-%02d", i)) {
			became = append(became, runs)
			continue
		}
		became = append(became, blocked)
	}
	return became
}

// half is half a denial.
func half(h hosts.Host) string { return h.Deny[:len(h.Deny)/2] }

// failingHook is a script that knows by the call how to fail.
func failingHook(h hosts.Host) string {
	var script strings.Builder
	script.WriteString("call=$(cat)\ncase $call in\n")
	words := strings.NewReplacer("%DENY%", h.Deny, "%WORD%", h.Word, "%HALF%", half(h))
	for i, f := range failures {
		fmt.Fprintf(&script, "*'touch ran-%02d'*) %s;;\n", i, words.Replace(f.does))
	}
	script.WriteString("esac\n") // and nothing to say of what is no call
	return script.String()
}
