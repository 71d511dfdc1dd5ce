package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/sse"
)

// bodyOf is a body for a method that has one.
func bodyOf(method, body string) string {
	if method == "GET" || method == "DELETE" {
		return ""
	}
	return body
}

// What is not for the handler is refused before anybody is asked or anything is
// forwarded, and learns nothing.
func TestHandlerRefuses(t *testing.T) {
	up := newTestServer(t)
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.listTools()
	session := s.initialize()
	in := []string{"Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25"}
	port := s.url[strings.LastIndex(s.url, ":"):]
	call := echo("1", "hi")
	for name, tt := range map[string]struct {
		method, path, body string
		header             []string
		status             int
	}{
		"foreign host":           {header: []string{"Host", "evil.example" + port}, status: 403},
		"host without port":      {header: []string{"Host", "127.0.0.1"}, status: 403},
		"host with a dot":        {header: []string{"Host", "localhost." + port}, status: 403},
		"another port":           {header: []string{"Host", "127.0.0.1:1"}, status: 403},
		"a page":                 {header: []string{"Origin", "http://evil.example"}, status: 403},
		"a page without name":    {header: []string{"Origin", "null"}, status: 403},
		"a page of this host":    {header: []string{"Origin", s.url, "Sec-Fetch-Site", "same-origin"}, status: 403},
		"a page of this machine": {header: []string{"Origin", "http://127.0.0.1:1"}, status: 403},
		"an origin twice":        {header: []string{"Origin", s.url, "+Origin", s.url}, status: 403},
		"what a browser made":    {header: []string{"Sec-Fetch-Site", "cross-site"}, status: 403},
		"no token":               {header: []string{"Authorization", ""}, status: 401},
		"a wrong token":          {header: []string{"Authorization", "Bearer sayso_agent_eve"}, status: 401},
		"another scheme":         {header: []string{"Authorization", "Basic " + adaToken}, status: 401},
		"two tokens":             {header: []string{"+Authorization", "Bearer " + adaToken}, status: 401},
		"an empty own token":     {header: []string{"+Sayso-Token", ""}, status: 401},
		"another path":           {path: "/other/mcp", status: 404},
		"no path":                {path: "/srv", status: 404},
		"more of a path":         {path: "/srv/mcp/x", status: 404},
		"text":                   {header: []string{"Content-Type", "text/plain"}, status: 415},
		"a form":                 {header: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415},
		"no type":                {header: []string{"Content-Type", ""}, status: 415},
		"packed":                 {header: []string{"Content-Encoding", "gzip"}, status: 415},
		"nothing accepted":       {header: []string{"Accept", "text/html"}, status: 406},
		"another method":         {method: "PUT", status: 405},
		"a preflight":            {method: "OPTIONS", status: 405},
		"nothing":                {body: " ", status: 400},
		"a batch":                {body: "[" + call + "]", status: 400},
		"two messages":           {body: call + "\n" + call, status: 400},
		"a member twice":         {body: strings.Replace(call, `"name":"echo"`, `"name":"echo","name":"other"`, 1), status: 400},
		"another case":           {body: strings.Replace(call, `"method"`, `"Method"`, 1), status: 400},
		"a zero byte":            {body: strings.Replace(call, `"params"`, `"params\u0000"`, 1), status: 400},
		"no UTF-8":               {body: strings.Replace(call, "hi", "h\xff", 1), status: 400},
		"a raw line end":         {body: strings.Replace(call, "hi", "h\ni", 1), status: 400},
		"another session":        {header: []string{"Mcp-Session-Id", "S" + session}, status: 404},
		"two sessions":           {header: []string{"+Mcp-Session-Id", session}, status: 400},
		"no session":             {header: []string{"Mcp-Session-Id", ""}, status: 400},
		"somebody else's":        {header: []string{"Authorization", "Bearer " + bobToken}, status: 404},
		"to listen there":        {method: "GET", header: []string{"Authorization", "Bearer " + bobToken}, status: 404},
		"to end that":            {method: "DELETE", header: []string{"Authorization", "Bearer " + bobToken}, status: 404},
		"an event of nobody":     {method: "GET", header: []string{"Last-Event-Id", "r99-1"}, status: 400},
		"no event":               {method: "GET", header: []string{"Last-Event-Id", "l"}, status: 400},
		"a wrong method":         {header: []string{"Mcp-Method", "tools/list"}, status: 400},
		"a wrong name":           {header: []string{"Mcp-Name", "other"}, status: 400},
		"an unknown version":     {header: []string{"Mcp-Protocol-Version", "2031-01-01"}, status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.method == "" {
				tt.method = "POST"
			}
			if tt.path == "" {
				tt.path = "/srv/mcp"
			}
			if tt.body == "" {
				tt.body = call
			}
			r := s.do(s.newRequest(tt.method, tt.path, bodyOf(tt.method, tt.body), append(in[:len(in):len(in)], tt.header...)...))
			if r.StatusCode != tt.status || !strings.Contains(r.text, `"error"`) {
				t.Errorf("%s, not %d: %s", r.Status, tt.status, r.text)
			}
			for name := range r.Header {
				if strings.HasPrefix(name, "Access-Control") || name == "Mcp-Session-Id" {
					t.Errorf("it is told %s", name)
				}
			}
		})
	}
	if calls := up.received("tools/call"); len(calls) > 0 {
		t.Errorf("the server heard of %v", calls)
	}
	for _, more := range [][]string{nil, {"Origin", s.url}} { // which works, when it is as it should be
		if r := s.post(call, append(in[:len(in):len(in)], more...)...); !strings.Contains(r.last(), `"result":{}`) {
			t.Errorf("%q: %s %s", more, r.Status, r.last())
		}
	}
}

// Where each request is stateless, the headers say what the message says, or it is
// refused with the code that the protocol has for that.
func TestHandlerHeaders(t *testing.T) {
	up := newTestServer(t)
	up.handle("tools/list", eventStream("data: "+`{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"},"n":{"type":"object","properties":{"m":{"type":"integer","x-mcp-header":"Depth"}}}}}}]}}`+"\n\n"))
	up.handle("tools/call", eventStream("data: "+echoResult+"\n\n"))
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.listTools()
	body, header := statelessMessage("1", "tools/call", "echo", `"name":"echo","arguments":{"text":"é","n":{"m":42}}`)
	header = append(header, "Mcp-Param-Text", "=?base64?w6k=?=", "Mcp-Param-Depth", "42.0")
	for name, tt := range map[string]struct {
		header []string
		code   string
	}{
		"as it should be":       {nil, ""},
		"encoded name":          {[]string{"Mcp-Name", "=?base64?ZWNobw==?="}, ""},
		"no method":             {[]string{"Mcp-Method", ""}, "-32020"},
		"another method":        {[]string{"Mcp-Method", "tools/list"}, "-32020"},
		"method in other case":  {[]string{"Mcp-Method", "Tools/call"}, "-32020"},
		"two methods":           {[]string{"+Mcp-Method", "tools/call"}, "-32020"},
		"no name":               {[]string{"Mcp-Name", ""}, "-32020"},
		"another name":          {[]string{"Mcp-Name", "other"}, "-32020"},
		"a badly encoded name":  {[]string{"Mcp-Name", "=?base64?ZWNobw?="}, "-32020"},
		"no version":            {[]string{"Mcp-Protocol-Version", ""}, "-32020"},
		"another version":       {[]string{"Mcp-Protocol-Version", "2025-11-25"}, "-32020"},
		"a version of nobody's": {[]string{"Mcp-Protocol-Version", "2099-01-01"}, "-32022"},
		"another argument":      {[]string{"Mcp-Param-Text", "e"}, "-32020"},
		"no argument":           {[]string{"Mcp-Param-Text", ""}, "-32020"},
		"another number":        {[]string{"Mcp-Param-Depth", "43"}, "-32020"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(up.received("tools/call"))
			r := s.post(body, append(header[:len(header):len(header)], tt.header...)...)
			if tt.code == "" {
				if r.StatusCode != 200 || !strings.Contains(r.last(), `"ran"`) {
					t.Errorf("%s %s", r.Status, r.last())
				}
				got := up.received("tools/call")
				if h := got[len(got)-1].header; h.Get("Mcp-Name") != "echo" || h.Get("Mcp-Param-Text") != "=?base64?w6k=?=" || h.Get("Mcp-Param-Depth") != "42" || h.Get("Mcp-Session-Id") != "" {
					t.Errorf("the server got %v", h)
				}
				return
			}
			if r.StatusCode != 400 || !strings.Contains(r.text, `"code":`+tt.code) || !strings.Contains(r.text, `"id":1`) {
				t.Errorf("%s %s", r.Status, r.text)
			}
			if len(up.received("tools/call")) != before {
				t.Error("the server heard of it")
			}
		})
	}
}

// A client that lost its connection while people were asked comes back, and has the
// answer once. What was approved runs once.
func TestHandlerResumes(t *testing.T) {
	up := newTestServer(t)
	up.handle("tools/call", eventStream("data: "+echoResult+"\n\n"))
	s := openHandler(t, nil, gateway.Upstream{Options: gateway.Options{Name: "srv", Patience: time.Minute, Impatience: time.Minute}, URL: up.URL})
	in := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25", "Accept", "text/event-stream"}
	ctx, hangUp := context.WithCancel(context.Background())
	resp, err := client.Do(s.newRequest("POST", "/srv/mcp", echo("1", "hi"), in...).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(resp.Body)
	var at string
	for waits := false; !waits && lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			at = id
		}
		waits = lines.Text() == ": waiting"
	}
	r := s.requests(1)[0]
	hangUp()
	_ = resp.Body.Close()
	s.answer(r, sayso.Allow)
	s.waitForEvent(sayso.EventFinished)
	for range 2 { // the same again, should that connection have broken, too
		back := s.do(s.newRequest("GET", "/srv/mcp", "", append(in[:len(in):len(in)], "Last-Event-Id", at)...))
		if !strings.Contains(back.last(), `"id":1,"result":{"content":[{"type":"text","text":"ran"}]}`) {
			t.Fatalf("%s %s", back.Status, back.last())
		}
	}
	if calls := up.received("tools/call"); len(calls) != 1 || calls[0].body != echo("1", "hi") || calls[0].header.Get("Mcp-Session-Id") != "there" {
		t.Errorf("the server heard %v", calls)
	}
}

// Where each request is stateless, closing its stream takes it back: an answer that
// comes later runs nothing.
func TestHandlerCloses(t *testing.T) {
	up := newTestServer(t)
	s := openHandler(t, nil, gateway.Upstream{Options: gateway.Options{Name: "srv", Impatience: time.Minute}, URL: up.URL})
	body, header := statelessEcho("1", "hi")
	header = append(header, "Accept", "text/event-stream")
	ctx, hangUp := context.WithCancel(context.Background())
	resp, err := client.Do(s.newRequest("POST", "/srv/mcp", body, header...).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	s.requests(1)
	hangUp()
	_ = resp.Body.Close()
	s.waitForEvent(sayso.EventWithdrawn)
	if calls := up.received("tools/call"); len(calls) > 0 {
		t.Errorf("the server heard %v", calls)
	}
}

// Closing the stream of a request that is on its way closes it at the server, too.
func TestHandlerEndsUpstreamSession(t *testing.T) {
	up := newTestServer(t)
	begun, closed := make(chan struct{}), make(chan struct{})
	up.handle("tools/call", func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		close(closed)
	})
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.listTools()
	body, header := statelessEcho("1", "hi")
	ctx, hangUp := context.WithCancel(context.Background())
	go func() { <-begun; hangUp() }()
	if resp, err := client.Do(s.newRequest("POST", "/srv/mcp", body, header...).WithContext(ctx)); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	<-closed
}

// Requests that stand alone may have the same id and the same progress token, and
// each has its own answer, spelled as it was.
func TestHandlerSameIDs(t *testing.T) {
	up := newTestServer(t)
	var both sync.WaitGroup
	both.Add(2)
	up.handle("tools/call", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		both.Done()
		both.Wait() // they are on their way at once
		token := between(string(body), `"progressToken":`, "}")
		text := between(string(body), `"text":"`, `"`)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1,\"progressToken\":%s,\"message\":%q}}\n\n", token, text)
		fmt.Fprintf(w, "data: {\"result\":{\"content\":[{\"type\":\"text\",\"text\":%q}]},\"jsonrpc\":\"2.0\",\"id\":%s}\n\n", text, idOf(string(body)))
	})
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.listTools()
	var done sync.WaitGroup
	for _, text := range []string{"one", "two"} {
		done.Go(func() {
			body := `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":"x"},"name":"echo","arguments":{"text":"` + text + `"}}}`
			r := s.post(body, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo")
			if len(r.events) != 2 ||
				string(r.events[0].Data) != `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":"x","message":"`+text+`"}}` ||
				string(r.events[1].Data) != `{"result":{"content":[{"type":"text","text":"`+text+`"}]},"jsonrpc":"2.0","id":"x"}` {
				t.Errorf("%s: %s %s %v", text, r.Status, r.text, r.events)
			}
		})
	}
	done.Wait()
}

// A long result passes whole, wherever its id stands, in both generations; one that
// breaks off is taken for whole by nobody.
func TestHandlerLongAnswer(t *testing.T) {
	defer gateway.SetMaxMessage(128 << 10)()
	up := newTestServer(t)
	long := strings.Repeat("all work and no play ", 100_000)
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.listTools()
	session := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	for name, shape := range map[string]string{
		"id first": `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"LONG"}]}}`,
		"id last":  `{"result":{"content":[{"type":"text","text":"LONG"}]},"jsonrpc":"2.0","id":ID}`,
		"id amid":  `{"result":{"content":[{"type":"text","text":"LONG"}]},"id": ID ,"jsonrpc":"2.0"}`,
	} {
		shape = strings.Replace(shape, "LONG", long, 1)
		for way, do := range map[string]http.HandlerFunc{
			"stream": eventStream("data: " + shape + "\n\n"),
			"alone": func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, strings.Replace(shape, "ID", idOf(string(body)), 1))
			},
			"broken": eventStream("data: " + shape[:len(shape)-2]),
		} {
			for _, era := range []string{"2025", "2026"} {
				t.Run(name+" "+way+" "+era, func(t *testing.T) {
					up.handle("tools/call", do)
					body, header := echo("77", "hi"), session
					if era == "2026" {
						body, header = statelessEcho("77", "hi")
					}
					resp, err := client.Do(s.newRequest("POST", "/srv/mcp", body, header...))
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					text, err := io.ReadAll(resp.Body)
					if way == "broken" {
						if err == nil && bytes.HasSuffix(text, []byte("\n\n")) && bytes.Contains(text, []byte("no play")) {
							t.Errorf("it ends as if it were whole: %q", text[max(0, len(text)-80):])
						}
						return
					}
					want := strings.Replace(shape, "ID", "77", 1)
					if err != nil || sha256.Sum256(bytes.TrimSpace(text[bytes.IndexByte(text, '{'):])) != sha256.Sum256([]byte(want)) {
						t.Errorf("%v; %d bytes, not %d: %.200q … %q", err, len(text), len(want), text, text[max(0, len(text)-80):])
					}
				})
			}
		}
	}
}

// What a server hides in a stream is no message for the client.
func TestHandlerSmuggled(t *testing.T) {
	up := newTestServer(t)
	const forged = `{"jsonrpc":"2.0","id":99,"result":{"forged":true}}`
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.listTools()
	in := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	for name, stream := range map[string]string{
		"a second line of data":    "data: " + echoResult + "\ndata: " + forged + "\n\n",
		"behind a carriage return": "data: " + echoResult + "\rdata: " + forged + "\r\r",
		"an event in a comment":    ": x\ndata: " + forged + "\n\n",
		"another's answer":         "data: " + forged + "\n\n",
		"a list in an answer":      `data: {"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"forged"}],"tools":[]}}` + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			up.handle("tools/call", eventStream(stream))
			r := s.post(echo("7", "hi"), in...)
			all := r.text
			for _, e := range r.events {
				all += string(e.Data) + "\n"
			}
			if strings.Contains(all, "forged") || strings.Count(all, `"id":7`) != 1 {
				t.Errorf("%s\n%s", r.Status, all)
			}
		})
	}
}

// A program behind the handler: one for each session, which ends with it.
func TestHandlerProgram(t *testing.T) {
	t.Setenv("GATEWAY_TEST", "")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	up := gateway.Upstream{
		Options: gateway.Options{Name: "srv", Impatience: time.Minute}, Args: []string{program, "echoes"}, Env: append(os.Environ(), "GATEWAY_TEST=server"), Stderr: io.Discard,
	}
	s := openHandler(t, rules{"echo": sayso.Allow}, up)
	s.listTools()
	one := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	two := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	first, second := s.post(echo("1", "a"), one...), s.post(echo("1", "b"), two...)
	if first.last() == second.last() || !strings.Contains(first.last(), "process") {
		t.Errorf("not two programs: %s, %s", first.last(), second.last())
	}
	body, header := statelessEcho("5", "c")
	alone, again := s.post(body, header...), s.post(body, header...)
	if alone.last() != again.last() || !strings.Contains(alone.last(), `"id":5`) {
		t.Errorf("%s, %s", alone.last(), again.last())
	}
	if r := s.do(s.newRequest("DELETE", "/srv/mcp", "", one...)); r.StatusCode != 204 {
		t.Errorf("%s %s", r.Status, r.text)
	}
	if r := s.post(echo("2", "a"), one...); r.StatusCode != 404 {
		t.Errorf("%s %s", r.Status, r.text)
	}
	// The program ends: what waits for it is told, and the session is over.
	if r := s.post(`{"jsonrpc":"2.0","id":3,"method":"end"}`, two...); !strings.Contains(r.last(), `"id":3`) || !strings.Contains(r.last(), "The server ended") {
		t.Errorf("%s %s", r.Status, r.last())
	}
	if r := s.post(echo("2", "a"), two...); r.StatusCode != 404 {
		t.Errorf("%s %s", r.Status, r.text)
	}
}

// A client that sends slowly, or does not read, holds nothing up: its connection
// ends, and what was on its way for it is passed over.
func TestHandlerSlowClient(t *testing.T) {
	defer gateway.SetMaxMessage(128 << 10)()
	defer gateway.SetIOTimeout(100 * time.Millisecond)()
	up := newTestServer(t)
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.listTools()
	dial := func(body string, length int) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		fmt.Fprintf(c, "POST /srv/mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"+
			"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: %d\r\n\r\n%s", strings.TrimPrefix(s.url, "http://"), adaToken, length, body)
		return c
	}
	body, _ := statelessEcho("1", "hi")
	slow := dial(body[:len(body)-1], len(body))
	if text, err := io.ReadAll(slow); err != nil || !strings.Contains(string(text), "the message did not come whole") {
		t.Errorf("%v %s", err, text)
	}
	refused, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Close()
	fmt.Fprint(refused, "POST /srv/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n1")
	if text, err := io.ReadAll(refused); err != nil || !strings.Contains(string(text), "403") {
		t.Errorf("%v %s", err, text)
	}
	if len(up.received("tools/call")) > 0 {
		t.Error("the server heard half a message")
	}
	// More than what lies in the buffers of a connection.
	up.handle("tools/call", eventStream("data: "+strings.Replace(echoResult, "ran", strings.Repeat("long ", 8<<20), 1)+"\n\n"))
	dial(body, len(body))
	s.waitForEvent(sayso.EventFinished)
}

// What is read of an event stream as lines is what a reader of such streams has,
// however it is cut.
func FuzzEventLines(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n", "id: 1\rdata: a\rdata: b\r\r", "\ufeffdata:a\r\n\r\ndata\n\n", ": x\ndata:  a\nretry: 5\n\nid\ndata: b", "data: a\n\ndata: cut", "id: 7\n\ndata:\ndata: x\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		if !utf8.ValidString(stream) || strings.Contains(stream, "event") || len(stream) > 4096 {
			return // bytes that are no text, and names behind data, are read otherwise
		}
		var want []string
		in := sse.NewReader(strings.NewReader(stream), 0)
		for {
			e, err := in.Next()
			if err != nil {
				break
			}
			if text := strings.Join(strings.Fields(strings.ReplaceAll(string(e.Data), "\n", " ")), " "); text != "" {
				want = append(want, text)
			}
		}
		for _, r := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream)), iotest.HalfReader(strings.NewReader(stream))} {
			lines, last := gateway.EventLines(r)
			var got []string
			whole, _, _ := cutLast(lines, "\n") // what was cut off is no event
			for line := range strings.SplitSeq(whole, "\n") {
				if text := strings.Join(strings.Fields(line), " "); text != "" {
					got = append(got, text)
				}
			}
			if !slices.Equal(got, want) || last != in.LastID() {
				t.Fatalf("got %q, last %q; want %q, last %q", got, last, want, in.LastID())
			}
		}
	})
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(sep):], true
}
