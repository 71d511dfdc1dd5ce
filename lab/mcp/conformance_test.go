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
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
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
// them, and the parts of the suite about them. Extensions are none: the server has
// no tasks.
var revisions = []struct {
	name, flag string
	parts      []string
}{
	{"2025-11-25", "-stateless=false", []string{"active", "pending"}},
	{"2026-07-28", "-stateless", []string{"active", "pending", "draft"}},
}

// everythingServer builds the conformance server of the Go SDK.
func everythingServer(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "everything-server")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// startServer starts it over HTTP, and returns its address.
func startServer(t *testing.T, program, mode string) string {
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

// withToken passes on what comes, with a token: the suite can send none. What
// names the address where it comes to names that of the gate then.
func withToken(t *testing.T, to, token string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	var here string
	p := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL, r.Out.Host = target, strings.Replace(r.In.Host, here, ":"+target.Port(), 1)
		r.Out.Header.Set("Authorization", "Bearer "+token)
		if origin := r.In.Header.Get("Origin"); origin != "" {
			r.Out.Header.Set("Origin", strings.Replace(origin, here, ":"+target.Port(), 1))
		}
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
		if !errors.Is(err, context.Canceled) { // by the suite, which has seen enough
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	}}
	s := httptest.NewUnstartedServer(p)
	at := s.Listener.Addr().String()
	here = at[strings.LastIndex(at, ":"):]
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
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

// conform runs parts of the suite against an address, and returns the checks by
// scenario.
func conform(t *testing.T, revision string, parts []string, address string) map[string]checks {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	older, err := filepath.Abs(filepath.Join("suite", "older.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	var said []byte
	for _, part := range parts {
		cmd := exec.CommandContext(ctx, "node", "--import", older, conformance.Path(t),
			"server", "--url", address, "--suite", part, "--spec-version", revision, "--timeout", "10000", "-o", dir)
		began := time.Now()
		out, err := cmd.CombinedOutput()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) { // it fails where a check does, and that is looked at below
			t.Fatalf("the conformance suite: %v\n%s", err, out)
		}
		t.Logf("%s %s at %s took %v", revision, part, address, time.Since(began).Round(time.Millisecond))
		said = append(said, out...)
	}
	return readChecks(t, dir, said)
}

var scenarioOf = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

func readChecks(t *testing.T, dir string, said []byte) map[string]checks {
	t.Helper()
	all := map[string]checks{}
	runs, err := os.ReadDir(dir)
	if err != nil || len(runs) < 20 {
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
		if err == nil && r.State == api.StateOpen {
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

// deviations are the checks that may end otherwise through the gate, and why.
var deviations = map[string]string{
	"server-sse-disconnect-resume": polls, "server-sse-priming-event": polls, "server-sse-retry-field": polls, "stream-closed": polls,
	"incoming-response": polls, "incoming-sse-event": polls, "outgoing-request": polls, "server-sse-content-type": polls,
	"sep-2575-http-server-meta-invalid-400": "In front of a program alone: its error for a request without `_meta` is relayed as it is, with status 200 instead of 400.",
}

const polls = "In `server-sse-polling` alone: the server closes a stream amid a call and has the client come back for the rest. The gate comes back itself, and the client's own stream stays open; it begins with an event to come back to, should the connection break."

// tries is how often a way is gone that ends otherwise: some checks of the suite
// wait for a time, and a busy machine lets it pass.
const tries = 3

// likeDirect runs the suite by a way until all checks end as without the gate, but
// for the deviations, or the tries are over.
func likeDirect(t *testing.T, direct map[string]checks, run func() map[string]checks) (got map[string]checks) {
	t.Helper()
	for range tries {
		got = run()
		var wrong []string
		for scenario := range direct {
			for _, id := range got[scenario].unlike(direct[scenario]) {
				if deviations[id] == "" {
					wrong = append(wrong, scenario+" "+id)
				}
			}
		}
		if len(wrong) == 0 {
			return got
		}
		t.Logf("otherwise than without the gate: %q", wrong)
	}
	t.Error("through the gate the suite ends otherwise")
	return got
}

// way is one way to the conformance server.
type way struct {
	name    string
	results map[string]checks
}

// The official conformance suite finds through the gate what it finds without it,
// but for the deviations: in front of a server that speaks HTTP and of one that is a program, where policy
// allows, and where people are asked and say yes.
func TestConformance(t *testing.T) {
	conformance.Path(t)
	program := everythingServer(t)
	var text strings.Builder
	for _, rev := range revisions {
		address := startServer(t, program, rev.flag)
		servers := fmt.Sprintf("version: 1\nservers:\n  http: {url: %q}\n  program: {command: %q}\n", address, program)
		allowed := listening(t, "version: 1\nrules:\n  - allow: {server: [http, program]}\n", servers, 2)
		asked := listening(t, "version: 1\n", servers, 2)
		unlisted, answered := approving(t, allowed), approving(t, asked)
		ways := []way{{"direct", conform(t, rev.name, rev.parts, address)}}
		for _, w := range []struct {
			name, server string
			front        *front
		}{{"HTTP", "http", allowed}, {"program", "program", allowed}, {"HTTP, asked", "http", asked}, {"program, asked", "program", asked}} {
			ways = append(ways, way{w.name, likeDirect(t, ways[0].results, func() map[string]checks {
				return conform(t, rev.name, rev.parts, withToken(t, w.front.at[w.server], w.front.token))
			})})
		}
		few, many := unlisted(), answered()
		if many < few+10 {
			t.Errorf("%s: people were asked %d times, and %d where policy allows: the suite did not go through the gate", rev.name, many, few)
		}
		t.Logf("%s: %d answers of people, %d where policy allows", rev.name, many, few)
		table(&text, rev.name, ways)
	}
	text.WriteString("\n## Why some end otherwise\n\n")
	why := map[string][]string{}
	for _, id := range slices.Sorted(maps.Keys(deviations)) {
		why[deviations[id]] = append(why[deviations[id]], "`"+id+"`")
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		fmt.Fprintf(&text, "- %s: %s\n", strings.Join(why[reason], ", "), reason)
	}
	compare(t, text.String())
}

// table writes the results of one revision.
func table(text *strings.Builder, revision string, ways []way) {
	fmt.Fprintf(text, "\n## %s\n\n| scenario |", revision)
	for _, w := range ways {
		fmt.Fprintf(text, " %s |", w.name)
	}
	fmt.Fprintf(text, "\n|---|%s\n", strings.Repeat("---|", len(ways)))
	for _, scenario := range slices.Sorted(maps.Keys(ways[0].results)) {
		direct := ways[0].results[scenario]
		fmt.Fprintf(text, "| `%s` |", scenario)
		for _, w := range ways {
			fmt.Fprintf(text, " %s", w.results[scenario].passed())
			for n, id := range w.results[scenario].unlike(direct) {
				if n == 0 {
					text.WriteString(", unlike")
				}
				fmt.Fprintf(text, " `%s`", id)
			}
			text.WriteString(" |")
		}
		text.WriteString("\n")
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
		if err := os.WriteFile(resultsFile, []byte(resultsHead+run+resultsKey+tables), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	_, committed, _ := strings.Cut(string(text), resultsKey)
	if committed != tables {
		t.Errorf("the results are others than those in %s; if they are right, run it with -update:\n%s", resultsFile, tables)
	}
}

const resultsKey = `
Each cell says how many checks of a scenario ended well, of how many that said something. Behind *unlike* stand the checks that ended otherwise than
without the gate; why is at the end. The ways: without the gate over HTTP; through it to the same server over HTTP, and to the same server as a program; and both
again with a policy that asks people about every call, of whom one says yes at once.
`
