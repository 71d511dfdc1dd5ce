package install_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/install"
)

var gateway = install.Gateway{Program: "/opt/my tools/sayso", Place: []string{"--state-dir", "/state", "--config-dir", "/config", "--runtime-dir", "/run"}}

// listOf is the first list of a client's scope, for somebody in /app.
func listOf(t testing.TB, client string, scope install.Scope) install.List {
	t.Helper()
	c, ok := install.FindClient(client)
	if !ok {
		t.Fatalf("there is no client %s", client)
	}
	lists, err := c.Of(c.Lists(func(name string) string { return map[string]string{"HOME": "/home/dev"}[name] }, "/app"), scope)
	if err != nil || len(lists) == 0 {
		t.Fatalf("%s has no list of scope %s: %v", client, scope, err)
	}
	return lists[0]
}

// lists are files as clients and people write them, and the command that each
// server has.
var lists = []struct {
	client string
	scope  install.Scope
	text   string
	want   string // name=words; one after the other
}{
	{"claude-code", "project", "{\n  \"mcpServers\": {\n    \"pr\": {\n      \"type\": \"stdio\",\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"p\"\n      ],\n      \"env\": {\n        \"A\": \"b\"\n      }\n    }\n  }\n}", "pr=npx|-y|p"},
	{"claude-code", "project", "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"b\":{\"args\":[\"1\"],\"command\":\"y\"},\"c\":{\"command\":\"z\",\"args\":[]}}}", "a=x b=y|1 c=z"},
	{"claude-code", "project", "{\"mcpServers\": {\"a b/c\": {\"command\": \"\\u006epx\", \"args\": [\"tab\\there\", \"\\\"q\\\"\"], \"cwd\": \"/n\"}}}\n", "a b/c=npx|tab\there|\"q\""},
	{"claude-code", "user", "{\n  \"numStartups\": 7,\n  \"projects\": {\"/app\": {\"mcpServers\": {\"l\": {\"command\": \"l\"}}}},\n  \"mcpServers\": {\"u\": {\"command\": \"u\", \"args\": [\"1\"]}}\n}\n", "u=u|1"},
	{"claude-code", "local", "{\n  \"projects\": {\"/app\": {\"mcpServers\": {\"l\": {\"command\": \"l\"}}}, \"/other\": {\"mcpServers\": {\"o\": {\"command\": \"o\"}}}}\n}\n", "l=l"},
	{"claude-desktop", "user", "{\r\n\t\"mcpServers\": {\r\n\t\t\"f\": {\r\n\t\t\t\"command\": \"/usr/bin/uvx\",\r\n\t\t\t\"args\": [\"srv\"]\r\n\t\t}\r\n\t}\r\n}\r\n", "f=/usr/bin/uvx|srv"},
	{"gemini", "user", "{\n  // mine\n  \"mcpServers\": {\n    \"g\": {\"command\": \"node\", \"args\": [\"s.js\"], \"trust\": true,},\n    \"web\": {\"httpUrl\": \"https://x/mcp\"},\n  },\n}\n", "g=node|s.js web="},
	{"copilot", "user", "{\"mcpServers\": {\"c\": {\"type\": \"local\", \"command\": \"c\", \"args\": [ ], \"tools\": [\"*\"]}}}", "c=c"},
	{"vscode", "project", "{\n  \"inputs\": [{\"id\": \"key\", \"type\": \"promptString\"}],\n  \"servers\": {\n    /* the files, of \"us\" */\n    \"v\": {\n      \"type\": \"stdio\", // \"command\": \"no\"\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\", // quietly\n        \"srv\",\n        \"${workspaceFolder}\"\n      ],\n      \"env\": {\"KEY\": \"${input:key}\"},\n    },\n  },\n}\n", "v=npx|-y|srv|${workspaceFolder}"},
	{"copilot", "user", "{\"mcpServers\": {\"c\": {\"args\": [], \"command\": \"c\", \"tools\": [\"*\"]}}}", "c=c"},
	{"cursor", "project", "{\"mcpServers\": {\"k\": {\"command\": \"k\", \"envFile\": \".env\"}}}", "k=k"},
	{"opencode", "project", "{\n  \"mcp\": {\n    \"o\": {\"type\": \"local\", \"command\": [\"bun\", \"x\", \"srv\"], \"enabled\": false},\n    \"r\": {\"type\": \"remote\", \"url\": \"https://x\"}\n  }\n}\n", "o=bun|x|srv r="},
	{"codex", "user", "model = \"m\"\n\n[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"server\", \"/notes\"]\n\n[mcp_servers.files.env]\nA = \"b\"\n\n[mcp_servers.web]\nurl = \"https://example.com/mcp\"\n\n[tui]\nx = 1\n", "files=npx|-y|server|/notes web="},
	{"codex", "user", "[mcp_servers.\"my files\"] # command = \"no\"\n  args = [ # of old\n    'C:\\x', # one\n    \"\"\"two\"\"\",\n  ]\n  command = '/usr/bin/npx'\n  startup_timeout_sec = 1_0.5\n", "my files=/usr/bin/npx|C:\\x|two"},
	{"codex", "user", "[mcp_servers]\none = { command = \"a\", args = [] }\ntwo = {command=\"b\"}\nthree.command = \"c\"\nthree.env = { command = \"d\" }\n", "one=a two=b three=c"},
	{"codex", "user", "[mcp_servers.none]\ncommand = \"a\"\nenabled = false\ndate = 2026-11-22 10:00:00\n[[mcp_servers.none.extra]]\ncommand = \"x\"\n[[mcp_servers.none.extra]]\ncommand = \"y\"", "none=a"},
	{"codex", "user", "mcp_servers.x.command = \"\\u0061\\tb\"\nmcp_servers.x.args = [\"\"\"\nlong \\\n   line\"\"\"]\n", "x=a\tb|long line"},
}

func told(servers []install.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Name+"="+strings.Join(s.Command, "|"))
	}
	return strings.Join(all, " ")
}

// What is put behind the gate starts the same as before, and taking it out again
// leaves no trace.
func TestServers_thenOutLeavesNoTrace(t *testing.T) {
	for _, c := range lists {
		l := listOf(t, c.client, c.scope)
		found, err := l.Servers([]byte(c.text))
		if err != nil || told(found) != c.want {
			t.Errorf("%s: found %q, %v, want %q in\n%s", c.client, told(found), err, c.want, c.text)
			continue
		}
		in, err := l.Put([]byte(c.text), gateway, nil)
		if err != nil {
			t.Errorf("%s: %v in\n%s", c.client, err, c.text)
			continue
		}
		behind, err := l.Servers(in)
		if err != nil || told(behind) != c.want {
			t.Errorf("%s: became %q, %v in\n%s", c.client, told(behind), err, in)
		}
		for _, s := range behind {
			if s.Gated != (len(s.Command) > 0 || s.URL != "" && s.Left == "") || s.Gated && (s.Known != install.RuleName(s.Name) || s.State != "/state") {
				t.Errorf("%s: not behind the gate: %+v in\n%s", c.client, s, in)
			}
		}
		if again, err := l.Put(in, gateway, nil); err != nil || string(again) != string(in) {
			t.Errorf("%s: a second time: %v\n%s", c.client, err, cmp.Diff(string(in), string(again)))
		}
		out, err := l.Take(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.ReplaceAll(c.text, "[ ]", "[]"), string(out)); d != "" {
			t.Errorf("%s: a trace is left:\n%s", c.client, d)
		}
	}
}

func TestServers_layout(t *testing.T) {
	for _, c := range []struct{ client, before, after string }{
		{"claude-code", "{\"mcpServers\": {\n  \"a\": {\n    \"command\": \"x\",\n    \"args\": [\n      \"1\"\n    ]\n  }\n}}",
			"{\"mcpServers\": {\n  \"a\": {\n    \"command\": \"/s/sayso\",\n    \"args\": [\n      \"mcp\",\n      \"--name\",\n      \"a\",\n      \"--\",\n      \"x\",\n      \"1\"\n    ]\n  }\n}}"},
		{"claude-code", "{\"mcpServers\": {\n  \"a\": {\n    \"command\": \"x\"\n  }\n}}",
			"{\"mcpServers\": {\n  \"a\": {\n    \"args\": [\"mcp\", \"--name\", \"a\", \"--\", \"x\"],\n    \"command\": \"/s/sayso\"\n  }\n}}"},
		{"codex", "[mcp_servers.a]\ncommand = \"x\"\n", "[mcp_servers.a]\nargs = [\"mcp\", \"--name\", \"a\", \"--\", \"x\"]\ncommand = \"/s/sayso\"\n"},
		{"codex", "mcp_servers.a = {command = \"x\"}\n", "mcp_servers.a = {args = [\"mcp\", \"--name\", \"a\", \"--\", \"x\"],command = \"/s/sayso\"}\n"},
		{"opencode", "{\"mcp\":{\"a\":{\"command\":[\"x\",\"1\"]}}}", "{\"mcp\":{\"a\":{\"command\":[\"/s/sayso\",\"mcp\",\"--name\",\"a\",\"--\",\"x\",\"1\"]}}}"},
	} {
		scope := install.ScopeProject
		got, err := listOf(t, c.client, scope).Put([]byte(c.before), install.Gateway{Program: "/s/sayso"}, nil)
		if err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(c.after, string(got)); d != "" {
			t.Errorf("%s:\n%s", c.client, d)
		}
	}
}

// What was edited meanwhile stays, also what was added behind the gate's words.
func TestServers_undoKeepsLaterEdits(t *testing.T) {
	l := listOf(t, "codex", install.ScopeUser)
	in, err := l.Put([]byte("[mcp_servers.a]\ncommand = \"x\"\n\n[mcp_servers.b]\ncommand = \"y\"\n"), gateway, nil)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(in), `"x"]`, `"x", "--more"] # and more`, 1)
	edited = strings.Replace(edited, `"--", "y"]`, `"--", "y"] # a note`, 1) + "[mcp_servers.c]\ncommand = \"z\"\n"
	out, err := l.Take([]byte(edited), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "[mcp_servers.a]\nargs = [\"--more\"] # and more\ncommand = \"x\"\n\n[mcp_servers.b]\nargs = [] # a note\ncommand = \"y\"\n[mcp_servers.c]\ncommand = \"z\"\n"
	if d := cmp.Diff(want, string(out)); d != "" {
		t.Error(d)
	}
}

func TestServers_named(t *testing.T) {
	l := listOf(t, "claude-code", install.ScopeProject)
	text := []byte(`{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`)
	in, err := l.Put(text, gateway, []string{"b"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := l.Servers(in); err != nil || s[0].Gated || !s[1].Gated {
		t.Errorf("%+v, %v", s, err)
	}
	all, err := l.Put(in, gateway, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := l.Take(all, []string{"a"}); err != nil || string(out) != string(in) {
		t.Errorf("%v\n%s", err, cmp.Diff(string(in), string(out)))
	}
}

// What goes through the gate is known by how it is started, wherever our program
// is; what only looks like it is left, and said to be odd.
func TestServers_throughTheGate(t *testing.T) {
	l := listOf(t, "claude-code", install.ScopeProject)
	for text, want := range map[string]struct {
		gated, odd bool
		words      string
	}{
		`{"command": "sayso", "args": ["mcp", "--name", "x", "--", "npx", "y"]}`:   {true, false, "npx y"},
		`{"command": "/old/sayso", "args": ["mcp", "--name=x", "--", "npx"]}`:      {true, false, "npx"},
		`{"command": "sayso", "args": ["mcp", "--", "sayso", "mcp", "--", "npx"]}`: {true, false, "sayso mcp -- npx"},
		`{"command": "sh", "args": ["-c", "sayso mcp -- npx"]}`:                    {false, false, "sh -c sayso mcp -- npx"},
		`{"command": "env", "args": ["A=b", "sayso", "mcp", "--", "npx"]}`:         {false, true, "env A=b sayso mcp -- npx"},
		`{"command": "sayso", "args": ["mcp", "--"]}`:                              {false, true, "sayso mcp --"},
		`{"command": "sayso", "args": ["demo"]}`:                                   {false, true, "sayso demo"},
		`{"command": "/bin/sayso-other", "args": ["mcp", "--", "npx"]}`:            {false, false, "/bin/sayso-other mcp -- npx"},
		`{"command": "npx", "args": "all"}`:                                        {false, true, ""},
		`{"command": ["npx"]}`:                                                     {false, true, ""},
		`{"command": "npx", "args": ["-p", 1]}`:                                    {false, true, ""},
		`{"command": ""}`:                                                          {false, true, ""},
		`{"type": "http", "url": "https://x"}`:                                     {false, false, ""},
		`{"type": "sdk"}`:                                                          {false, true, ""},
		`"npx"`:                                                                    {false, true, ""},
	} {
		whole := []byte(`{"mcpServers": {"x": ` + text + `}}`)
		s, err := l.Servers(whole)
		if err != nil || len(s) != 1 || s[0].Gated != want.gated || (s[0].Odd != "") != want.odd || strings.Join(s[0].Command, " ") != want.words {
			t.Errorf("%s: %+v, %v", text, s, err)
			continue
		}
		in, err := l.Put(whole, gateway, nil)
		if changed := string(in) != string(whole); err != nil || changed != (!want.gated && !want.odd) {
			t.Errorf("%s: %v\n%s", text, err, in)
		}
	}
}

func TestServers_refused(t *testing.T) {
	for _, c := range []struct{ client, text string }{
		{"claude-code", `{"mcpServers": []}`}, {"claude-code", `[]`}, {"claude-code", `{"mcpServers": {}, "mcpServers": {}}`},
		{"claude-code", "{ // mine\n}"}, {"vscode", `{"servers": {"a": {"command": "x" /* }}}`}, {"vscode", `{"servers": {,}}`},
		{"codex", "[mcp_servers.a]\ncommand = \"x\"\ncommand = \"y\"\n"}, {"codex", "[mcp_servers.a]\n[mcp_servers.a]\n"},
		{"codex", "[mcp_servers.a]\ncommand = \"x\ny\"\n"}, {"codex", "mcp_servers = 1\n"}, {"codex", "[mcp_servers.a\n"}, {"codex", "a = [1 2]\n"},
		{"codex", "a = \"x\" b = 1\n"}, {"codex", "= 1\n"}, {"codex", "a\n"}, {"codex", "a = \n"}, {"codex", "a = \"\xff\"\n"}, {"codex", "mcp_servers.a.command = \"\"\"x\n"},
	} {
		if out, err := listOf(t, c.client, install.ScopeProject).Put([]byte(c.text), gateway, nil); err == nil {
			t.Errorf("%s: gave %s for\n%s", c.client, out, c.text)
		}
	}
	if _, err := listOf(t, "codex", install.ScopeUser).Put(nil, install.Gateway{Program: "sayso"}, nil); err == nil {
		t.Error("a program by a relative path was taken")
	}
}

func FuzzServers(f *testing.F) {
	for _, c := range lists {
		f.Add(c.client, c.text)
	}
	for _, c := range brought {
		f.Add(c.client, c.before)
		f.Add(c.client, c.after)
	}
	f.Fuzz(func(t *testing.T, client, text string) {
		if !slices.Contains(install.ClientNames(), client) {
			return
		}
		l := listOf(t, client, install.ScopeUser)
		clean, err := l.Take([]byte(text), nil)
		if err != nil {
			return
		}
		before, err := l.Servers(clean)
		if err != nil {
			t.Fatal(err)
		}
		in, err := l.Put(clean, gateway, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, clean)
		}
		out, err := l.Take(in, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, in)
		}
		after, err := l.Servers(out)
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		if d := cmp.Diff(before, after); d != "" {
			t.Errorf("%s\n%s", d, out)
		}
	})
}

// A project's file may be as deep and as long as it likes: it is read, or refused.
func TestServers_largeTOML(t *testing.T) {
	l := listOf(t, "codex", install.ScopeUser)
	for _, text := range []string{
		"a = " + strings.Repeat("[", 1<<20), "a = " + strings.Repeat("{b=", 1<<20), "a = " + strings.Repeat("[", 65) + strings.Repeat("]", 65),
	} {
		if _, err := l.Servers([]byte(text)); err == nil {
			t.Errorf("%.20s… is read", text)
		}
	}
	var many strings.Builder
	for i := range 200_000 { // takes minutes where each is compared with those before
		fmt.Fprintf(&many, "a%d = 1\n", i)
	}
	many.WriteString("b = " + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "\n[mcp_servers.s]\ncommand = \"s\"\n")
	if list, err := l.Servers([]byte(many.String())); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}
