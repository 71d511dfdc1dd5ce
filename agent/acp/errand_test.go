package acp_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/acp"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// errandOf is the call of what the editor is to do.
func errandOf(t *testing.T, method, params string) (sayso.Call, error) {
	t.Helper()
	m, err := acp.Read([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if !m.Errand() {
		t.Fatalf("%s %s is passed on as it is", method, params)
	}
	e, err := m.ReadErrand()
	if err != nil {
		return sayso.Call{}, err
	}
	return e.Call(acp.Place{Cwd: "/w", Caller: "acp/x", CallID: "x"})
}

// What an agent has its editor do is known by the canonical tool, and a command as all that
// may run: editors start the program, or have a shell read the words.
func TestErrand_call(t *testing.T) {
	for name, tt := range map[string]struct{ method, params, want string }{
		"a write":               {acp.WriteFile, `"path":"/w/a","content":"x"`, `file-write {"content":"x","path":"/w/a"} /w`},
		"with more":             {acp.WriteFile, `"path":"/w/a","content":"x","append":true`, `file-write {"append":true,"content":"x","path":"/w/a"} /w`},
		"with nothing":          {acp.WriteFile, `"path":"/w/a","content":"x","_meta":null`, `file-write {"content":"x","path":"/w/a"} /w`},
		"with an extension":     {acp.WriteFile, `"path":"/w/a","content":"x","_meta":{"y":1}`, `file-write {"_meta":{"y":1},"content":"x","path":"/w/a"} /w`},
		"a read":                {acp.ReadFile, `"path":"/w/a","line":3,"limit":null`, `file-read {"line":3,"path":"/w/a"} /w`},
		"a line":                {acp.CreateTerminal, `"command":"make && ls","args":[],"outputByteLimit":1`, `bash {"command":"make && ls"} /w`},
		"words":                 {acp.CreateTerminal, `"command":"npm","args":["run","a:b","--x=1"],"cwd":"/w/x"`, `bash {"command":"npm run a:b --x=1"} /w/x`},
		"a folder from there":   {acp.CreateTerminal, `"command":"ls","cwd":"x"`, `bash {"command":"ls","cwd":"x"} /w`},
		"more than words":       {acp.CreateTerminal, `"command":"git","args":["commit","-m","a b"]`, `bash {"command":"(git commit -m 'a b')\n# or this, in an editor that hands it to a shell without quotes:\ngit commit -m a b"} /w`},
		"a second command":      {acp.CreateTerminal, `"command":"ls","args":["; rm -rf x"]`, `bash {"command":"(ls '; rm -rf x')\n# or this, in an editor that hands it to a shell without quotes:\nls ; rm -rf x"} /w`},
		"a variable, or none":   {acp.CreateTerminal, `"command":"A=b","args":["ls"]`, `bash {"command":"('A=b' ls)\n# or this, in an editor that hands it to a shell without quotes:\nA=b ls"} /w`},
		"no word":               {acp.CreateTerminal, `"command":"ls","args":[""]`, `bash {"command":"(ls '')\n# or this, in an editor that hands it to a shell without quotes:\nls "} /w`},
		"its environment":       {acp.CreateTerminal, `"command":"make all","env":[{"name":"B","value":"x y"},{"name":"A","value":"1"}]`, `bash {"command":"export A=1\nexport B='x y'\nmake all"} /w`},
		"a variable, and more":  {acp.CreateTerminal, `"command":"ls","env":[{"name":"A","value":"1","_meta":{"x":1}}]`, `bash {"command":"export A=1\nls","env":[{"name":"A","value":"1","_meta":{"x":1}}]} /w`},
		"a variable, no more":   {acp.CreateTerminal, `"command":"ls","env":[{"name":"A","value":"1","_meta":{}}]`, `bash {"command":"export A=1\nls"} /w`},
		"a tool of a server":    {acp.MessageMCP, `"connectionId":"c","method":"tools/call","params":{"name":"drop","arguments":{}}`, `mcp/message {"connectionId":"c","method":"tools/call","params":{"name":"drop","arguments":{}}} /w`},
		"nearly one":            {acp.MessageMCP, `"connectionId":"c","method":"Tools/Call"`, `mcp/message {"connectionId":"c","method":"Tools/Call"} /w`},
		"one that is not clear": {acp.MessageMCP, `"connectionId":"c","method":7`, `mcp/message {"connectionId":"c","method":7} /w`},
	} {
		params := tt.params
		if tt.method != acp.MessageMCP {
			params = `"sessionId":"s1",` + params
		}
		c, err := errandOf(t, tt.method, "{"+params+"}")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tool, _ := c.CanonicalName()
		if text := fmt.Sprint(tool, " ", string(c.Args), " ", c.Cwd); text != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, tt.want)
		}
		if known := c.Known(); known.Kind == sayso.KindOther != (tt.method == acp.MessageMCP) {
			t.Errorf("%s is of kind %s", name, known.Kind)
		}
	}
	for _, line := range []string{
		`{"id":1,"method":"mcp/message","params":{"connectionId":"c","method":"tools/list"}}`, `{"id":1,"method":"terminal/kill","params":{}}`, `{"id":1,"method":"_x/y","params":{}}`,
	} {
		if m, err := acp.Read([]byte(line)); err != nil || m.Errand() {
			t.Errorf("%s is judged, %v", line, err)
		}
	}
}

// What the gate is told of a command is what bash makes of it: each word is the word that
// the editor is told.
func TestErrand_words(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to read the words; type: apt-get install bash")
	}
	words := []string{"a b", "", "'", `"`, `\`, "$HOME", "`id`", "*", "~", "a\nb", "!x", "#", "&", "é", "=x", "%1", "{a,b}", "-", "x=y", "<", "'\\''"}
	text, err := jcs.Marshal(append([]string{`%s\0`}, words...))
	if err != nil {
		t.Fatal(err)
	}
	c, err := errandOf(t, acp.CreateTerminal, `{"sessionId":"s1","command":"printf","args":`+string(text)+`}`)
	if err != nil {
		t.Fatal(err)
	}
	var args struct {
		Command string `json:"command"`
	}
	if err := jcs.UnmarshalLenient(c.Args, &args); err != nil {
		t.Fatal(err)
	}
	line, _, ok := strings.Cut(args.Command, "\n# or this")
	if !ok {
		t.Fatalf("only one way to read it: %s", args.Command)
	}
	out, err := exec.Command(bash, "-c", line).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", words) {
		t.Errorf("bash read\n%q\nof\n%q", got, words)
	}
}

// An errand is never answered with a yes, and the model can read why.
func TestErrand_reply(t *testing.T) {
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}
	for name, got := range map[string][]byte{
		"allowed": acp.Errand{ID: []byte("1")}.Reply(yes, nil), "denied": acp.Errand{ID: []byte("1")}.Reply(sayso.Decision{}, nil), "cancelled": acp.Errand{ID: []byte("1")}.Cancelled(),
	} {
		m, err := acp.Read(got)
		if err != nil || !m.Failed() || m.Key() != "1" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// Whatever the editor is to do can be put to the gate, or is refused under its id.
func FuzzErrand(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"terminal/create","params":{"sessionId":"s","command":"ls","args":["-l","a b"],"env":[{"name":"A","value":"b"}],"cwd":"/x"}}`))
	f.Add([]byte(`{"id":"a","method":"fs/write_text_file","params":{"sessionId":"s","path":"/a","content":"b","_meta":{}}}`))
	f.Add([]byte(`{"id":1,"method":"mcp/message","params":{"method":"tools/call"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := acp.Read(text)
		if err != nil || !m.Request() || !m.Errand() {
			return
		}
		e, err := m.ReadErrand()
		no := e.Reply(sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}, nil)
		answer, bad := acp.Read(no)
		if bad != nil || !answer.Failed() || acp.Key(answer.ID) != m.Key() || strings.ContainsAny(string(no), "\r\n") {
			t.Fatalf("%s answers %s: %v", no, text, bad)
		}
		if err != nil {
			return
		}
		c, err := e.Call(acp.Place{Cwd: "/w", CallID: "x"})
		if err != nil {
			return
		}
		if _, err := c.Digest(); err != nil {
			t.Fatalf("%s: %v", c.Args, err)
		}
		_ = e.Present(c, sayso.Facts{}, nil)
	})
}
