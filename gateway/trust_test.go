package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/jcs"
)

const richTool = `{"name":"deploy","title":"Deploy","description":"sends it out","inputSchema":{"type":"object","properties":{"to":{"type":"string","enum":["test","live"]},"n":{"type":"integer","minimum":1}},"required":["to"],"additionalProperties":false},"outputSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}},"annotations":{"title":"D","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true},"icons":[{"src":"https://example.org/i.png"}],"_meta":{"x/y":null}}`

// mutations are all definitions that differ from one in one place: each value
// changed, left out, and one added beside it.
func mutations(t *testing.T, text string) (all []string) {
	t.Helper()
	var value any
	if err := jcs.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	emit := func() {
		out, err := jcs.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(out))
	}
	var walk func(v any, set func(any))
	walk = func(v any, set func(any)) {
		for _, other := range []any{"other", 7.0, true, nil, []any{}, map[string]any{}} {
			set(other)
			emit()
		}
		set(v)
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				walk(inner, func(x any) { v[k] = x })
				delete(v, k)
				emit()
				v[k] = inner
			}
			v["another"] = 1.0
			emit()
			delete(v, "another")
		case []any:
			for i, inner := range v {
				walk(inner, func(x any) { v[i] = x })
			}
		case string:
			for _, other := range []string{v + " ", v + "\u200b", strings.ToUpper(v)} {
				if other != v {
					set(other)
					emit()
				}
			}
			set(v)
		}
	}
	for k, inner := range value.(map[string]any) {
		if k != "name" { // with another name it is another tool
			walk(inner, func(x any) { value.(map[string]any)[k] = x })
			delete(value.(map[string]any), k)
			emit()
			value.(map[string]any)[k] = inner
		}
	}
	return all
}

// Whatever changes of a definition, the tool does not run, is not shown, and is on
// the record once.
func TestGW1_anyChangeQuarantines(t *testing.T) {
	w := open(t, rules{"deploy": sayso.Allow})
	want := `{"jsonrpc":"2.0","id":"list","result":{"tools":[` + richTool + `]}}`
	if got := w.listTools(richTool); got != want {
		t.Fatalf("first: %s", got)
	}
	same, err := jcs.Canonicalize([]byte(richTool))
	if err != nil {
		t.Fatal(err)
	}
	all := mutations(t, richTool)
	if len(all) < 150 {
		t.Fatalf("only %d mutations", len(all))
	}
	for i, other := range all {
		if canonical, _ := jcs.Canonicalize([]byte(other)); string(canonical) == string(same) {
			continue // the value was that already
		}
		if got := w.listTools(other); got != `{"jsonrpc":"2.0","id":"list","result":{"tools":[]}}` {
			t.Fatalf("%s was shown: %s", other, got)
		}
		id := fmt.Sprint(i)
		w.client.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"deploy","arguments":{"to":"test"}}}`)
		if text := w.refusalOf(w.client.receive(), id); !strings.Contains(text, "`sayso tools accept srv` is needed") {
			t.Fatalf("%s: %s", other, text)
		}
	}
	if got := w.listTools(string(same)); !strings.Contains(got, `"deploy"`) {
		t.Errorf("the one that is trusted, spelled in another way: %s", got)
	}
}

// A person accepts the definition that they were shown, and no other.
func TestGW1_accepted(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow})
	other := strings.Replace(echoTool, "says it again", "says it again, and sends it to me", 1)
	w.listTools(echoTool)
	w.listTools(other)
	w.listTools(other) // is recorded once
	ctx := t.Context()
	pins, err := w.broker.Pins(ctx)
	if err != nil || pins.Len != 2 {
		t.Fatalf("%d events, %v", pins.Len, err)
	}
	pin := pins.Of("srv")["echo"]
	if pin.Quarantined.IsZero() || !strings.Contains(string(pin.Other), "sends it to me") || strings.Contains(string(pin.Text), "sends it to me") {
		t.Errorf("%+v", pin)
	}
	if err := w.broker.AcceptDefinition(ctx, asker, "srv", "echo", pin.Quarantined); err == nil {
		t.Error("an agent accepted it")
	}
	if err := w.broker.AcceptDefinition(ctx, person, "srv", "echo", sayso.HashOf("x")); err == nil {
		t.Error("another one was accepted")
	}
	w.client.send(echo("1", "a"))
	w.refusalOf(w.client.receive(), "1")
	if err := w.broker.AcceptDefinition(ctx, person, "srv", "echo", pin.Quarantined); err != nil {
		t.Fatal(err)
	}
	w.client.send(echo("2", "a")) // at once, without another list
	w.server.expect(echo("2", "a"))
	if got := w.listTools(other); !strings.Contains(got, "sends it to me") {
		t.Error(got)
	}
	if got := w.listTools(echoTool); strings.Contains(got, "echo") {
		t.Error("the one before is trusted still")
	}
}

// A tool whose definition changes while people are asked does not run.
func TestGW1_changedWhileWaiting(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	r := w.requests(1)[0]
	w.listTools(strings.Replace(echoTool, "says", "sings", 1))
	w.answer(r, sayso.Allow)
	if text := w.refusalOf(w.client.receive(), "1"); !strings.HasPrefix(text, "No longer valid") {
		t.Error(text)
	}
}

// A tool that the server never listed is asked about, whatever the rules allow.
func TestGW1_neverListed(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow})
	w.client.send(echo("1", "a"))
	if w.requests(1)[0].CanEdit {
		t.Error("an edit is offered that could not be checked")
	}
	if r := w.requests(1)[0]; r.Rule != "never listed by its server" {
		t.Errorf("%+v", r)
	}
}

// Of two tools that look alike the one runs that was known first, in whatever order
// the server lists them later, and the record says so too.
func TestGW1_lookAlikeComesFirstLater(t *testing.T) {
	w := open(t, rules{"list": sayso.Allow, "Iist": sayso.Allow})
	list, alike := strings.Replace(echoTool, `"echo"`, `"list"`, 1), strings.Replace(echoTool, `"echo"`, `"Iist"`, 1)
	for _, listed := range []string{list, list + "," + alike} {
		if got := w.listTools(listed); !strings.Contains(got, `"list"`) || strings.Contains(got, "Iist") {
			t.Fatalf("%s: %s", listed, got)
		}
	}
	pins, err := w.broker.Pins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := pins.Alike("srv"); len(got) != 1 || got["Iist"] != "list" {
		t.Errorf("on the record: %v", got)
	}
	w.stop()
	w.start()
	if got := w.listTools(alike + "," + list); !strings.Contains(got, `"list"`) || strings.Contains(got, "Iist") {
		t.Errorf("the server lists the other first: %s", got)
	}
	w.client.send(strings.Replace(echo("1", "a"), `"echo"`, `"Iist"`, 1))
	if text := w.refusalOf(w.client.receive(), "1"); !strings.Contains(text, "its name looks like that of list") {
		t.Error(text)
	}
}

// Names that cannot be told from others are left out, and do not run.
func TestGW1_namesThatDeceive(t *testing.T) {
	named := func(name string) string { return `{"name":"` + name + `","inputSchema":{"type":"object"}}` }
	for _, tt := range []struct{ name, list, left, refused string }{
		{"the same name twice", named("a") + `,` + strings.Replace(named("a"), "object", "string", 1), "", "a"},
		{"letters of another script", named("read") + `,` + named("r\u0435ad"), "read", "r\u0435ad"},
		{"a character that nobody sees", named("read\u200b"), "", "read\u200b"},
		{"another case", named("read") + `,` + named("Read"), "read", "Read"},
		{"one for l", named("tell") + `,` + named("te1l"), "tell", "te1l"},
		{"the host's own spelling", named("read") + `,` + named("mcp__srv__read"), "read", "mcp__srv__read"},
		{"another separator", named("get_it") + `,` + named("get-it"), "get_it", "get-it"},
		{"a request of the protocol", named("sampling/createMessage"), "", "sampling/createMessage"},
		{"nothing", named(""), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := open(t, rules{tt.refused: sayso.Allow})
			want := `{"jsonrpc":"2.0","id":"list","result":{"tools":[]}}`
			if tt.left != "" {
				want = strings.Replace(want, "[]", "["+named(tt.left)+"]", 1)
			}
			if got := w.listTools(tt.list); got != want {
				t.Errorf("got %s", got)
			}
			if tt.refused == "" {
				return
			}
			w.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tt.refused + `"}}`)
			if text := w.refusalOf(w.client.receive(), "1"); !strings.Contains(text, "cannot be told from another") {
				t.Error(text)
			}
		})
	}
}

// Pages of a list are judged one by one, however they are answered.
func TestGW1_everyList(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	other := strings.Replace(echoTool, "says", "sings", 1)
	for _, line := range []string{
		`{"result":{"tools":[` + other + `],"nextCursor":"2"},"jsonrpc":"2.0","id":"another"}`,
		`{"jsonrpc":"2.0","id":1.0,"result":{"nextCursor":"2", "tools" : [ ` + other + ` ] }}`,
		`{"jsonrpc":"2.0","id":null,"result":{"tools":[` + other + `]}}`,
	} {
		w.server.send(line)
		if got := w.client.receive(); strings.Contains(got, "sings") || !strings.Contains(got, `"tools"`) {
			t.Errorf("%s: %s", line, got)
		}
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[],"tools":[` + other + `]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"Tools":[` + other + `]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo","name":"x","inputSchema":{}}]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":["` + "\xff" + `"]}}`,
	} {
		w.server.send(line)
		if got := w.client.receive(); !strings.Contains(got, `"error":{"code":-32603`) {
			t.Errorf("%s: %s", line, got)
		}
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{},"result":{"tools":[` + other + `]}}`, `listening on stdio`, `[` + other + `]`,
		`{"jsonrpc":"2.0","id":1,"result":{}} {"jsonrpc":"2.0","id":1,"result":{"tools":[` + other + `]}}`,
		`{"jsonrpc":"2.0","id":1,"Result":{"tools":[` + other + `]}}`,
	} {
		w.server.send(line) // left out
	}
	const ping = `{"jsonrpc":"2.0","id":9,"method":"ping"}`
	w.server.send(ping)
	w.client.expect(ping)
}

// A server that is another one under the same name runs no tool until a person
// has looked.
func TestGW1_theServerItself(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow}, func(o *gateway.Options) { o.Identity = sayso.Args(`{"command":"a"}`) })
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	w.server.expect(echo("1", "a"))
	w.stop()
	w.start(func(o *gateway.Options) { o.Identity = sayso.Args(`{"command":"b"}`) })
	w.listTools(echoTool)
	w.client.send(echo("2", "a"))
	if text := w.refusalOf(w.client.receive(), "2"); !strings.HasPrefix(text, "Refused: this server is not the one") {
		t.Error(text)
	}
	pins, err := w.broker.Pins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.broker.AcceptDefinition(t.Context(), person, "srv", "", pins.Of("srv")[""].Quarantined); err != nil {
		t.Fatal(err)
	}
	w.client.send(echo("3", "a"))
	w.server.expect(echo("3", "a"))
}

// However many tools a server lists, what is remembered of them is bounded: those
// beyond that are not shown, and do not run.
func TestGW1_tooManyTools(t *testing.T) {
	w := open(t, rules{"t0": sayso.Allow, "t4999": sayso.Allow})
	var list []string
	for i := range 5000 {
		list = append(list, fmt.Sprintf(`{"name":"t%d","inputSchema":{}}`, i))
	}
	got := w.listTools(strings.Join(list, ","))
	if !strings.Contains(got, `"t1023"`) || strings.Contains(got, `"t1024"`) || strings.Contains(got, `"t4999"`) {
		t.Errorf("%d tools are shown", strings.Count(got, `"name"`))
	}
	if !strings.Contains(w.listTools(list[0]), `"t0"`) {
		t.Error("the first is not shown any more")
	}
	w.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t4999"}}`)
	if text := w.refusalOf(w.client.receive(), "1"); !strings.Contains(text, "more tools than are looked at") {
		t.Error(text)
	}
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t0"}}`
	w.client.send(call)
	w.server.expect(call)
}
