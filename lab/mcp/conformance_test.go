//go:build unix

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
)

var update = flag.Bool("update", false, "write the results of the conformance suite anew")

// resultsFile is where the results stand.
const resultsFile = "../../docs/mcp-conformance.md"

// revisions are those of the protocol, with how the server is started over HTTP for
// them.
var revisions = []struct{ name, flag string }{{"2025-11-25", "-stateless=false"}, {"2026-07-28", "-stateless"}}

// everythingServer builds the conformance server of the Go SDK, with two changes. It
// keeps what it sent, as its own library can, so that a client that it has come back
// finds the rest; without that it has clients come back for nothing. And a variable
// has it end none of its streams, as where it is a program and has none.
func everythingServer(t *testing.T) string {
	t.Helper()
	source := text(t, filepath.Join(run(t, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk"), "conformance", "everything-server", "main.go"))
	for from, to := range map[string]string{
		"StreamableHTTPOptions{Stateless: *stateless}": "StreamableHTTPOptions{Stateless: *stateless, EventStore: mcp.NewMemoryEventStore(nil)}",
		"req.Extra.CloseSSEStream != nil {":            "req.Extra.CloseSSEStream != nil && os.Getenv(\"LAB_KEEPS\") == \"\" {",
	} {
		if strings.Count(source, from) != 1 {
			t.Fatalf("the conformance server has another source: %q is in it %d times", from, strings.Count(source, from))
		}
		source = strings.Replace(source, from, to, 1)
	}
	main, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": source, "go.mod": strings.Replace(text(t, "go.mod"), "../..", main, 1), "go.sum": text(t, "go.sum")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "everything-server")
	run(t, "go", "-C", dir, "build", "-o", program, ".")
	return program
}

// text is what is in a file.
func text(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run runs a command, and returns what it says.
func run(t *testing.T, command ...string) string {
	t.Helper()
	out, err := exec.Command(command[0], command[1:]...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("%s: %v: %s", strings.Join(command, " "), err, failed.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// startServer starts it over HTTP, and returns its address.
func startServer(t *testing.T, program, mode string, env ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-http", address, mode)
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(20 * time.Second); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return "http://" + address + "/mcp"
		}
		if time.Now().After(end) {
			t.Fatalf("the conformance server does not listen: %v", err)
		}
	}
}

// checks are the checks of one scenario and how they ended.
type checks map[string][]string

// passed is how many checks ended well, of how many.
func (c checks) passed() string {
	good, all := 0, 0
	for _, ends := range c {
		for _, end := range ends {
			switch end {
			case "SUCCESS":
				good++
				all++
			case "FAILURE", "WARNING":
				all++
			}
		}
	}
	return fmt.Sprintf("%d/%d", good, all)
}

// unlike are the checks that ended otherwise.
func (c checks) unlike(other checks) (all []string) {
	for id := range c {
		if !slices.Equal(c[id], other[id]) {
			all = append(all, id)
		}
	}
	for id := range other {
		if c[id] == nil {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

// conform runs the suite against an address, all of it or one scenario, and returns
// the checks by scenario.
func conform(t *testing.T, revision, address string, scenario ...string) map[string]checks {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	older, err := filepath.Abs(filepath.Join("suite", "older.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	which := []string{"--suite", "all"} // of what a revision has; extensions are none
	if len(scenario) > 0 {
		which = []string{"--scenario", scenario[0], "--force"} // also one of an extension
	}
	cmd := exec.CommandContext(ctx, "node", append([]string{"--import", older, conformance.Path(t),
		"server", "--url", address, "--spec-version", revision, "--timeout", "30000", "-o", dir}, which...)...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) { // it fails where a check does, and that is looked at below
		t.Fatalf("the conformance suite: %v\n%s", err, out)
	}
	t.Logf("%s %v at %s took %v", revision, which[1], address, time.Since(began).Round(time.Millisecond))
	all := readChecks(t, dir, out)
	if len(scenario) == 0 && len(all) < 20 {
		t.Fatalf("the conformance suite left %d results:\n%s", len(all), out)
	}
	return all
}

var scenarioOf = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

func readChecks(t *testing.T, dir string, said []byte) map[string]checks {
	t.Helper()
	all := map[string]checks{}
	runs, err := os.ReadDir(dir)
	if err != nil || len(runs) == 0 {
		t.Fatalf("the conformance suite left %d results, %v:\n%s", len(runs), err, said)
	}
	for _, run := range runs {
		m := scenarioOf.FindStringSubmatch(run.Name())
		if m == nil {
			t.Fatalf("%s is no result of a scenario", run.Name())
		}
		text, err := os.ReadFile(filepath.Join(dir, run.Name(), "checks.json"))
		if err != nil {
			t.Fatal(err)
		}
		var list []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		c := checks{}
		for _, one := range list {
			c[one.ID] = append(c[one.ID], one.Status)
			if one.Status == "FAILURE" {
				t.Logf("%s %s: %.200s", m[1], one.ID, one.ErrorMessage)
			}
		}
		for id := range c {
			slices.Sort(c[id])
		}
		all[m[1]] = c
	}
	return all
}

// approving answers everything that is asked at a gate, until the test ends, and
// returns how many that were.
func approving(t *testing.T, f *front) (answered func() int) {
	t.Helper()
	program, err := sayso()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "SAYSO_HOME="+f.home, "SAYSO_NOTICE=off")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, at := bufio.NewScanner(said), ""
	for at == "" && lines.Scan() {
		if m := listensAt.FindStringSubmatch(lines.Text()); m != nil {
			at = m[1]
		}
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for lines.Scan() { // what it says must go somewhere
		}
	}()
	c, err := client.New("http://"+at, f.run("token", "create", "--name", "approver", "--kind", "admin"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		n = approveAll(ctx, t, c.Inbox())
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		_ = c.Close()
		_ = cmd.Process.Signal(os.Interrupt)
		<-over
		_ = cmd.Wait()
	})
	return func() int { cancel(); <-done; return n }
}

// approveAll allows what is asked until ctx ends, and returns how much that was.
func approveAll(ctx context.Context, t *testing.T, in api.Inbox) (n int) {
	for e, err := range in.Follow(ctx, 0, api.EventQuery{Types: []api.EventType{api.EventRequested}}) {
		var r api.Request
		if err == nil {
			r, err = in.Request(ctx, string(e.RequestID))
		}
		if err == nil && r.State.Open() {
			_, err = in.Answer(ctx, r.ID, api.Answer{Digest: r.Digest, Content: r.Content, Effect: api.Allow})
			n++
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, api.ErrWithdrawn) { // the suite goes away at times
			t.Errorf("answering as the person: %v", err)
		}
	}
	return n
}

var listensAt = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)

// polling is the scenario in which a server ends its stream amid a call and has its
// client come back. A program has no stream to end, so that the gate in front of one
// is compared with the same server over HTTP that ends none.
const polling, kept = "server-sse-polling", "server-sse-polling, of a server that ends no stream"

// tries is how often a way is gone that ends otherwise: some checks of the suite
// wait for a time, and a busy machine lets it pass.
const tries = 3

// way is one way to the conformance server.
type way struct {
	name, server string
	asked        bool // people are, about every call
	results      map[string]checks
}

// has reports whether a scenario is looked at on this way.
func (w *way) has(scenario string) bool {
	return w.server == "" || scenario != polling && scenario != kept || (scenario == kept) == (w.server == "program")
}

// goes runs the suite by a way until all checks end as without the gate, or the tries
// are over.
func (w *way) goes(t *testing.T, direct *way, revision, address string) {
	t.Helper()
	for range tries {
		w.results = conform(t, revision, address)
		if c := w.results[polling]; c != nil && w.server == "program" {
			delete(w.results, polling)
			w.results[kept] = c
		}
		var wrong []string
		for scenario := range direct.results {
			if w.has(scenario) {
				for _, id := range w.results[scenario].unlike(direct.results[scenario]) {
					wrong = append(wrong, scenario+" "+id)
				}
			}
		}
		if len(wrong) == 0 {
			return
		}
		slices.Sort(wrong)
		t.Logf("otherwise than without the gate: %q", wrong)
	}
	t.Error("through the gate the suite ends otherwise")
}

// The official conformance suite finds through the gate what it finds without it: in
// front of a server that speaks HTTP and of one that is a program, where policy
// allows, and where people are asked and say yes.
func TestConformance(t *testing.T) {
	conformance.Path(t)
	program := everythingServer(t)
	var page strings.Builder
	for _, rev := range revisions {
		address := startServer(t, program, rev.flag)
		servers := fmt.Sprintf("version: 1\nservers:\n  http: {url: %q}\n  program: {command: %q}\n", address, program)
		allowed := listening(t, "version: 1\nrules:\n  - allow: {server: [http, program]}\n", servers, 2)
		asked := listening(t, "version: 1\n", servers, 2)
		unlisted, answered := approving(t, allowed), approving(t, asked)
		direct := &way{name: "direct", results: conform(t, rev.name, address)}
		if direct.results[polling] != nil {
			direct.results[kept] = conform(t, rev.name, startServer(t, program, rev.flag, "LAB_KEEPS=1"), polling)[polling]
		}
		ways := []*way{direct, {name: "HTTP", server: "http"}, {name: "program", server: "program"}, {name: "HTTP, asked", server: "http", asked: true}, {name: "program, asked", server: "program", asked: true}}
		t.Run(rev.name, func(t *testing.T) {
			for _, w := range ways[1:] {
				t.Run(w.name, func(t *testing.T) {
					t.Parallel() // most of the time they wait
					f := allowed
					if w.asked {
						f = asked
					}
					w.goes(t, direct, rev.name, withToken(t, f.at[w.server], f.token))
				})
			}
		})
		few, many := unlisted(), answered()
		if many < few+10 {
			t.Errorf("%s: people were asked %d times, and %d where policy allows: the suite did not go through the gate", rev.name, many, few)
		}
		t.Logf("%s: %d answers of people, %d where policy allows", rev.name, many, few)
		table(&page, rev.name, ways)
	}
	compare(t, page.String())
}

// table writes the results of one revision.
func table(page *strings.Builder, revision string, ways []*way) {
	fmt.Fprintf(page, "\n## %s\n\n| scenario |", revision)
	for _, w := range ways {
		fmt.Fprintf(page, " %s |", w.name)
	}
	fmt.Fprintf(page, "\n|---|%s\n", strings.Repeat("---|", len(ways)))
	for _, scenario := range slices.Sorted(maps.Keys(ways[0].results)) {
		name, more, _ := strings.Cut(scenario, ",")
		if more != "" {
			more = "," + more
		}
		fmt.Fprintf(page, "| `%s`%s |", name, more)
		for _, w := range ways {
			cell := "–"
			if w.has(scenario) {
				cell = w.results[scenario].passed()
			}
			fmt.Fprintf(page, " %s |", cell)
		}
		page.WriteString("\n")
	}
}

const resultsHead = `# The conformance suite, without and through the gate

Written by ` + "`go test -run TestConformance -update .` in `lab/mcp`" + `, from what the suite left behind; not to be edited. The same test runs in CI and
compares.

`

// compare compares results with those that are committed, or writes them.
func compare(t *testing.T, tables string) {
	t.Helper()
	node, err := exec.Command("node", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		run := fmt.Sprintf("Run on %s with `@modelcontextprotocol/conformance` %s (node %s), and the `everything-server` of the Go SDK v1.8.0.\n",
			time.Now().UTC().Format(time.DateOnly), suiteVersion, strings.TrimSpace(string(node)))
		writeResults(t, resultsHead+run+resultsKey+tables+committedTasks(t))
		return
	}
	_, committed, _ := strings.Cut(committedResults(t), resultsKey)
	if committed, _, _ = strings.Cut(committed, tasksKey); committed != tables {
		t.Errorf("the results are others than those in %s; if they are right, run it with -update:\n%s", resultsFile, tables)
	}
}

const resultsKey = `
Each cell says how many checks of a scenario ended well, of how many that said something. Through the gate each check ends as it does without; the test fails
where one does not, also where it would end better. The ways: without the gate over HTTP; through it to the same server over HTTP, and to the same server as a program; and both
again with a policy that asks people about every call, of whom one says yes at once.

The server is changed in two places as it is built. It keeps what it sent, an option of its library, since a server that does not, and has its clients come back all
the same, leaves them without an answer: through the gate such a call is answered with an error that says so, which is not what the suite sees directly. And it can be told to
end no stream. In ` + "`server-sse-polling`" + ` a server ends its stream amid a call and has the client come back for the rest; the gate in front of it does the same. A program
has no stream that it could end, so that the gate in front of one ends none either, and is compared with the server over HTTP as it ends none: the second row of that name.
`
