//go:build unix

package canary_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/lab/machine"
)

// world is a machine with a server, and everything that can be looked at.
type world struct {
	t      *testing.T
	n      *nest
	m      *machine.Machine
	s      *machine.Server
	http   *http.Client
	person string // a token
	in     *client.Client
	tool   *client.Client // of a program that asks in its own words
	told   string         // where desktop notices are written
	far    *elsewhere     // who is told by webhook and by chat
}

func newWorld(t *testing.T, n *nest) *world {
	t.Helper()
	w := &world{t: t, n: n, m: machine.New(t), http: &http.Client{}}
	w.desktop()
	w.elsewhere()
	w.m.Env = append(w.m.Env, "SAYSO_NOTICE=on", "SAYSO_PATIENCE=1ms")
	w.s = w.m.Serve("127.0.0.1:0", "--log-level", "debug")
	token := func(kind, name string) string {
		return strings.TrimSpace(w.m.Must("token", "create", "--kind", kind, "--name", name))
	}
	w.person = token("admin", home.Person())
	w.in, w.tool = w.client(w.person), w.client(token("tool", "deployer"))
	return w
}

// desktop puts a notify-send into the PATH that writes down what it is told.
func (w *world) desktop() {
	w.t.Helper()
	dir := w.t.TempDir()
	w.told = filepath.Join(dir, "told")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >> " + w.told + "\n"
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte(script), 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.m.Env = append(w.m.Env, "PATH="+dir+":"+w.m.Bin+":"+os.Getenv("PATH"))
}

func (w *world) client(token string) *client.Client {
	w.t.Helper()
	c, err := client.New(w.m.Paths().Socket(), token, &client.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() }) // there is nothing to lose
	return c
}

// raw sends a request to the server and looks at all that comes back.
func (w *world) raw(method, path, body, token string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.s.Addr+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	all := fmt.Sprint(resp.Header) + "\n" + string(text)
	w.n.clean(w.t, method+" "+path, all)
	return string(text)
}

// get is raw for what can be looked at.
func (w *world) get(path string) string { w.t.Helper(); return w.raw("GET", path, "", w.person) }

// sayso runs a command and looks at all that it prints.
func (w *world) sayso(args ...string) machine.Result {
	w.t.Helper()
	r := w.m.Sayso(args...)
	w.n.clean(w.t, "sayso "+strings.Join(args[:min(2, len(args))], " "), r.Both())
	return r
}

// hook runs the hook and looks at all that it says. Edited arguments are the
// agent's to have.
func (w *world) hook(input string, env ...string) machine.Result {
	w.t.Helper()
	r := w.m.Hook(input, env...)
	out := r.Stdout
	var reply machine.Reply
	if jcs.Unmarshal([]byte(out), &reply) == nil && len(reply.Specific.Updated) > 0 {
		out = reply.Specific.Effect + reply.Specific.Reason
	}
	w.n.clean(w.t, "the hook", out+r.Stderr)
	return r
}

// open returns the requests of a session that wait.
func (w *world) open(session string) []sayso.Request {
	w.t.Helper()
	list, err := w.in.Requests(w.t.Context(), sayso.RowQuery{
		Sessions: []string{session}, States: []sayso.State{sayso.StateOpen, sayso.StateParked},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// clean looks at an error.
func (w *world) clean(what string, err error) {
	w.t.Helper()
	if err != nil {
		w.n.clean(w.t, what, err.Error()+"\n"+sayso.Told(sayso.Decision{}, err))
	}
}

// stream reads the events of the whole log from the server, as bytes.
func (w *world) stream(last sayso.Seq) string {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+w.s.Addr+"/v1/events?since=0", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.person)
	resp, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var all bytes.Buffer
	end := []byte(fmt.Sprintf("id: %d\n", last))
	for buf := make([]byte, 64<<10); ; {
		n, err := resp.Body.Read(buf)
		all.Write(buf[:n])
		if at := bytes.Index(all.Bytes(), end); at >= 0 && bytes.Contains(all.Bytes()[at:], []byte("\n\n")) {
			return all.String()
		}
		if err != nil {
			w.t.Fatalf("the stream ends before event %d: %v", last, err)
		}
	}
}

// frames reads the whole log over a WebSocket.
func (w *world) frames(last sayso.Seq) string {
	w.t.Helper()
	c, err := client.Dial(w.t.Context(), w.m.Paths().Socket(), w.person, &client.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	var all bytes.Buffer
	for e, err := range c.Follow(w.t.Context(), 0, sayso.EventQuery{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		text, err := jcs.Marshal(e)
		if err != nil {
			w.t.Fatal(err)
		}
		all.Write(append(text, '\n'))
		if e.Seq >= last {
			break
		}
	}
	return all.String()
}

// notices are what the desktop was told.
func (w *world) notices() string {
	w.t.Helper()
	text, err := os.ReadFile(w.told)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(text)
}
