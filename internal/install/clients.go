package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// Client is a program with a list of MCP servers that it starts, which can be
// put behind the gate one by one.
type Client struct {
	Name, Title string
	// Host is the name of the host that the same program is, if it has a hook of
	// ours; the hook then asks about calls of all servers.
	Host string
	// Bare reports whether all that the client can call are servers of the list: it
	// has no tools of its own.
	Bare bool
	// Run reports whether the real program was run with lists that we wrote. What
	// is known of the others is what their documentation says.
	Run bool
	// Scopes are those that we edit; the first is meant if none is named.
	Scopes []Scope
	// Lists are the files that count for somebody who starts the client in a
	// directory; without one, projects are left out. They need not exist.
	Lists func(getenv func(string) string, dir string) []List
}

// Clients are all of them.
func Clients() []Client {
	return []Client{
		{Name: "claude-code", Title: "Claude Code", Host: "claude-code", Run: true, Scopes: []Scope{ScopeUser, ScopeProject, ScopeLocal}, Lists: claudeLists},
		{Name: "claude-desktop", Title: "Claude Desktop", Bare: true, Scopes: []Scope{ScopeUser}, Lists: desktopLists},
		{Name: "codex", Title: "Codex", Host: "codex", Run: true, Scopes: []Scope{ScopeUser, ScopeProject}, Lists: codexLists},
		{Name: "gemini", Title: "Gemini CLI", Host: "gemini", Run: true, Scopes: []Scope{ScopeUser, ScopeProject}, Lists: geminiLists},
		{Name: "copilot", Title: "Copilot CLI", Host: "copilot", Run: true, Scopes: []Scope{ScopeUser, ScopeProject}, Lists: copilotLists},
		{Name: "vscode", Title: "VS Code", Host: "vscode", Scopes: []Scope{ScopeUser, ScopeProject}, Lists: vscodeLists},
		{Name: "cursor", Title: "Cursor", Host: "cursor", Scopes: []Scope{ScopeUser, ScopeProject}, Lists: cursorLists},
		{Name: "opencode", Title: "opencode", Host: "opencode", Run: true, Scopes: []Scope{ScopeUser, ScopeProject}, Lists: opencodeLists},
	}
}

// FindClient returns the client of that name.
func FindClient(name string) (Client, bool) {
	all := Clients()
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// ClientNames are the names of all clients.
func ClientNames() []string {
	var names []string
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// Of are the lists of one scope.
func (c Client) Of(lists []List, scope Scope) ([]List, error) {
	if !slices.Contains(c.Scopes, scope) {
		var names []string
		for _, s := range c.Scopes {
			names = append(names, string(s))
		}
		return nil, fmt.Errorf("%w: the scope is %s, not %q", sayso.ErrInvalid, strings.Join(names, " or "), scope)
	}
	return slices.DeleteFunc(slices.Clone(lists), func(l List) bool { return l.Scope != scope }), nil
}

// The ways in which lists are written. Some clients take comments.
var (
	strictList = listing{keys: []string{"mcpServers"}, read: parse, string: stringOf, remote: plainRemote}
	looseList  = listing{keys: []string{"mcpServers"}, read: parseLoose, string: stringOf, remote: plainRemote}
)

// The ways in which entries have addresses.
var (
	plainRemote   = remote{url: "url", kinds: kindsOf("stdio", "http", "sse"), headers: "headers", env: "env"}
	geminiRemote  = remote{url: "httpUrl", kinds: kindsOf("", ""), headers: "headers", env: "env"}
	cursorRemote  = remote{url: "url", kinds: kindsOf("stdio", "", "http", "sse"), headers: "headers", env: "env"}
	codexRemote   = remote{url: "url", kinds: kindsOf("", ""), headers: "http_headers", env: "env", bearer: "bearer_token_env_var", passed: "env_vars", only: codexOnly}
	openRemote    = remote{url: "url", kinds: kindsOf("local", "remote"), headers: "headers", env: "environment", only: []string{"enabled", "timeout"}}
	desktopRemote = remote{never: "Claude Desktop is not known to take addresses from this list"}
)

// codexOnly are what Codex takes in the entry of a program as in that of an address; for
// anything else it would refuse the whole file.
var codexOnly = []string{
	"enabled", "required", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "enabled_tools", "disabled_tools", "default_tools_approval_mode", "tools",
}

// with is the listing of a client whose entries have addresses in another way.
func (l listing) with(r remote) listing {
	l.remote = r
	return l
}

func list(scope Scope, form listing, path ...string) List {
	return List{Scope: scope, Path: filepath.Join(path...), form: form}
}

// inProject are the lists of a name in a directory and in those above it, up to
// the root of its repository.
func inProject(form listing, dir string, names ...string) []List {
	var all []List
	for _, folder := range upward(dir) {
		for _, name := range names {
			all = append(all, list(ScopeProject, form, folder, name))
		}
	}
	return all
}

// claudeLists are the person's list and that of each project, which stand in one
// file that Claude Code keeps, and the list that a project shares.
func claudeLists(getenv func(string) string, dir string) []List {
	folder := getenv("CLAUDE_CONFIG_DIR")
	if folder == "" {
		folder = getenv("HOME")
	}
	all := []List{list(ScopeUser, strictList, folder, ".claude.json")}
	all = append(all, inProject(strictList, dir, ".mcp.json")...)
	for _, project := range upward(dir) {
		local := listing{keys: []string{"projects", project, "mcpServers"}, read: parse, string: stringOf, remote: plainRemote}
		all = append(all, list(ScopeLocal, local, folder, ".claude.json"))
	}
	return all
}

func desktopLists(getenv func(string) string, _ string) []List {
	folder := filepath.Join(getenv("HOME"), "Library", "Application Support")
	if !isDir(folder) {
		folder = configFolder(getenv)
	}
	return []List{list(ScopeUser, strictList.with(desktopRemote), folder, "Claude", "claude_desktop_config.json")}
}

// configFolder is where programs keep settings of the person.
func configFolder(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(getenv("HOME"), ".config")
}

func codexLists(getenv func(string) string, dir string) []List {
	form := listing{keys: []string{"mcp_servers"}, read: parseTOML, string: tomlText, remote: codexRemote}
	own := list(ScopeUser, form, codexFolder(getenv), "config.toml")
	return append([]List{own}, other(own, inProject(form, dir, filepath.Join(".codex", "config.toml")))...)
}

// other leaves out the file that is the person's own: in the home folder the two
// are one.
func other(own List, lists []List) []List {
	return slices.DeleteFunc(lists, func(l List) bool { return l.Path == own.Path })
}

func geminiLists(getenv func(string) string, dir string) []List {
	var all []List
	for _, p := range geminiPlaces(getenv, dir) {
		if p.Scope == ScopeUser || p.Scope == ScopeProject && dir != "" {
			all = append(all, list(p.Scope, looseList.with(geminiRemote), p.Path))
		}
	}
	return all
}

func copilotLists(getenv func(string) string, dir string) []List {
	own := list(ScopeUser, looseList, copilotFolder(getenv), "mcp-config.json")
	all := append([]List{own}, inProject(looseList, dir, ".mcp.json", filepath.Join(".github", "mcp.json"))...)
	for i, l := range all {
		all[i].Other = filepath.Base(l.Path) == ".mcp.json" // it is Claude Code's
	}
	return all
}

func vscodeLists(getenv func(string) string, dir string) []List {
	form := listing{keys: []string{"servers"}, read: parseLoose, string: stringOf, remote: plainRemote}
	own := list(ScopeUser, form, vscodeFolder(getenv), "mcp.json")
	return append([]List{own}, inProject(form, dir, filepath.Join(".vscode", "mcp.json"))...)
}

func cursorLists(getenv func(string) string, dir string) []List {
	form := looseList.with(cursorRemote)
	own := list(ScopeUser, form, getenv("HOME"), ".cursor", "mcp.json")
	return append([]List{own}, other(own, inProject(form, dir, filepath.Join(".cursor", "mcp.json")))...)
}

// opencodeLists are all files that opencode takes together.
func opencodeLists(getenv func(string) string, dir string) []List {
	form := listing{keys: []string{"mcp"}, read: parseLoose, string: stringOf, joined: true, remote: openRemote}
	var all []List
	for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
		all = append(all, list(ScopeUser, form, configFolder(getenv), "opencode", name))
	}
	if path := getenv("OPENCODE_CONFIG"); path != "" {
		all = append(all, list(ScopeUser, form, path))
	}
	return append(all, inProject(form, dir, "opencode.json", "opencode.jsonc",
		filepath.Join(".opencode", "opencode.json"), filepath.Join(".opencode", "opencode.jsonc"))...)
}
