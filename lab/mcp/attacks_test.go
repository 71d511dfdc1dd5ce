//go:build unix

package mcp

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// The hostile server has one tool, and answers these besides.
const (
	hostileTools = `[{"name":"echo","inputSchema":{"type":"object"}}]`
	stormMethod  = "lab/storm"      // by as many notices that its list changed, and an answer
	largeMethod  = "resources/read" // by 100 MB
	stormSize    = 100_000

	changedNotice = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	largeSize     = 100 << 20
)

func largeResult(id json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"contents":[{"uri":"lab:large","text":"%s"}]}}`, id, bytes.Repeat([]byte("large "), largeSize/6))
}

// overHTTPMutating serves over HTTP what a program says on its output, and counts
// the calls of tools.
func overHTTPMutating(t *testing.T, file string) (address string, ran *atomic.Int64) {
	t.Helper()
	ran = &atomic.Int64{}
	m, err := newMutating(file, counter{ran})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var c call
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case err != nil || json.Unmarshal(body, &c) != nil: // as careless as the standard library
			w.WriteHeader(http.StatusBadRequest)
		case c.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case c.Method == stormMethod:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(bytes.Repeat([]byte("data: "+changedNotice+"\n\n"), stormSize))
			_, _ = fmt.Fprintf(w, "data: %s\n\n", m.answer(c))
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(m.answer(c)) // a gate that is gone needs none
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, ran
}

// counter counts what is written.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) { c.n.Add(1); return len(p), nil }

// posts is a session over HTTP, spoken to message by message.
type posts struct {
	t       *testing.T
	at      string
	token   string
	session string
	n       int
}

// post sends a message as it is, and returns the answer, out of its stream if it is
// in one.
func (p *posts) post(line string) (text []byte, status int) {
	p.t.Helper()
	resp, err := http.DefaultClient.Do(p.request(line))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err = io.ReadAll(resp.Body); err != nil {
		p.t.Fatal(err)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		p.session = id
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		var data []byte
		for line := range bytes.Lines(text) {
			if after, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(bytes.TrimSpace(after)) > 0 {
				data = bytes.TrimSpace(after)
			}
		}
		text = data
	}
	return text, resp.StatusCode
}

// request is the request with a message.
func (p *posts) request(line string) *http.Request {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.at, strings.NewReader(line))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if p.session != "" {
		req.Header.Set("Mcp-Session-Id", p.session)
		req.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	return req
}

func (p *posts) ask(method, params string) call {
	p.t.Helper()
	p.n++
	text, status := p.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.n, method, params))
	var c call
	if err := json.Unmarshal(text, &c); err != nil {
		p.t.Fatalf("%s: status %d, %.200s: %v", method, status, text, err)
	}
	return c
}

// reach connects to a server behind a gateway that listens.
func reach(t *testing.T, address string) *posts {
	t.Helper()
	return reachAs(t, fmt.Sprintf("{url: %q}", address))
}

// reachAs connects to a server that stands in the file of such a gateway like this.
func reachAs(t *testing.T, server string) *posts {
	t.Helper()
	f := listening(t, allowAll, "version: 1\nservers:\n  srv: "+server+"\n", 1)
	p := &posts{t: t, at: f.at["srv"], token: f.token}
	p.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lab","version":"1"}}`)
	p.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

// weathers has the server's list change a hundred thousand times amid a request: each
// notice comes once and in its order, and what comes behind them is in nobody's way.
func (p *posts) weathers() {
	p.t.Helper()
	resp, err := http.DefaultClient.Do(p.request(`{"jsonrpc":"2.0","id":"storm","method":"` + stormMethod + `"}`))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	notices, answered := 0, false
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		line := lines.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			if _, n, _ := strings.Cut(id, "-"); n != strconv.Itoa(notices) && n != strconv.Itoa(notices+1) {
				p.t.Fatalf("behind %d notices comes the event %s", notices, id)
			}
		}
		switch {
		case line == "data: "+changedNotice:
			notices++
		case strings.Contains(line, `"id":"storm"`):
			answered = true
		}
	}
	if notices != stormSize || !answered {
		p.t.Errorf("over HTTP %d notices came of %d, and the answer: %v", notices, stormSize, answered)
	}
	p.ask("tools/list", `{}`)
	if r := p.ask("tools/call", `{"name":"echo","arguments":{}}`).Result; r.IsError {
		p.t.Errorf("a call behind the storm: %+v", r)
	}
}

// attacks are calls that two readers could read differently, with what some reader
// takes for a call that is allowed.
var attacks = map[string]string{
	"name twice":                  `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","name":"rm","arguments":{}}}`,
	"arguments twice":             `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},"arguments":{"a":2}}}`,
	"argument twice":              `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"a":1,"a":2}}}`,
	"deep in arguments":           `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"x":[{"a":1,"a":2}]}}}`,
	"name in another case":        `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","Name":"rm","arguments":{}}}`,
	"params in another case":      `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo"},"PARAMS":{"name":"rm"}}`,
	"method twice":                `{"jsonrpc":"2.0","id":9,"method":"ping","method":"tools/call","params":{"name":"echo"}}`,
	"method in another case":      `{"jsonrpc":"2.0","id":9,"method":"ping","Method":"tools/call","params":{"name":"echo"}}`,
	"method nearly alike":         `{"jsonrpc":"2.0","id":9,"method":"Tools/Call","params":{"name":"echo"}}`,
	"method with a zero byte":     `{"jsonrpc":"2.0","id":9,"method":"tools/call\u0000","params":{"name":"echo"}}`,
	"name with a zero byte":       `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","name\u0000":"rm","arguments":{}}}`,
	"an escaped name":             `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","n\u0061me":"rm","arguments":{}}}`,
	"something behind it":         `{"jsonrpc":"2.0","id":9,"method":"ping"}{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"echo"}}`,
	"a batch":                     `[{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo"}}]`,
	"text that is not UTF-8":      `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"a":"` + "\xff" + `"}}}`,
	"half of a character":         `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"a":"\ud800"}}}`,
	"a carriage return":           `{"jsonrpc":"2.0","id":9,"method":"ping","params":[` + "\r" + `{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"echo"}}` + "\r" + `]}`,
	"id twice":                    `{"jsonrpc":"2.0","id":9,"id":10,"method":"tools/call","params":{"name":"echo","arguments":{}}}`,
	"a call that wants no answer": `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{}}}`,
}

// What two readers could read differently reaches no server, whatever policy
// allows, over standard input and over HTTP; and what is unambiguous does.
func TestAttacks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(file, []byte(hostileTools), 0o600); err != nil {
		t.Fatal(err)
	}
	const good = `{"name":"echo","arguments":{"a":[1,{"b":null}]}}`
	t.Run("stdio", func(t *testing.T) {
		cmd := gated(t, allowAll, []string{os.Args[0]})
		cmd.Env = append(cmd.Env, "LAB_MUTANT="+file)
		w := start(t, cmd)
		w.ask("tools/list", `{}`)
		for what, line := range attacks {
			w.send(line)
			answer, err := w.out.ReadBytes('\n')
			var c call
			if err != nil || json.Unmarshal(answer, &c) != nil || c.Error == nil {
				t.Errorf("%s: %s, %v", what, answer, err)
			}
		}
		if r := w.ask("tools/call", good).Result; r.IsError || len(r.Content) != 1 {
			t.Errorf("a call that is unambiguous: %+v", r)
		}
		if ran, err := os.ReadFile(file + ".ran"); err != nil || string(ran) != "echo\n" {
			t.Errorf("the server ran %q, %v", ran, err)
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		address, ran := overHTTPMutating(t, file)
		p := reach(t, address)
		p.ask("tools/list", `{}`)
		for what, line := range attacks {
			answer, status := p.post(line)
			var c call
			if json.Unmarshal(answer, &c) != nil || c.Error == nil {
				t.Errorf("%s: status %d, %s", what, status, answer)
			}
		}
		if r := p.ask("tools/call", good).Result; r.IsError || len(r.Content) != 1 {
			t.Errorf("a call that is unambiguous: %+v", r)
		}
		if n := ran.Load(); n != 1 {
			t.Errorf("the server ran %d calls", n)
		}
	})
}

// A server whose list changes a hundred thousand times is in nobody's way, and a
// result of 100 MB passes as it came, over standard input and over HTTP.
func TestStormAndLarge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(file, []byte(hostileTools), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := gated(t, allowAll, []string{os.Args[0]})
	cmd.Env = append(cmd.Env, "LAB_MUTANT="+file)
	w := start(t, cmd)
	w.ask("tools/list", `{}`)
	w.send(`{"jsonrpc":"2.0","id":"storm","method":"` + stormMethod + `"}`)
	notices := 0
	for {
		line, err := w.out.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(line, []byte("list_changed")) {
			break
		}
		notices++
	}
	if notices != stormSize {
		t.Errorf("%d notices came of %d", notices, stormSize)
	}
	if r := w.ask("tools/call", `{"name":"echo","arguments":{}}`).Result; r.IsError {
		t.Errorf("a call behind the storm: %+v", r)
	}
	want := sha256.Sum256(largeResult([]byte(`77`)))
	w.send(`{"jsonrpc":"2.0","id":77,"method":"` + largeMethod + `","params":{}}`)
	line, err := w.out.ReadBytes('\n')
	if err != nil || sha256.Sum256(bytes.TrimSuffix(line, []byte("\n"))) != want {
		t.Errorf("of the large result %d bytes came, %v", len(line), err)
	}
	address, _ := overHTTPMutating(t, file)
	p := reach(t, address)
	p.weathers()
	reachAs(t, fmt.Sprintf("{command: %q, env: {LAB_MUTANT: %q}}", os.Args[0], file)).weathers()
	if text, status := p.post(`{"jsonrpc":"2.0","id":77,"method":"` + largeMethod + `","params":{}}`); sha256.Sum256(text) != want {
		t.Errorf("over HTTP %d bytes came of the large result, status %d: %.100s", len(text), status, text)
	}
}
