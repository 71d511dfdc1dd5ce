//go:build unix

package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// loginFile is where the results stand of the scenarios in which a client logs in.
const loginFile = "../../docs/mcp-login.md"

// meant are the scenarios that the gate does not pass, and why that is meant.
var meant = map[string]string{
	"auth/2025-03-26-oauth-endpoint-fallback": "there is no document that says that the server can do PKCE with S256, so nobody is logged in",
}

// besides are the scenarios about logging in that the suite does not run with those of a
// revision.
var besides = map[string][]string{
	"2025-03-26": {"2025-03-26-oauth-endpoint-fallback", "2025-03-26-oauth-metadata-backcompat"},
	"2026-07-28": {
		"resource-mismatch", "offline-access-scope", "offline-access-not-supported", "authorization-server-migration", "iss-supported", "iss-not-advertised",
		"iss-supported-missing", "iss-wrong-issuer", "iss-unexpected", "iss-normalized", "metadata-issuer-mismatch",
	},
}

// The client scenarios of the official conformance suite that are about logging in:
// each starts a server that wants a login, and the server of the login. The client is
// that of the official library behind sayso mcp --url; the person types what they are
// told to, and says yes in a browser.
func TestLogin(t *testing.T) {
	program, err := sayso()
	if err != nil {
		t.Fatal(err)
	}
	suite := conformance.Path(t)
	var page strings.Builder
	for _, rev := range []string{"2025-03-26", "2025-11-25", "2026-07-28"} {
		results := map[string]checks{}
		if rev != "2025-03-26" {
			results = logsIn(t, suite, program, rev, "--suite", "auth")
		}
		for _, scenario := range besides[rev] {
			maps.Copy(results, logsIn(t, suite, program, rev, "--scenario", "auth/"+scenario, "--force"))
		}
		fmt.Fprintf(&page, "\n## %s\n\n| scenario | checks |\n|---|---|\n", rev)
		for _, scenario := range slices.Sorted(maps.Keys(results)) {
			c := results[scenario]
			note := meant[scenario]
			if bad := c.bad(); len(bad) > 0 && note == "" {
				t.Errorf("%s %s: %q", rev, scenario, bad)
			}
			if note != "" {
				note = ": " + note
			}
			fmt.Fprintf(&page, "| `%s` | %s%s |\n", scenario, c.distinct(), note)
		}
	}
	compareLogin(t, page.String())
}

// distinct is how many kinds of checks ended well, of how many: how often the client came
// differs from one run to the next.
func (c checks) distinct() string {
	good, all := 0, 0
	for _, ends := range c {
		if !slices.Contains(ends, "SUCCESS") && !slices.Contains(ends, "FAILURE") && !slices.Contains(ends, "WARNING") {
			continue
		}
		if all++; !slices.Contains(ends, "FAILURE") && !slices.Contains(ends, "WARNING") {
			good++
		}
	}
	return fmt.Sprintf("%d/%d", good, all)
}

// bad are the checks that did not end well.
func (c checks) bad() (all []string) {
	for id, ends := range c {
		if slices.Contains(ends, "FAILURE") || slices.Contains(ends, "WARNING") {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

var loginScenario = regexp.MustCompile(`^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// logsIn runs scenarios of one revision.
func logsIn(t *testing.T, suite, program, revision string, which ...string) map[string]checks {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	older, err := filepath.Abs(filepath.Join("suite", "older.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "node", append([]string{"--import", older, suite, "client", "--command", os.Args[0], "--spec-version", revision, "--timeout", "120000", "-o", dir}, which...)...)
	cmd.Env = append(os.Environ(), "LAB_LOGIN="+program, "SAYSO_NOTICE=off")
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) { // it fails where a check does, and that is looked at
		t.Fatalf("the conformance suite: %v\n%s", err, out)
	}
	all := map[string]checks{}
	files, err := filepath.Glob(filepath.Join(dir, "auth", "*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the conformance suite left %d results, %v:\n%s", len(files), err, out)
	}
	for _, file := range files {
		m := loginScenario.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		var list []struct{ ID, Status, ErrorMessage, Description string }
		if err := json.Unmarshal([]byte(text(t, file)), &list); err != nil || m == nil {
			t.Fatalf("%s: %v", file, err)
		}
		c := checks{}
		for _, one := range list {
			c[one.ID] = append(c[one.ID], one.Status)
			if one.Status == "FAILURE" || one.Status == "WARNING" {
				t.Logf("%s %s %s: %.300s %.300s\n%s", revision, m[1], one.ID, one.Description, one.ErrorMessage, text(t, filepath.Join(filepath.Dir(file), "stderr.txt")))
			}
		}
		all["auth/"+m[1]] = c
	}
	return all
}

const loginHead = `# Logging in, by the conformance suite

Written by ` + "`go test -run TestLogin -update .` in `lab/mcp`" + `, from what the suite left behind; not to be edited. The same test runs in CI and
compares.

`

const loginKey = `
Each scenario of the suite that is about a client which logs in starts an MCP server and the server of its login, and watches what comes. The client is that of the official
Go library behind ` + "`sayso mcp --url`" + `, and knows nothing of logins: it is told by the gate that nobody is logged in, and what a person types. That is typed, a browser without a
screen follows the page, and the client tries again: up to three times, also where the server wants more scopes. Each cell says how many kinds of checks ended well, of how many
that said something. In ` + "`auth/basic-cimd`" + ` and ` + "`auth/pre-registration`" + ` the person gives the client's name (` + "`--client-id`" + `), in all others sayso registers itself.
What the suite calls extensions (client credentials, DPoP, enterprise-managed authorization, workload identity) is not there and was not run.
`

// compareLogin compares results with those that are committed, or writes them.
func compareLogin(t *testing.T, tables string) {
	t.Helper()
	if *update {
		run := fmt.Sprintf("Run on %s with `@modelcontextprotocol/conformance` %s.\n", time.Now().UTC().Format(time.DateOnly), suiteVersion)
		if err := os.WriteFile(loginFile, []byte(loginHead+run+loginKey+tables), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, committed, _ := strings.Cut(text(t, loginFile), loginKey); committed != tables {
		t.Errorf("the results are others than those in %s; if they are right, run it with -update:\n%s", loginFile, tables)
	}
}

// typed is what a person is told to type.
var typed = regexp.MustCompile(`a person types: sayso (mcp login \S+(?: --scope '[^']*')?)`)

// asClient is the client that the suite starts, with the address of a server.
func asClient(program, address string) error {
	home, err := os.MkdirTemp("", "login-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	if err := os.WriteFile(filepath.Join(home, "policy.yaml"), []byte(allowAll), 0o600); err != nil {
		return err
	}
	env := append(os.Environ(), "SAYSO_HOME="+home, "LAB_LOGIN=")
	ctx, cancel := context.WithTimeout(context.Background(), 110*time.Second)
	defer cancel()
	for try := 0; ; try++ {
		var said bytes.Buffer
		err := usesAll(ctx, program, address, env, &said)
		if err == nil {
			return nil
		}
		m := typed.FindStringSubmatch(err.Error() + "\n" + said.String())
		if m == nil || try == 3 {
			return err
		}
		fmt.Fprintln(os.Stderr, "typing: sayso", m[1])
		if err := types(ctx, program, m[1], env); err != nil {
			return err
		}
	}
}

// usesAll lists the tools of the server behind the gate, and calls each. What the gate
// says to people goes to said.
func usesAll(ctx context.Context, program, address string, env []string, said io.Writer) error {
	cmd := exec.Command(program, "mcp", "--name", "srv", "--url", address)
	cmd.Env, cmd.Stderr = env, io.MultiWriter(os.Stderr, said)
	c := mcp.NewClient(&mcp.Implementation{Name: "lab", Version: "1"}, nil)
	session, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, tool := range list.Tools {
		if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: map[string]any{}}); err != nil {
			return err
		}
	}
	return nil
}

// types types a command that logs in, and does what a browser would.
func types(ctx context.Context, program, command string, env []string) error {
	var known struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &known) // most scenarios have none
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "auth/basic-cimd" {
		known.ID = "https://conformance-test.local/client-metadata.json"
	}
	if known.ID != "" {
		command += " --client-id '" + known.ID + "'"
	}
	if known.Secret != "" {
		command += " --client-secret env:LAB_SECRET"
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "exec "+filepath.Base(program)+" "+command+" --no-browser")
	cmd.Env = append(env, "LAB_SECRET="+known.Secret, "PATH="+filepath.Dir(program))
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	cmd.Stdout = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	var all bytes.Buffer
	followed := make(chan error, 1)
	for lines := bufio.NewScanner(said); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		fmt.Fprintln(os.Stderr, lines.Text())
		if strings.HasPrefix(lines.Text(), "http") {
			page := lines.Text()
			go func() { followed <- browses(ctx, page) }()
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, all.Bytes())
	}
	return <-followed // whoever is logged in was there
}

// browses follows a page to where it leads, as a browser does.
func browses(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the browser sees the status %d: %s", resp.StatusCode, text)
	}
	return err
}
