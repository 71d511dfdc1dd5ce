package acp_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/acp"
)

// line is a request for permission with a call and what it offers.
func line(tool, options string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":` + tool + `,"options":[` + options + `]}}`
}

const offers = `{"optionId":"y","kind":"allow_once"},{"optionId":"Y","kind":"allow_always"},{"optionId":"n","kind":"reject_once"},{"optionId":"N","kind":"reject_always"}`

func permission(t *testing.T, text string) acp.Permission {
	t.Helper()
	m, err := acp.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Permission()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// call is the call of a permission, after what was told before.
func call(t *testing.T, tool string, told ...string) sayso.Call {
	t.Helper()
	var before acp.Told
	for _, update := range told {
		m, err := acp.Read([]byte(`{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c1",` + update + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := before.Hear(&m); !ok {
			t.Fatalf("%s is not about a call", update)
		}
	}
	c, err := permission(t, line(`{"toolCallId":"c1",`+tool+`}`, offers)).Call(before.Of("s1", "c1"), acp.Place{Cwd: "/home/dev/app", CallID: "c1"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A yes and a no are those for one call, whatever stands around them.
func TestReply(t *testing.T) {
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}
	p := permission(t, line(`{"toolCallId":"c1"}`, offers))
	for name, c := range map[string]struct {
		d    sayso.Decision
		err  error
		want string
	}{
		"allowed": {yes, nil, `"optionId":"y"`}, "nothing": {sayso.Decision{}, nil, `"optionId":"n"`}, "an error": {yes, errors.New("x"), `"optionId":"n"`},
		"open": {sayso.Decision{Effect: sayso.Allow, State: sayso.StateOpen}, nil, `"optionId":"n"`}, "denied": {sayso.Decision{Effect: sayso.Deny, State: sayso.StateDenied}, nil, `"optionId":"n"`},
	} {
		if got := string(p.Reply(c.d, c.err)); !strings.Contains(got, c.want) || !strings.Contains(got, `"id":1`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := string(acp.Permission{ID: []byte("1")}.Reply(yes, nil)); strings.Contains(got, "selected") {
		t.Errorf("one without options is allowed: %s", got)
	}
	none := permission(t, line(`{"toolCallId":"c1"}`, `{"optionId":"y","kind":"allow_once"},{"optionId":"N","kind":"reject_always"}`))
	if got := string(none.Reply(sayso.Decision{}, nil)); !strings.Contains(got, `{"outcome":"cancelled"}`) {
		t.Errorf("without a way to say no once: %s", got)
	}
}

// A way to say no that shares its id with another option may be that other one.
func TestReply_sharedID(t *testing.T) {
	p := permission(t, line(`{"toolCallId":"c1"}`, `{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"},{"optionId":"n","kind":"allow_always"}`))
	if got := string(p.Reply(sayso.Decision{}, nil)); !strings.Contains(got, `{"outcome":"cancelled"}`) {
		t.Errorf("%s", got)
	}
	p = permission(t, line(`{"toolCallId":"c1"}`, `{"optionId":"y","kind":"allow_once"},{"optionId":"","kind":"reject_once"}`))
	if got := string(p.Reply(sayso.Decision{}, nil)); !strings.Contains(got, `{"outcome":"cancelled"}`) {
		t.Errorf("%s", got)
	}
}

// What is not certain is not understood: the tool that rules know, and the argument
// that they match on.
func TestCall(t *testing.T) {
	const command = `"kind":"execute","rawInput":{"command":"make"}`
	for name, c := range map[string]struct {
		tool string
		told []string
		want string // tool, arguments, folder
	}{
		"a command":             {command, nil, `bash {"command":"make"} /home/dev/app`},
		"its folder":            {command, []string{`"rawInput":{"cwd":"/tmp"}`}, `bash {"command":"make"} /tmp`},
		"one that it was given": {command, []string{`"rawInput":{"workdir":"/tmp"}`}, `bash {"command":"make"} /tmp`},
		"two folders":           {command, []string{`"rawInput":{"workdir":"/tmp","cwd":"/x"}`}, `bash {"command":"make","cwd":"/x","workdir":"/tmp"} /home/dev/app`},
		"a folder from there":   {command, []string{`"rawInput":{"workdir":"sub"}`}, `bash {"command":"make","workdir":"sub"} /home/dev/app`},
		"another command":       {command, []string{`"rawInput":{"command":"rm x"}`}, `bash {"acp":{"announced":{"command":"rm x"}},"command":"make"} /home/dev/app`},
		"another kind":          {command, []string{`"kind":"read"`}, `other {"command":"make"} /home/dev/app`},
		"a kind of its own":     {`"kind":"destroy","rawInput":{"x":1}`, nil, `other {"x":1} /home/dev/app`},
		"no kind":               {`"rawInput":{"command":"make"}`, nil, `other {"command":"make"} /home/dev/app`},
		"a kind told before":    {`"rawInput":{"command":"make"}`, []string{`"kind":"execute"`}, `bash {"command":"make"} /home/dev/app`},
		"no input":              {`"kind":"execute","title":"make"`, nil, `bash {"acp":{"title":"make"}} /home/dev/app`},
		"no input, other":       {`"kind":"other","title":"deploy"`, nil, `unseen {"acp":{"title":"deploy"}} /home/dev/app`},
		"a list":                {`"kind":"execute","rawInput":["bash","-lc","make"]`, nil, `bash {"acp":{"input":"[\"bash\",\"-lc\",\"make\"]","title":""}} /home/dev/app`},
		"our own member":        {`"kind":"execute","rawInput":{"command":"make","acp":{"title":"x"}}`, nil, `bash {"acp":{"announced":{"acp":{"title":"x"}}},"command":"make"} /home/dev/app`},
		"a tool of a server":    {`"kind":"other","name":"mcp__db__drop","rawInput":{"t":"x"}`, nil, `drop {"t":"x"} /home/dev/app`},
		"its arguments unseen":  {`"kind":"other","name":"mcp__db__drop"`, nil, `unseen {"acp":{"title":""}} /home/dev/app`},
		"Claude's name for it":  {`"kind":"other","_meta":{"claudeCode":{"toolName":"mcp__db__drop"}},"rawInput":{}`, nil, `drop {} /home/dev/app`},
		"a path":                {`"kind":"read","rawInput":{"filePath":"a"},"locations":[{"path":"/home/dev/app/a"}]`, nil, `file-read {"filePath":"a","path":"a"} /home/dev/app`},
		"another place":         {`"kind":"read","rawInput":{"path":"a"},"locations":[{"path":"/etc/passwd"}]`, nil, `file-read {"acp":{"locations":[{"path":"/etc/passwd"}],"path":"a"}} /home/dev/app`},
		"two paths":             {`"kind":"edit","rawInput":{"path":"a","file_path":"b"}`, nil, `file-edit {"acp":{"path":"a"},"file_path":"b"} /home/dev/app`},
		"a path that is none":   {`"kind":"edit","rawInput":{"filePath":["a"],"path":"b"}`, nil, `file-edit {"acp":{"path":["a"]},"filePath":["a"]} /home/dev/app`},
		"another file changes": {`"kind":"edit","rawInput":{"path":"a"},"content":[{"type":"diff","path":"/b","newText":"x"}]`, nil,
			`file-edit {"acp":{"changes":[{"path":"/b","old":null,"new":"x"}],"path":"a"}} /home/dev/app`},
		"a place told before": {`"kind":"edit","rawInput":{"path":"a"}`, []string{`"locations":[{"path":"/b"}]`}, `file-edit {"acp":{"path":"a"}} /home/dev/app`},
	} {
		got := call(t, c.tool, c.told...)
		tool, _ := got.CanonicalName()
		if text := fmt.Sprint(tool, " ", string(got.Args), " ", got.Cwd); text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, c.want)
		}
	}
}

// The model's words about a call are no part of what is judged.
func TestCall_words(t *testing.T) {
	one := call(t, `"kind":"execute","title":"lists files","rawInput":{"command":"make","description":"lists"}`)
	two := call(t, `"kind":"execute","title":"deploys","rawInput":{"command":"make","description":"deploys"}`)
	a, _ := one.Digest()
	b, _ := two.Digest()
	if a != b || a.IsZero() || one.Said["title"] != "lists files" || one.Said["description"] != "lists" {
		t.Errorf("%v %v %v", a, b, one.Said)
	}
	kept := call(t, `"kind":"other","name":"mcp__issues__create","rawInput":{"description":"x"}`)
	if string(kept.Args) != `{"description":"x"}` {
		t.Errorf("an argument was taken for words: %s", kept.Args)
	}
}

// Names that may not stand in a call have others, which are never those of another.
func TestPlain(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"", "a", "a\n", "a\nb", "ä", strings.Repeat("a", 201), strings.Repeat("a", 202), "\xff"} {
		got := acp.Plain(name)
		if before, ok := seen[got]; ok || got == "" || strings.ContainsAny(got, "\n") {
			t.Errorf("%q is called %q, as %q", name, got, before)
		}
		seen[got] = name
		if err := (sayso.Call{Tool: "x", Session: acp.SessionName(name), CallID: got + "#1000"}).Validate(); err != nil {
			t.Error(err)
		}
	}
}

// What an agent told of its calls is kept of so many, and no longer than they last.
func TestTold(t *testing.T) {
	var told acp.Told
	hear := func(id, rest string) {
		m, err := acp.Read(fmt.Appendf(nil, `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":%q%s}}}`, id, rest))
		if err != nil {
			t.Fatal(err)
		}
		told.Hear(&m)
	}
	hear("a", `,"kind":"execute","rawInput":{"x":1},"content":[{"type":"diff","path":"/a"}]`)
	hear("a", `,"title":"t"`)
	if c := told.Of("s", "a"); c.Kind != "execute" || c.Title != "t" || string(c.Input) != `{"x":1}` || len(c.Content) != 1 {
		t.Errorf("%+v", c)
	}
	if c := told.Of("other", "a"); c.Kind != "" {
		t.Error("a call of another session")
	}
	for i := range 300 {
		hear(fmt.Sprint(i), `,"kind":"read"`)
	}
	if c := told.Of("s", "a"); c.Kind != "" {
		t.Error("too much is kept")
	}
	hear("299", `,"status":"completed"`)
	if c := told.Of("s", "299"); c.Kind != "" {
		t.Error("a call that ended is kept")
	}
}

// And no more is kept of all of them than memory is for, the newest of it.
func TestTold_weight(t *testing.T) {
	var told acp.Told
	long := strings.Repeat("x", sayso.MaxCall-1000)
	const n = 24
	for i := range n {
		for _, rest := range []string{`"kind":"edit"`, `"rawInput":{"x":"` + long + `"}`, `"title":"t"`} {
			m, err := acp.Read(fmt.Appendf(nil, `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"%d",%s}}}`, i, rest))
			if err != nil {
				t.Fatal(err)
			}
			told.Hear(&m)
		}
	}
	kept := 0
	for i := range n {
		c := told.Of("s", fmt.Sprint(i))
		if kept += len(c.Input); len(c.Input) > 0 != (i >= n-16) {
			t.Errorf("of call %d are kept %d bytes", i, len(c.Input))
		}
	}
	if kept > 64<<20 {
		t.Errorf("%d bytes are kept", kept)
	}
}

// Of a call no more is kept than a call may have, and one of which more was told is not
// asked about: what is missing could be what matters. What comes of a call is not kept.
func TestTold_tooLarge(t *testing.T) {
	long := strings.Repeat("x", sayso.MaxCall+1)
	for name, tt := range map[string]struct {
		told    string
		refused bool
	}{
		"a change":   {`"content":[{"type":"diff","path":"/a","newText":"` + long + `"}]`, true},
		"what was":   {`"content":[{"type":"diff","path":"/a","oldText":"` + long + `","newText":""}]`, true},
		"many":       {`"content":[` + strings.Repeat(`{"type":"diff","path":"/a","newText":""},`, sayso.MaxCall/64) + `{"type":"diff"}]`, true},
		"places":     {`"locations":[` + strings.Repeat(`{"path":""},`, sayso.MaxCall/64) + `{"path":"/"}]`, true},
		"the input":  {`"rawInput":{"command":"` + long + `"}`, true},
		"the title":  {`"title":"` + long + `"`, true},
		"bit by bit": {`"title":"` + long[:len(long)/2] + `"}}}` + "\n" + `"kind":"` + long[:len(long)/2+1] + `"`, true},
		"its output": {`"content":[{"type":"content","content":{"type":"text","text":"` + long + `"}}]`, false},
	} {
		var told acp.Told
		for _, update := range append(strings.Split(tt.told, "}}}\n"), `"name":"t"`) { // what comes later does not make it whole
			m, err := acp.Read([]byte(`{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1",` + update + `}}}`))
			if err != nil {
				t.Fatal(err)
			}
			if _, c, ok := told.Hear(&m); !ok || c.ID != "c1" {
				t.Fatalf("%s: the call %q, %v", name, c.ID, ok)
			}
		}
		if kept := told.Of("s1", "c1"); len(kept.Content)+len(kept.Locations)+len(kept.Input) > 0 {
			t.Errorf("%s is kept", name)
		}
		_, err := permission(t, line(`{"toolCallId":"c1","kind":"execute","rawInput":{"command":"make"}}`, offers)).Call(told.Of("s1", "c1"), acp.Place{Cwd: "/w", CallID: "c1"})
		if refused := errors.Is(err, sayso.ErrInvalid); refused != tt.refused {
			t.Errorf("%s: asked about with %v", name, err)
		}
	}
}

// Whatever comes, an answer names the id that it is for, and is a yes only to what
// was allowed; and a call that is made of it can be put to the gate.
func FuzzPermission(f *testing.F) {
	f.Add([]byte(line(`{"toolCallId":"c1","kind":"execute","rawInput":{"command":"make"}}`, offers)), []byte(`{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c1","rawInput":{"cwd":"/tmp"}}}}`))
	f.Add([]byte(line(`{"toolCallId":"c1","kind":"edit","rawInput":{"path":"a"},"content":[{"type":"diff","path":"/b","newText":"x"}],"locations":[{"path":"b"}]}`, offers)), []byte(`{}`))
	f.Add([]byte(`{"id":1,"method":"session/request_permission","params":{"options":[{"optionId":"","kind":"allow_once"}]}}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, text, before []byte) {
		var told acp.Told
		if m, err := acp.Read(before); err == nil {
			told.Hear(&m)
		}
		m, err := acp.Read(text)
		if err != nil || m.Method != acp.Ask || !m.Request() {
			return
		}
		p, err := m.Permission()
		no := p.Reply(sayso.Decision{}, nil)
		if bytes.ContainsAny(no, "\r\n") {
			t.Fatalf("%q is more than one line", no)
		}
		answer, bad := acp.Read(no)
		if bad != nil || acp.Key(answer.ID) != m.Key() {
			t.Fatalf("%s answers %s: %v", no, text, bad)
		}
		yes := p.Reply(sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}, nil)
		if err != nil {
			if !bytes.Equal(yes, no) {
				t.Fatalf("%s is allowed although %v", text, err)
			}
			return
		}
		if bytes.Equal(yes, no) {
			t.Fatalf("yes and no are one: %s", yes)
		}
		c, err := p.Call(told.Of(p.Session, p.Tool.ID), acp.Place{Cwd: "/w", CallID: "x"})
		if err != nil {
			return
		}
		if _, err := c.Digest(); err != nil {
			t.Fatalf("%s: %v", c.Args, err)
		}
		_ = acp.Present(c)
	})
}
