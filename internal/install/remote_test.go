package install_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/install"
)

// Entries of servers with an address as clients and people write them, and what
// becomes of them behind the gate.
var brought = []struct {
	client        string
	scope         install.Scope
	before, after string
}{
	{"claude-code", "project",
		"{\n  \"mcpServers\": {\n    \"web\": {\n      \"type\": \"http\",\n      \"url\": \"https://x.example/mcp\",\n      \"headers\": {\n        \"Authorization\": \"Bearer ${TOKEN}\",\n        \"X-Org\":  \"a\\u0062\"\n      }\n    }\n  }\n}",
		"{\n  \"mcpServers\": {\n    \"web\": {\n      \"type\": \"stdio\",\n      \"args\": [\"mcp\", \"--name\", \"web\", \"--url\", \"env:MCP_URL\", \"--header\", \"Authorization=env:MCP_HEADER_AUTHORIZATION\", \"--header\", \"X-Org=env:MCP_HEADER_X_ORG\"],\n      \"command\": \"/s/sayso\",\n      \"env\": {\n        \"MCP_URL\": \"https://x.example/mcp\",\n        \"MCP_HEADER_AUTHORIZATION\": \"Bearer ${TOKEN}\",\n        \"MCP_HEADER_X_ORG\":  \"a\\u0062\"\n      }\n    }\n  }\n}"},
	{"claude-code", "user", `{"mcpServers":{"a b":{"headers":{"X-Key":"k"},"type":"http","url":"https:\/\/x.example","timeout":5}}}`,
		`{"mcpServers":{"a b":{"env":{"MCP_URL": "https:\/\/x.example","MCP_HEADER_X_KEY":"k"},"type":"stdio","args":["mcp", "--name", "a_b", "--url", "env:MCP_URL", "--header", "X-Key=env:MCP_HEADER_X_KEY"],"command":"/s/sayso","timeout":5}}}`},
	{"claude-code", "local", `{"projects": {"/app": {"mcpServers": {"l": {"type": "http", "url": "http://127.0.0.1:3845/mcp"}}}}}`,
		`{"projects": {"/app": {"mcpServers": {"l": {"type": "stdio", "args": ["mcp", "--name", "l", "--url", "env:MCP_URL"], "command": "/s/sayso", "env": {"MCP_URL": "http://127.0.0.1:3845/mcp"}}}}}}`},
	{"gemini", "user", "{\n  // mine\n  \"mcpServers\": {\n    \"g\": { /* x */ \"httpUrl\": \"https://x.example/${ID}\", // y\n      \"headers\": { // of it\n        \"Authorization\": \"$T\", },\n      \"trust\": false, },\n  },\n}\n",
		"{\n  // mine\n  \"mcpServers\": {\n    \"g\": { /* x */ \"args\": [\"mcp\", \"--name\", \"g\", \"--url\", \"env:MCP_URL\", \"--header\", \"Authorization=env:MCP_HEADER_AUTHORIZATION\"], \"command\": \"/s/sayso\", // y\n      \"env\": { // of it\n        \"MCP_URL\": \"https://x.example/${ID}\", \"MCP_HEADER_AUTHORIZATION\": \"$T\", },\n      \"trust\": false, },\n  },\n}\n"},
	{"copilot", "user", `{"mcpServers": {"c": {"type": "http", "url": "https://x.example/mcp", "headers": {"CONTEXT7_API_KEY": "k"}, "tools": ["*"]}}}`, ""},
	{"vscode", "project", "{\n  \"inputs\": [{\"id\": \"key\", \"type\": \"promptString\"}],\n  \"servers\": {\n\t\"v\": {\n\t\t\"type\": \"http\",\n\t\t\"url\": \"https://x.example/mcp\", // the one\n\t\t\"headers\": {\"Authorization\": \"Bearer ${input:key}\"},\n\t},\n  },\n}\n", ""},
	{"cursor", "project", `{"mcpServers": {"k": {"url": "https://x.example/s/MzYtYTQ4Zi00ZDk3LWI5ZTYtZDM2Cg/mcp"}}}`,
		`{"mcpServers": {"k": {"args": ["mcp", "--name", "k", "--url", "env:MCP_URL"],"command": "/s/sayso","env": {"MCP_URL": "https://x.example/s/MzYtYTQ4Zi00ZDk3LWI5ZTYtZDM2Cg/mcp"}}}}`},
	{"cursor", "project", `{"mcpServers": {"k": {"type": "http", "url": "https://x.example/mcp?key=s"}}}`, ""},
	{"claude-code", "user", `{"mcpServers":{"old":{"type":"sse","url":"https://x.example/sse","headers":{"X-Key":"k"}}}}`,
		`{"mcpServers":{"old":{"type":"stdio","args":["mcp", "--name", "old", "--url", "env:MCP_SSE_URL", "--header", "X-Key=env:MCP_HEADER_X_KEY"],"command":"/s/sayso","env":{"MCP_SSE_URL": "https://x.example/sse","MCP_HEADER_X_KEY":"k"}}}}`},
	{"cursor", "project", `{"mcpServers": {"k": {"url": "https://x.example/sse?key=s", "type": "sse"}}}`, ""},
	{"vscode", "project", `{"servers": {"k": {"type": "sse", "url": "http://localhost:8931/sse"}}}`, ""},
	{"opencode", "project", "{\n  \"mcp\": {\n    \"o\": {\n      \"type\": \"remote\",\n      \"url\": \"https://x.example/mcp\",\n      \"headers\": {\"Authorization\": \"Bearer {env:T}\"},\n      \"enabled\": true\n    }\n  }\n}\n",
		"{\n  \"mcp\": {\n    \"o\": {\n      \"type\": \"local\",\n      \"command\": [\"/s/sayso\", \"mcp\", \"--name\", \"o\", \"--url\", \"env:MCP_URL\", \"--header\", \"Authorization=env:MCP_HEADER_AUTHORIZATION\"],\n      \"environment\": {\"MCP_URL\": \"https://x.example/mcp\",\"MCP_HEADER_AUTHORIZATION\": \"Bearer {env:T}\"},\n      \"enabled\": true\n    }\n  }\n}\n"},
	{"codex", "user", "model = \"m\"\n\n[mcp_servers.web]\nurl = \"https://x.example/mcp\"\nbearer_token_env_var = \"TOKEN\" # mine\ntool_timeout_sec = 5\n\n[tui]\nx = 1\n",
		"model = \"m\"\n\n[mcp_servers.web]\nargs = [\"mcp\", \"--name\", \"web\", \"--url\", \"env:MCP_URL\", \"--header\", \"Authorization=Bearer env:TOKEN\"]\ncommand = \"/s/sayso\"\nenv = {MCP_URL = \"https://x.example/mcp\"}\nenv_vars = [\"TOKEN\"] # mine\ntool_timeout_sec = 5\n\n[tui]\nx = 1\n"},
	{"codex", "user", "[mcp_servers.web]\nurl = 'https://x.example/mcp'\nhttp_headers = { \"X-Api-Key\" = \"k\", B = 'c' }\n",
		"[mcp_servers.web]\nargs = [\"mcp\", \"--name\", \"web\", \"--url\", \"env:MCP_URL\", \"--header\", \"X-Api-Key=env:MCP_HEADER_X_API_KEY\", \"--header\", \"B=env:MCP_HEADER_B\"]\ncommand = \"/s/sayso\"\nenv = { MCP_URL = 'https://x.example/mcp', \"MCP_HEADER_X_API_KEY\" = \"k\", MCP_HEADER_B = 'c' }\n"},
	{"codex", "user", "[mcp_servers.web] # it\nurl = \"https://x.example/mcp\"\n\n[mcp_servers.web.http_headers] # of it\nAuthorization = \"Bearer k\"\n",
		"[mcp_servers.web] # it\nargs = [\"mcp\", \"--name\", \"web\", \"--url\", \"env:MCP_URL\", \"--header\", \"Authorization=env:MCP_HEADER_AUTHORIZATION\"]\ncommand = \"/s/sayso\"\n\n[mcp_servers.web.env]\nMCP_URL = \"https://x.example/mcp\" # of it\nMCP_HEADER_AUTHORIZATION = \"Bearer k\"\n"},
	{"codex", "user", "mcp_servers.url.url = \"http://localhost:1/url\"\n[mcp_servers]\n", ""},
	{"codex", "user", "[mcp_servers]\none = { url = \"http://127.0.0.1:1\", http_headers = {X-Token=\"t\"}, bearer_token_env_var = \"T\" }\n", ""},
}

// What has an address starts our gateway in front of the same one, no value of it
// stands among the words of a command, and taking it out again leaves no trace.
func TestServers_addresses(t *testing.T) {
	g := install.Gateway{Program: "/s/sayso"}
	for _, c := range brought {
		l := listOf(t, c.client, c.scope)
		before, err := l.Servers([]byte(c.before))
		if err != nil || len(before) != 1 || before[0].Left != "" || before[0].Open || before[0].Odd != "" {
			t.Errorf("%s: found %+v, %v in\n%s", c.client, before, err, c.before)
			continue
		}
		in, err := l.Put([]byte(c.before), g, nil)
		if err != nil {
			t.Errorf("%s: %v in\n%s", c.client, err, c.before)
			continue
		}
		if d := cmp.Diff(c.after, string(in)); c.after != "" && d != "" {
			t.Errorf("%s:\n%s", c.client, d)
		}
		s, err := l.Servers(in)
		if err != nil || len(s) != 1 || !s[0].Gated || s[0].Known != install.RuleName(s[0].Name) || s[0].URL != before[0].URL || len(s[0].Command) > 0 || s[0].Asks(nil) != "" {
			t.Errorf("%s: became %+v, %v in\n%s", c.client, s, err, in)
			continue
		}
		if words := strings.Join(s[0].Flags, " "); strings.Contains(words, "example") || strings.Contains(words, "Bearer $") {
			t.Errorf("%s: %s", c.client, words)
		}
		if again, err := l.Put(in, g, nil); err != nil || string(again) != string(in) {
			t.Errorf("%s: a second time: %v\n%s", c.client, err, cmp.Diff(string(in), string(again)))
		}
		out, err := l.Take(in, nil)
		if err != nil {
			t.Errorf("%s: %v in\n%s", c.client, err, in)
			continue
		}
		if d := cmp.Diff(c.before, string(out)); d != "" {
			t.Errorf("%s: a trace is left:\n%s", c.client, d)
		}
	}
}

// What cannot go through the gate as it goes to its server now stays, and it is said
// why. What a client may log in to goes.
func TestServers_addressesLeft(t *testing.T) {
	const key = `"headers": {"X-Key": "k"}`
	for _, c := range []struct{ client, entry, why string }{
		{"claude-code", `"url": "https://x.example/mcp", ` + key, "what transport it is reached by is not certain; write it with url and type http or sse"},
		{"claude-code", `"type": "streamable-http", "url": "https://x.example/mcp", ` + key, "not certain"},
		{"gemini", `"url": "https://x.example/mcp", ` + key, "not certain; write it with httpUrl"},
		{"claude-desktop", `"type": "http", "url": "https://x.example/mcp", ` + key, "Claude Desktop is not known to take addresses"},
		{"claude-code", `"type": "http", "url": "http://x.example/mcp", ` + key, "--plain-http"},
		{"claude-code", `"type": "http", "url": "https://a:b@x.example/mcp", ` + key, "its address is not https"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp", "headersHelper": "/bin/x"`, "what headersHelper in its entry is for; if the client logs in by it, leave it"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp", "oauth": {"clientId": "x"}, ` + key, "the client logs in by what oauth in its entry says"},
		{"opencode", `"type": "remote", "url": "https://x.example/mcp", "oauth": false, ` + key, "oauth"},
		{"gemini", `"httpUrl": "https://x.example/mcp", "authProviderType": "google_credentials"`, "authProviderType"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp", "headers": {"Content-Type": "a", "X-Key": "k"}`, "Content-Type, which sayso mcp sets itself"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp", "headers": {"X-Key": 1}`, "not names with texts"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp", "headers": {"X-\u004bey": "k"}`, "put back as it was"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp", "headers": {"X-Key": "k", "x-key": "l"}`, "put back as it was"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp", "headers": {}`, "put back as it was"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp", "headers": [], "x": 1`, "put back as it was"},
		{"claude-code", `"type": "ht\u0074p", "url": "https://x.example/mcp", ` + key, "put back as it was"},
		{"claude-code", `"type": "http", "url": "http://127.0.0.1:7118/a/mcp", "headers": {"Authorization": "Bearer sayso_agent_x"}`, "a gateway stands in front of it already"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp", "env": {"A": "b"}, ` + key, "of an address and of a program"},
		{"claude-code", `"type": "http", "url": "https://x.example/mcp"`, ""},
		{"cursor", `"url": "https://x.example/mcp", "headers": {"X-Org": "o"}`, ""},
		{"cursor", `"url": "${env:HOST}/mcp"`, ""},
	} {
		text := []byte(`{"mcpServers": {"x": {` + c.entry + `}}}`)
		if c.client == "opencode" {
			text = []byte(`{"mcp": {"x": {` + c.entry + `}}}`)
		}
		scope := install.ScopeUser
		l := listOf(t, c.client, scope)
		s, err := l.Servers(text)
		if err != nil || len(s) != 1 || !strings.Contains(s[0].Left, c.why) || (s[0].Left == "") != (c.why == "") || s[0].Open != (c.why == "") {
			t.Errorf("%s: %s: %+v, %v", c.client, c.entry, s, err)
		}
		out, err := l.Put(text, gateway, nil)
		if err != nil || (string(out) == string(text)) != (c.why != "") {
			t.Errorf("%s: %s became\n%s, %v", c.client, c.entry, out, err)
		}
		if back, err := l.Take(out, nil); err != nil || string(back) != string(text) {
			t.Errorf("%s: %s: back it is\n%s, %v", c.client, c.entry, back, err)
		}
	}
}

// An entry that somebody changed is given back as far as that is certain, or left,
// and it is said why.
func TestServers_addressesChanged(t *testing.T) {
	l := listOf(t, "claude-code", install.ScopeProject)
	const entry = `{"type": "http", "url": "https://x.example/mcp", "headers": {"X-Key": "k"}}`
	in, err := l.Put([]byte(`{"mcpServers": {"x": `+entry+`}}`), gateway, nil)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		`"MCP_HEADER_X_KEY": "k"`: `"MCP_HEADER_X_KEY": "k", "SAYSO_PATIENCE": "5m"`,
		`"MCP_URL": `:             `"OTHER": `,
		`"stdio"`:                 `"local"`,
		`"command": `:             `"timeout": 5, "command": `,
		`"env": `:                 `"\u0065nv": `,
	} {
		text := strings.Replace(string(in), from, to, 1)
		if text == string(in) {
			t.Fatalf("%s is not in %s", from, in)
		}
		if out, err := l.Take([]byte(text), nil); err == nil || !strings.Contains(err.Error(), "put it back by hand") {
			t.Errorf("%s: %v\n%s", to, err, out)
		}
	}
	untyped := strings.Replace(strings.ReplaceAll(string(in), "MCP_URL", "MCP_SSE_URL"), `"type": "stdio", `, "", 1)
	if out, err := l.Take([]byte(untyped), nil); err == nil || !strings.Contains(err.Error(), "its type is another") {
		t.Errorf("%v\n%s", err, out)
	}
	edited := strings.Replace(strings.Replace(string(in), `"k"`, `"other"`, 1), "x.example", "y.example", 1)
	edited = strings.Replace(edited, `"stdio"`, `"stdio", "timeout": 7`, 1)
	want := `{"mcpServers": {"x": {"type": "http", "timeout": 7, "url": "https://y.example/mcp", "headers": {"X-Key": "other"}}}}`
	if out, err := l.Take([]byte(edited), nil); err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(out)))
	}
	codex := listOf(t, "codex", install.ScopeUser)
	const passed = "[mcp_servers.x]\nurl = \"https://x.example/mcp\"\nhttp_headers = {A = \"b\"}\nenv_http_headers = {X-Key = \"KEY\"}\n"
	if s, err := codex.Servers([]byte(passed)); err != nil || !strings.Contains(s[0].Left, "env_http_headers") {
		t.Errorf("%+v, %v", s, err)
	}
	// One that a person wrote is none of ours to take back, and is looked at as ours is.
	own := `{"mcpServers": {"x": {"command": "/s/sayso", "args": ["mcp", "--name", "x", "--state-dir", "/state", "--config-dir", "/config", "--runtime-dir", "/run", "--url", "https://x.example/mcp"]}}}`
	if out, err := l.Take([]byte(own), nil); err != nil || string(out) != own {
		t.Errorf("%v\n%s", err, out)
	}
	for args, why := range map[string]string{
		``:                                   "",
		`, "--header", "X-Key=env:K"`:        "",
		`, "--plain-http"`:                   "sayso init mcp does not write --plain-http",
		`, "--url", "https://other.example"`: "sayso init mcp does not write --url",
		`, "--server", "http://x"`:           "sayso init mcp does not write --server",
	} {
		s, err := l.Servers([]byte(strings.Replace(own, `"https://x.example/mcp"`, `"https://x.example/mcp"`+args, 1)))
		if err != nil || !s[0].Gated || s[0].URL != "https://x.example/mcp" {
			t.Errorf("%+v, %v", s, err)
			continue
		}
		if got := s[0].Asks(gateway.Place); got == "" != (why == "") || !strings.HasPrefix(got, why) {
			t.Errorf("%s: %q, want %q", args, got, why)
		}
	}
}
