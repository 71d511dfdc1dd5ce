package oauth_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/oauth"
)

// clock is one that a test moves.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(time.Now().Unix())
	return c
}

func (c *clock) now() time.Time       { return time.Unix(c.at.Load(), 0) }
func (c *clock) move(d time.Duration) { c.at.Add(int64(d / time.Second)) }

// A token is renewed before it runs out, and each names what it is for.
func TestTransport_renews(t *testing.T) {
	w, c := newWorld(t), newClock()
	l := store(t, c.now)
	w.logIn(l)
	to, err := l.To(w.at() + "/") // as it is written elsewhere
	if err != nil {
		t.Fatal(err)
	}
	c.move(58 * time.Minute)
	if status, _, err := w.send(to, "a"); status != http.StatusOK || err != nil || w.renewals != 0 {
		t.Errorf("early: %d, %v, renewed %d times", status, err, w.renewals)
	}
	c.move(90 * time.Second)
	if status, said, err := w.send(to, "b"); status != http.StatusOK || said != "b" || err != nil || w.renewals != 1 {
		t.Errorf("late: %d, %q, %v, renewed %d times", status, said, err, w.renewals)
	}
	if !slices.Equal(w.names, []string{w.at(), w.at()}) {
		t.Errorf("tokens were asked for %q", w.names)
	}
	if !slices.Equal(to.Secrets(), []string{canaryAccess + "-1", canaryAccess + "-2"}) {
		t.Errorf("the server may say back %q", to.Secrets())
	}
}

// What the server does not take is renewed and made again once, and not for ever.
func TestTransport_again(t *testing.T) {
	w, c := newWorld(t), newClock()
	l := store(t, c.now)
	w.logIn(l)
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	c.move(10 * time.Minute)
	w.change(func() { w.access, w.asked = "ended", nil })
	if status, said, err := w.send(to, "whole"); status != http.StatusOK || said != "whole" || err != nil {
		t.Errorf("again: %d, %q, %v", status, said, err)
	}
	if !slices.Equal(w.asked, []string{"Bearer " + canaryAccess + "-1", "Bearer " + canaryAccess + "-2"}) {
		t.Errorf("the server was asked %q", w.asked)
	}
	w.change(func() { w.access, w.asked = "ended", nil }) // a moment later: another would be of no use
	status, said, err := w.send(to, "whole")
	if status != http.StatusUnauthorized || err != nil || !strings.Contains(said, "does not take the login that is there: a person types: sayso mcp login ") || len(w.asked) != 1 || w.renewals != 1 {
		t.Errorf("for ever: %d, %q, %v, asked %q, renewed %d times", status, said, err, w.asked, w.renewals)
	}
	free(t, said)
}

// What a login's server says to a renewal, and what is told of it.
func TestTransport_notRenewed(t *testing.T) {
	for name, tt := range map[string]struct {
		status     int
		body, want string
		unsent     bool
	}{
		"refused":   {400, `{"error":"invalid_grant","error_description":"canary"}`, "(it was not renewed: it says invalid_grant): a person types: sayso mcp login ", false},
		"unknown":   {401, `{"error":"invalid_client"}`, "it says invalid_client", false},
		"fails":     {500, "canary", "could not be renewed at", true},
		"later":     {429, `{"error":"slow_down"}`, "could not be renewed at", true},
		"elsewhere": {307, "", "could not be renewed at", true},
		"garbage":   {200, "canary", "its answer is no token", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, c := newWorld(t), newClock()
			l := store(t, c.now)
			w.logIn(l)
			to, err := l.To(w.at())
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			w.change(func() {
				w.access, w.asked = "ended", nil
				w.answers["/token"] = func(rw http.ResponseWriter, r *http.Request) {
					asked++
					rw.Header().Set("Content-Type", "application/json")
					rw.Header().Set("Location", "https://evil.example")
					rw.WriteHeader(tt.status)
					_, _ = rw.Write([]byte(tt.body))
				}
			})
			c.move(2 * time.Hour)
			_, said, err := w.send(to, "x")
			if tt.unsent != (err != nil) || tt.unsent != (len(w.asked) == 0) {
				t.Fatalf("sent %q, %v", w.asked, err)
			}
			if err != nil {
				said = err.Error()
			}
			if !strings.Contains(said, tt.want) {
				t.Errorf("told %q; want %q", said, tt.want)
			}
			free(t, said)
			_, _, _ = w.send(to, "y")
			if want := map[bool]int{true: 2, false: 1}[tt.unsent]; asked != want {
				t.Errorf("the login's server was asked %d times; want %d", asked, want)
			}
			list, err := l.List()
			if err != nil || len(list) != 1 || (list[0].Ended == "") != tt.unsent {
				t.Errorf("the login stands as %+v, %v", list, err)
			}
		})
	}
}

// A token goes to the address that it was given for, and nowhere else.
func TestTransport_nowhereElse(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	w.logIn(l)
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	other := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = append(seen, r.Header.Get("Authorization")) })
	w.change(func() { w.served["/other"], w.served["/mcp/more"] = other.ServeHTTP, other.ServeHTTP })
	c := &http.Client{Transport: to.Transport(http.DefaultTransport)}
	for _, at := range []string{w.server.URL + "/other", w.at() + "/more", w.server.URL + "/other?x=/mcp", strings.Replace(w.server.URL, "127.0.0.1", "localhost", 1) + "/other"} {
		resp, err := c.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	w.change(func() { w.served["/mcp"] = http.RedirectHandler("/other", http.StatusTemporaryRedirect).ServeHTTP })
	resp, err := c.Get(w.at())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if !slices.Equal(seen, []string{"", "", "", "", ""}) {
		t.Errorf("others were shown %q", seen)
	}
}

// More scopes are asked for by name, if the name can stand in a command.
func TestLogin_moreScopes(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	w.logIn(l)
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	for challenge, want := range map[string]string{
		`Bearer error="insufficient_scope", scope="issues:write admin"`: "takes the scope issues:write admin: a person types: sayso mcp login " + w.at() + " --scope 'issues:write admin'",
		`Bearer error="insufficient_scope", scope="x'; rm -rf ~; '"`:    "takes more than it has: a person types: sayso mcp login " + w.at(),
		`Bearer error="insufficient_scope"`:                             "takes more than it has",
		`Basic x, Bearer scope=a, error=insufficient_scope`:             "takes the scope a:",
		`Bearer error="insufficient_scope", scope="files:* a@b"`:        " --scope 'files:* a@b'",
		`Bearer error="other"`:                                          "",
		`nothing "that" can be , = read`:                                "",
	} {
		resp := &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Www-Authenticate": {challenge}}}
		got := to.Refused(resp)
		if !strings.Contains(got, want) || (got == "") != (want == "") || strings.Contains(got, "rm -rf") {
			t.Errorf("%s is told as %q", challenge, got)
		}
	}
}

// child is a gateway in a process of its own: it sends messages for as long as its
// standard input has a line for each.
func child(folder, at string) {
	l := oauth.Open(folder, time.Now, nil)
	to, err := l.To(at)
	if err != nil {
		panic(err)
	}
	c := &http.Client{Transport: to.Transport(http.DefaultTransport)}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		resp, err := c.Post(at, "text/plain", strings.NewReader("x"))
		if err != nil {
			fmt.Println(err)
			continue
		}
		_ = resp.Body.Close()
		fmt.Println(resp.StatusCode)
	}
}

func TestMain(m *testing.M) {
	if folder := os.Getenv("OAUTH_CHILD"); folder != "" {
		child(folder, os.Getenv("OAUTH_AT"))
		return
	}
	os.Exit(m.Run())
}

// process is such a gateway, as its parent has it.
type process struct {
	cmd *exec.Cmd
	in  *bufio.Writer
	out *bufio.Scanner
}

func begin(t *testing.T, folder, at string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "OAUTH_CHILD="+folder, "OAUTH_AT="+at)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	p := &process{cmd, bufio.NewWriter(in), bufio.NewScanner(out)}
	if !p.out.Scan() || p.out.Text() != "ready" {
		t.Fatalf("the gateway said %q", p.out.Text())
	}
	return p
}

func (p *process) ask() string {
	_, _ = p.in.WriteString("go\n")
	_ = p.in.Flush()
	if !p.out.Scan() {
		return "gone"
	}
	return p.out.Text()
}

// Eight gateways find at once that a token ran out. It is renewed once: what it is
// renewed with is good once, and a second use would end the login.
func TestTransport_race(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(t.TempDir(), "logins")
	l := oauth.Open(folder, func() time.Time { return time.Now().Add(30*time.Second - time.Hour) }, nil)
	w.logIn(l) // so long ago that the minute before the end has begun
	var all []*process
	for range 8 {
		all = append(all, begin(t, folder, w.at()))
	}
	var wait sync.WaitGroup
	said := make([]string, len(all))
	for i, p := range all {
		wait.Go(func() { said[i] = p.ask() })
	}
	wait.Wait()
	if slices.ContainsFunc(said, func(s string) bool { return s != "200" }) || w.renewals != 1 {
		t.Errorf("the gateways got %q; renewed %d times", said, w.renewals)
	}
}

// A gateway is killed while it renews without end. What is kept is whole each time, and
// the next gateway goes on with it; nothing of the killed one's stays.
func TestTransport_killed(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(t.TempDir(), "logins")
	l := oauth.Open(folder, time.Now, nil)
	w.lasts = 1
	w.logIn(l)
	given := make(chan struct{}, 1024)
	n := 0
	w.change(func() {
		w.answers["/token"] = func(rw http.ResponseWriter, r *http.Request) { // renews with whatever was given before
			n++
			answer(rw, map[string]any{"access_token": fmt.Sprintf("%s-%d", strings.Repeat(canaryAccess, 400), n), "refresh_token": canaryRefresh, "token_type": "bearer", "expires_in": 1})
			given <- struct{}{}
		}
		w.served["/mcp"] = func(http.ResponseWriter, *http.Request) {}
	})
	for round := range 12 {
		p := begin(t, folder, w.at())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for p.ask() != "gone" {
			}
		}()
		for range round%4 + 1 {
			<-given
		}
		_ = p.cmd.Process.Kill()
		<-done
		for len(given) > 0 {
			<-given
		}
		if list, err := l.List(); err != nil || len(list) != 1 || list[0].Ended != "" {
			t.Fatalf("after %d kills the login is %+v, %v", round+1, list, err)
		}
	}
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	if status, _, err := w.send(to, "x"); status != http.StatusOK || err != nil {
		t.Errorf("after the kills: %d, %v", status, err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*", ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// What is kept for one server is not taken for another's, wherever it is put, and what
// others may read is not used.
func TestTransport_store(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(t.TempDir(), "logins")
	l := oauth.Open(folder, time.Now, nil)
	w.logIn(l)
	files, err := filepath.Glob(filepath.Join(folder, "*", "login.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("kept in %q, %v", files, err)
	}
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"open": func() error { return os.Chmod(files[0], 0o644) },
		"other": func() error {
			return os.WriteFile(files[0], []byte(strings.Replace(string(kept), "/mcp", "/mcq", 1)), 0o600)
		},
		"half": func() error { return os.WriteFile(files[0], kept[:len(kept)/2], 0o600) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		_, _, err := w.send(to, "x")
		if err == nil {
			t.Errorf("%s: it is used", name)
		} else {
			free(t, err.Error())
		}
		if err := os.WriteFile(files[0], kept, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(files[0], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, err := w.send(to, "x"); status != http.StatusOK || err != nil {
		t.Errorf("put back: %d, %v", status, err)
	}
}

func TestCommand(t *testing.T) {
	for at, want := range map[string]string{
		"https://mcp.example.com/mcp":                        "sayso mcp login https://mcp.example.com/mcp",
		"https://mcp.example.com/mcp?key=canary":             "sayso mcp login env:VARIABLE, with its address in the variable",
		"https://mcp.example.com/s/canary4Zi00ZDk3LWI5ZTYtZ": "sayso mcp login env:VARIABLE, with its address in the variable",
	} {
		if got := oauth.Command(at); got != want {
			t.Errorf("%s: %q", at, got)
		}
	}
}
