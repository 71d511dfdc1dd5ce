package gateway_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

// endless is a message with a text of n letters in the middle.
type endless struct {
	before, after string
	letters       int
}

func (e endless) reader() io.Reader {
	return io.MultiReader(strings.NewReader(e.before), io.LimitReader(letters{}, int64(e.letters)), strings.NewReader(e.after+"\n"))
}

type letters struct{}

var manyLetters = bytes.Repeat([]byte("a"), 1<<20)

func (letters) Read(p []byte) (int, error) { return copy(p, manyLetters), nil }

// A result of any size passes to the byte, and what became of the call is on the
// record.
func TestRelay_largeResults(t *testing.T) {
	for _, e := range []endless{
		{letters: 100 << 20, before: `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\"{`, after: `"}],"isError":true}}`},
		{letters: 17 << 20, before: `{"result":{"structuredContent":{"tools":[1],"inputRequests":{}},"content":[{"text":"`, after: `\\"}]} , "jsonrpc":"2.0","id": 1 }`},
	} {
		w := open(t, rules{"echo": sayso.Allow})
		w.listTools(echoTool)
		w.client.send(echo("1", "a"))
		w.server.expect(echo("1", "a"))
		go func() { _, _ = io.Copy(w.server.in, e.reader()) }()
		want := e.reader()
		buf, other := make([]byte, 1<<20), make([]byte, 1<<20)
		for {
			n, err := io.ReadFull(want, buf)
			if n == 0 && err != nil {
				break
			}
			if _, err := io.ReadFull(w.client.out, other[:n]); err != nil || !bytes.Equal(buf[:n], other[:n]) {
				t.Fatalf("it came changed: %v", err)
			}
		}
		if got := string(w.waitForEvent(sayso.EventFinished).Payload); strings.Contains(got, `"failed":true`) != strings.Contains(e.after, "isError") {
			t.Errorf("finished: %s", got)
		}
	}
}

// What would have to be judged does not pass because it is long.
func TestRelay_longAndUnjudged(t *testing.T) {
	defer gateway.SetMaxMessage(1 << 16)()
	for name, e := range map[string]endless{
		"a list of tools":             {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `","tools":[]}}`, 0},
		"a list at the beginning":     {`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"`, `"}]}}`, 0},
		"a list, spelled with escape": {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `","\u0074ools":[]}}`, 0},
		"a list, in another case":     {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `","Tools":[]}}`, 0},
		"a second result":             {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `"},"result":{"tools":[]}}`, 0},
		"a request":                   {`{"jsonrpc":"2.0","id":1,"params":{"x":"`, `"},"method":"sampling/createMessage"}`, 0},
		"sampling in a result":        {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `","inputRequests":{}}}`, 0},
		"another message behind it":   {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `"}}{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`, 0},
		"not to its end":              {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, ``, 0},
		"brackets that do not fit":    {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `"]}`, 0},
		"a batch":                     {`[{"jsonrpc":"2.0","id":1,"result":{"x":"`, `"}}]`, 0},
		"noise":                       {``, ``, 0},
		"two lines for some reader":   {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `","y":[` + "\r" + `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}` + "\r" + `]}}`, 0},
		"two lines within a text":     {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, "\r" + `"}}`, 0},
		"two lines for Node":          {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `","y":[` + "\u2028" + `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}` + "\u2028" + `]}}`, 0},
		"words that are not JSON":     {`{"jsonrpc":"2.0","id":1,"result":{"x":"`, "\u2028" + `{",method,":",sampling/createMessage,"}` + "\u2028" + `"}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e.letters = 1 << 18
			var out bytes.Buffer
			r, err := gateway.New(gateway.Options{Gate: noGate{}, Pins: noPins{}, Name: "srv", Session: "s"}, &out, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.FromServer(context.Background(), e.reader()); err == nil {
				t.Error("it passed")
			}
			if strings.HasSuffix(out.String(), "\n") {
				t.Error("what passed of it ends as a message does")
			}
		})
	}
}

// The end of a line as Windows has it is one wherever the pieces of a long answer
// end.
func TestRelay_longWithCarriageReturn(t *testing.T) {
	defer gateway.SetMaxMessage(1 << 16)()
	const begin, end = `{"jsonrpc":"2.0","id":1,"result":{"x":"`, `"}}`
	for i := range 128 {
		n := (128+i/64*64)<<10 - i%64 // around the ends of the first pieces
		e := endless{begin, end + "\r", n}
		var out bytes.Buffer
		r, err := gateway.New(gateway.Options{Gate: noGate{}, Pins: noPins{}, Name: "srv", Session: "s"}, &out, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.FromServer(context.Background(), e.reader()); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); len(got) != len(begin)+n+len(end)+1 || !strings.HasSuffix(got, end+"\n") {
			t.Fatalf("%d letters came as %d bytes", n, len(got))
		}
	}
}

// A server does not answer a call that it never got.
func TestRelay_answersWhatWaits(t *testing.T) {
	for _, id := range []string{`1`, `1.0`, `"1"`, `" 1"`} {
		w := open(t, rules{})
		w.listTools(echoTool)
		w.client.send(echo("1", "a"))
		r := w.requests(1)[0]
		w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]}}`)
		w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-1,"message":"no"}}`)
		w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"tools":[]}}`)
		const log = `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`
		w.server.send(log)
		w.client.expect(log) // and nothing of the above before
		w.answer(r, sayso.Allow)
		w.server.expect(echo("1", "a"))
		const answer = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
		w.server.send(answer)
		w.client.expect(answer)
		w.mu.Lock()
		if len(w.notes) != 3 || !strings.Contains(w.notes[0], "was not forwarded") {
			t.Errorf("noted: %q", w.notes)
		}
		w.mu.Unlock()
	}
}

// Nor does it with an answer that passes in pieces.
func TestRelay_longAnswerToWhatWaits(t *testing.T) {
	defer gateway.SetMaxMessage(1 << 16)()
	w := open(t, rules{})
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	w.requests(1)
	go func() {
		_, _ = io.Copy(w.server.in, endless{`{"jsonrpc":"2.0","id":1,"result":{"x":"`, `"}}`, 1 << 18}.reader())
	}()
	if got, err := w.client.next(); err != io.EOF {
		t.Errorf("%.100q passed, %v", got, err)
	}
}

type noGate struct{ sayso.Gate }

type noPins struct{}

func (noPins) Pins(context.Context) (sayso.Pins, error) { return sayso.Pins{}, nil }

func (noPins) Meet(context.Context, sayso.Actor, string, []sayso.Definition) ([]bool, error) {
	return nil, sayso.ErrUnavailable
}

// Where it cannot be found out what is trusted, no tool is listed or runs.
func TestRelay_withoutPins(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow})
	w.stop()
	w.start(func(o *gateway.Options) { o.Pins = noPins{} })
	if got := w.listTools(echoTool); !strings.Contains(got, `"error"`) || strings.Contains(got, "says it again") {
		t.Error(got)
	}
	w.client.send(echo("1", "a"))
	w.requests(1) // as a tool that was never listed
}

// A server that has the client's model write something is asked about, in both
// ways that the protocol has for it.
func TestGW4_samplingAsks(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":{"messages":[]}}`
	const within = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{}}}}}`
	for _, effect := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		w := open(t, rules{"echo": sayso.Allow})
		w.listTools(echoTool)
		w.server.send(request)
		r := w.requests(1)[0]
		if r.Tool != "sampling/createMessage" || r.Server != "srv" {
			t.Errorf("asked: %+v", r)
		}
		w.answer(r, effect)
		if effect == sayso.Allow {
			w.client.expect(request)
		} else if got := w.server.receive(); !strings.Contains(got, `"id":4,"error":{"code":-1`) {
			t.Error(got)
		}
		w.client.send(echo("1", "a"))
		w.server.expect(echo("1", "a"))
		w.server.send(within)
		w.answer(w.requests(1)[0], effect)
		if effect == sayso.Allow {
			w.client.expect(within)
		} else if text := w.refusalOf(w.client.receive(), "1"); !strings.HasPrefix(text, "Refused: the server wanted") {
			t.Error(text)
		}
	}
	w := open(t, rules{})
	w.server.send(`{"jsonrpc":"2.0","id":4,"method":"Sampling/createMessage","params":{}}`)
	const ask = `{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}}`
	w.server.send(ask)
	w.client.expect(ask) // and not what came before
}

// What a server wants of the client does not pass by way of a notification, where
// the client's model is to write something for it: the client has it from the task,
// once that was judged.
func TestSampling_notification(t *testing.T) {
	const told = `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"theirs","status":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{}}}}}`
	w := open(t, rules{"sampling/createMessage": sayso.Deny})
	for _, line := range []string{
		told,
		strings.Replace(told, "notifications/tasks", "notifications/anything", 1),
		strings.Replace(told, "sampling/", "Sampling/", 1),
		strings.Replace(told, "inputRequests", "InputRequests", 1),
		strings.Replace(told, "inputRequests", `inputRequests":{},"input\u0052equests`, 1),
		strings.Replace(told, `"method":"sampling`, `"method":"ping","method":"sampling`, 1),
		strings.Replace(told, `"k":`, `"j":{"method":"elicitation/create"},"k":`, 1),
	} {
		w.server.send(line)
	}
	passes := strings.Replace(told, "sampling/createMessage", "elicitation/create", 1)
	w.server.send(passes)
	w.client.expect(passes) // and not what came before
	w.requests(0)
}

// Switched off, nothing is left out.
func TestSampling_notificationWhileOff(t *testing.T) {
	w := open(t, rules{}, func(o *gateway.Options) { o.Off = func() bool { return true } })
	const told = `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"inputRequests":{"k":{"method":"sampling/createMessage"}}}}`
	w.server.send(told)
	w.client.expect(told)
}

// A client that is gone leaves its questions parked; when it comes back the same
// call takes them up.
func TestRelay_clientCloses(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	r := w.requests(1)[0]
	w.stop()
	if e := w.waitForEvent(sayso.EventParked); e.RequestID != r.ID {
		t.Errorf("parked: %+v", e)
	}
	w.answer(r, sayso.Allow)
	w.start()
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	w.server.expect(echo("1", "a"))
	w.client.send(echo("2", "a")) // that answer was for one run
	if again := w.requests(1)[0]; again.ID == r.ID {
		t.Error("it counted twice")
	}
}

// A client that sends its calls and closes its end at once has those run that
// need no person.
func TestRelay_clientEndsAtOnce(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow})
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	_ = w.client.in.Close()
	w.server.expect(echo("1", "a"))
	if line, err := w.server.next(); err != io.EOF {
		t.Errorf("got %q, %v", line, err)
	}
}

// While the gate is off, calls pass unasked.
func TestRelay_off(t *testing.T) {
	off := true
	w := open(t, rules{"echo": sayso.Deny}, func(o *gateway.Options) { o.Off = func() bool { return off } })
	w.client.send(echo("1", "a"))
	w.server.expect(echo("1", "a"))
}

// Outcomes are recorded those of a moment together, and at once when the relay ends.
func TestRelay_outcomesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.listTools(echoTool)
		run := func(id string) {
			w.client.send(echo(id, "a"+id))
			w.answer(w.requests(1)[0], sayso.Allow)
			w.server.expect(echo(id, "a"+id))
			w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]}}`)
			w.client.receive()
			synctest.Wait()
		}
		run("1")
		run("2")
		if n := len(w.finishedEvents()); n != 0 {
			t.Errorf("%d outcomes are recorded at once", n)
		}
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if n := len(w.finishedEvents()); n != 2 {
			t.Errorf("%d outcomes are recorded, want 2", n)
		}
		run("3")
		w.stop()
		if n := len(w.finishedEvents()); n != 3 {
			t.Errorf("%d outcomes are recorded when the relay has ended, want 3", n)
		}
	})
}

// finishedEvents are the outcomes in the log.
func (w *harness) finishedEvents() (found []sayso.Event) {
	w.t.Helper()
	events, err := w.log.Since(context.Background(), 0, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.DeleteFunc(events, func(e sayso.Event) bool { return e.Type != sayso.EventFinished })
}
