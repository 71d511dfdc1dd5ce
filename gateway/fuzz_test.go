package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

// allowGate is a gate that lets everything run, and remembers what.
type allowGate struct {
	sayso.Gate

	mu    sync.Mutex
	calls []sayso.Call
}

func (g *allowGate) Admit(_ context.Context, a sayso.Admission) (sayso.Decision, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := a.Call
	c.Args = bytes.Clone(c.Args)
	g.calls = append(g.calls, c)
	return sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Redeemed: true}, nil
}

func (g *allowGate) Report(context.Context, sayso.Outcome) error { return nil }

func (g *allowGate) End(context.Context, string) error { return nil }

// seenPins trust what comes first, and remember what came.
type seenPins struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (p *seenPins) Pins(context.Context) (sayso.Pins, error) { return sayso.Pins{}, nil }

func (p *seenPins) Meet(_ context.Context, _ sayso.Actor, _ string, seen []sayso.Definition) ([]bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ok := make([]bool, len(seen))
	for i, d := range seen {
		p.seen[d.Tool], ok[i] = true, true
	}
	return ok, nil
}

// carelessMessage is a message as a reader sees it that folds case, lets the last member
// win and reads on behind the end of a line.
type carelessMessage struct {
	Method string
	Params struct {
		Name      string
		Arguments json.RawMessage
	}
	Result struct{ Tools []struct{ Name string } }
}

func readCarelessly(text []byte) (all []carelessMessage) {
	all = readOn(text)
	for line := range bytes.FieldsFuncSeq(text, endsLine) {
		all = append(all, readOn(line)...)
	}
	return all
}

// endsLine reports the characters at which a reader of some language ends a line.
func endsLine(r rune) bool { return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r) }

func readOn(text []byte) (all []carelessMessage) {
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var m carelessMessage
		if err := d.Decode(&m); err == io.EOF {
			return all
		} else if _, soft := err.(*json.UnmarshalTypeError); err != nil && !soft {
			return all
		}
		m.Method, m.Params.Name = strings.TrimRight(m.Method, "\x00"), strings.TrimRight(m.Params.Name, "\x00")
		all = append(all, m)
	}
}

// relayed runs a relay over what one side sends, and returns what the other got.
func relayed(t *testing.T, text []byte, fromClient bool) (got []byte, gate *allowGate, pins *seenPins) {
	t.Helper()
	gate, pins = &allowGate{}, &seenPins{seen: map[string]bool{}}
	var toClient, toServer bytes.Buffer
	r, err := gateway.New(gateway.Options{Gate: gate, Pins: pins, Name: "srv", Session: "s"}, &toClient, &toServer)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := r.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	if fromClient {
		_ = r.FromClient(ctx, bytes.NewReader(text))
	} else {
		_ = r.FromServer(ctx, bytes.NewReader(text))
	}
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if fromClient {
		return toServer.Bytes(), gate, pins
	}
	return toClient.Bytes(), gate, pins
}

var hostile = []string{
	echo("1", "a"), `{"jsonrpc":"2.0","id":1,"result":{"tools":[` + echoTool + `]}}`,
	`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"a"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","NAME":"b","arguments":{"x":1,"x":2}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tool\u017f/call","params":{"name":"a\u0000","arguments":{}}}`,
	`{"id":1,"result":{"content":[]}} {"id":1,"result":{"tools":[{"name":"x"}]}}`,
	"{\"id\":1,\"result\":\n{\"tools\":[{\"name\":\"x\"}]}}", `{"id":1,"re\u0073ult":{"TOOL\u017f":[{"name":"x"}]}}`,
	`{"id":1,"result":null,"error":{},"result":{"tools":[{"name":"x"}]}}`, `[{"id":1,"result":{"tools":[{"name":"x"}]}}]`,
	`{"id":1,"result":{"inputRequests":{"a":{"method":"sampling/createMessage"}},"tools":{}}}`,
	`{"method":"x","params":[` + "\r" + `{"id":1,"method":"tools/call","params":{"name":"a"}}` + "\r" + `]}`,
	`{"method":"x","params":[` + "\r" + `{"id":1,"result":{"tools":[{"name":"x"}]}}` + "\r" + `]}` + "\r\n" + `{"id":1,"method":"ping"}` + "\r\n",
	`{"id":1,"result":[` + "\u2028" + `{"id":1,"method":"sampling/createMessage"}` + "\u2028" + `]}`,
	`{"id":1,"result":["` + "\v" + `{",method,":","sampling/createMessage,"}` + "\v" + `"]}`,
}

// What reaches the server as a call of a tool, for the most careless reader, was
// put to the gate as exactly that; and nothing reaches it that did not come.
func FuzzFromClient(f *testing.F) {
	for _, line := range hostile {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, gate, _ := relayed(t, text, true)
		lines := map[string]bool{}
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			lines[string(bytes.TrimSuffix(line, []byte("\r")))] = true
		}
		if bytes.ContainsRune(got, '\r') {
			t.Fatalf("some reader ends a line within %q", got)
		}
		for line := range bytes.SplitSeq(bytes.TrimSuffix(got, []byte("\n")), []byte("\n")) {
			if len(line) > 0 && !lines[string(line)] {
				t.Fatalf("%q was sent, and never came", line)
			}
		}
		calls := map[string]bool{}
		for _, c := range gate.calls {
			calls[c.Tool+" "+string(c.Args)] = true
		}
		for _, m := range readCarelessly(got) {
			if !strings.EqualFold(m.Method, "tools/call") {
				continue
			}
			args := string(m.Params.Arguments)
			if args == "" {
				args = "{}"
			}
			if !calls[m.Params.Name+" "+args] {
				t.Fatalf("%s %s ran and was not judged; judged were %v", m.Params.Name, args, calls)
			}
		}
	})
}

// What reaches the client as a list of tools, for the most careless reader, was
// compared with what is trusted; and a request for sampling was put to the gate.
func FuzzFromServer(f *testing.F) {
	for _, line := range hostile {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, gate, pins := relayed(t, text, false)
		if bytes.ContainsRune(got, '\r') {
			t.Fatalf("some reader ends a line within %q", got)
		}
		for _, m := range readCarelessly(got) {
			for _, tool := range m.Result.Tools {
				if !pins.seen[tool.Name] {
					t.Fatalf("the tool %q was listed and not compared, in %q", tool.Name, got)
				}
			}
			if strings.EqualFold(m.Method, "sampling/createMessage") && len(gate.calls) == 0 {
				t.Fatalf("sampling was not asked about: %q", got)
			}
		}
	})
}

// What passes in pieces, because it is too long to be looked at whole, holds no
// message that asks for something, wherever a reader ends its lines.
func FuzzLongAnswer(f *testing.F) {
	for _, line := range hostile {
		f.Add([]byte(line), 0)
	}
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		at = max(0, min(at, len(text)))
		if !gateway.LongAnswer(text[:at], text[at:]) {
			return
		}
		for _, m := range readCarelessly(text) {
			if m.Method != "" || m.Result.Tools != nil {
				t.Fatalf("%+v passed within %q", m, text)
			}
		}
	})
}
