package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Server is one entry of a client's list of MCP servers.
type Server struct {
	Name    string   // in the list
	Command []string // what is started in the end; empty for one that is reached by an address
	URL     string
	// Odd is why the entry is left as it is; empty for one that is understood.
	Odd string
	// Gated reports whether the server is started by a program called sayso, as a
	// gateway, and Known is the name by which policies know it then. Which program that
	// is and which gate it asks is another matter: see [Server.Asks].
	Gated   bool
	Known   string
	Program string   // it need not have a path
	Flags   []string // of it
	Moves   []string // what else in the entry may have it ask another gate
	State   string   // the folder of the gate that is asked; empty if the entry does not say

	// Of a server with an address, Left is why the client reaches it itself, whatever is
	// asked for, and Open reports whether nothing in the entry says who asks: the client
	// may log in to it, and behind the gate a person may have to.
	Left string
	Open bool
}

// Gateway is how a server is started behind the gate: our program, an absolute
// path, and where the gate is.
type Gateway struct {
	Program string
	Place   []string
}

// List is one file with servers, for one scope.
type List struct {
	Scope Scope
	Path  string
	// Other reports whether it is the list of another client, which this one reads
	// too.
	Other bool
	form  listing
}

// listing is how a file holds servers: in which object, and how an entry is
// written.
type listing struct {
	keys   []string                          // where the object is
	read   func([]byte) (*node, error)       // into nodes
	string func(text []byte, n *node) string // of a string
	joined bool                              // an entry's command is one list with its arguments
	remote remote                            // how an entry has an address
}

// Servers reads a list. A file that does not exist is empty.
func (l List) Servers(text []byte) ([]Server, error) {
	object, err := l.object(text)
	if err != nil {
		return nil, err
	}
	var all []Server
	for _, m := range members(object) {
		all = append(all, l.server(text, m))
	}
	return all, nil
}

func (l List) object(text []byte) (*node, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	n, err := l.form.read(text)
	if err != nil {
		return nil, err
	}
	for _, key := range l.form.keys {
		if n.kind != '{' {
			return nil, fmt.Errorf("%w: what holds %q is no object", sayso.ErrInvalid, key)
		}
		if n = n.get(key); n == nil {
			return nil, nil
		}
	}
	if n.kind != '{' {
		return nil, fmt.Errorf("%w: %q is no object", sayso.ErrInvalid, strings.Join(l.form.keys, "."))
	}
	return n, nil
}

func members(n *node) []member {
	if n == nil {
		return nil
	}
	return n.members
}

// server reads one entry.
func (l List) server(text []byte, m member) Server {
	s := Server{Name: m.name}
	words, odd := l.words(text, m.value)
	for _, name := range []string{"url", "httpUrl", "serverUrl"} {
		if s.URL = l.form.string(text, m.value.get(name)); s.URL != "" {
			break
		}
	}
	switch {
	case len(words) > 0:
		if s.through(words); s.Gated {
			s.Moves = moves(m.value, s.URL)
		}
		s.URL = ""
		if s.Gated && len(s.Command) == 0 {
			s.URL = l.address(text, m.value, s.Flags)
		}
	case odd != "":
		s.Odd = odd
	case s.URL == "":
		s.Odd = "the entry has neither a command nor an address"
	default:
		s.Left, s.Open = l.left(text, m.value)
	}
	return s
}

// words are the command of an entry with its arguments.
func (l List) words(text []byte, entry *node) (words []string, odd string) {
	command, args := entry.get("command"), entry.get("args")
	var list []*node
	switch {
	case entry.kind != '{':
		return nil, "the entry is no object"
	case command == nil:
		return nil, ""
	case l.form.joined:
		if command.kind != '[' || args != nil {
			return nil, "its command is no list"
		}
		list = command.elements
	default:
		if args != nil && args.kind != '[' {
			return nil, "its arguments are no list"
		}
		list = append([]*node{command}, elements(args)...)
	}
	for _, n := range list {
		if n.kind != '"' {
			return nil, "its command is not made of strings"
		}
		words = append(words, l.form.string(text, n))
	}
	if len(words) == 0 || words[0] == "" {
		return nil, "its command is empty"
	}
	return words, ""
}

// through reads what a command starts, if it is our gateway.
func (s *Server) through(words []string) {
	end := gateway(words)
	if end == 0 && overHTTP(words) {
		s.Gated, s.Program, s.Flags = true, words[0], words[2:]
		s.Known, s.State = valueOf(s.Flags, "--name"), valueOf(s.Flags, "--state-dir")
		return
	}
	if end == 0 {
		s.Command = words
		if slices.ContainsFunc(words, func(w string) bool { return filepath.Base(w) == "sayso" }) {
			s.Odd = "its command names sayso in another way than sayso init mcp writes it"
		}
		return
	}
	flags := words[2 : end-1]
	s.Gated, s.Program, s.Flags, s.Command = true, words[0], flags, words[end:]
	s.Known, s.State = valueOf(flags, "--name"), valueOf(flags, "--state-dir")
}

// gateway is how many words of a command are our gateway's, up to the command of
// the server; 0 if it is none.
func gateway(words []string) int {
	if len(words) < 4 || filepath.Base(words[0]) != "sayso" || words[1] != "mcp" {
		return 0
	}
	end := slices.Index(words, "--")
	if end < 0 || end == len(words)-1 {
		return 0
	}
	return end + 1
}

func valueOf(flags []string, name string) string {
	for i, f := range flags {
		if value, ok := strings.CutPrefix(f, name+"="); ok {
			return value
		}
		if f == name && i+1 < len(flags) {
			return flags[i+1]
		}
	}
	return ""
}

// unruly is what clients replace in names of servers before they make names of
// tools of them.
var unruly = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// RuleName is the name by which the tools of a server are known to policies, in
// the client as behind the gateway.
func RuleName(name string) string { return unruly.ReplaceAllString(name, "_") }

// Put returns a list in which the named servers, all if none is named, are
// started behind the gate. Those that are already, and those that have no
// command, stay as they are.
func (l List) Put(text []byte, g Gateway, names []string) ([]byte, error) {
	if !filepath.IsAbs(g.Program) {
		return nil, fmt.Errorf("%w: the program must be an absolute path, not %q", sayso.ErrInvalid, g.Program)
	}
	wanted := func(s Server) bool {
		return !s.Gated && s.Odd == "" && (len(s.Command) > 0 || s.Left == "") && meant(s, names)
	}
	return l.each(text, wanted, func(text []byte, m member) ([]byte, error) {
		if m.value.get("command") == nil {
			return l.bring(text, m, g)
		}
		name := []string{"--name", RuleName(m.name)}
		if l.form.joined || m.value.get("args") != nil {
			return l.wrap(text, m.value, slices.Concat([]string{g.Program, "mcp"}, name, g.Place, []string{"--"}))
		}
		return l.wrap(text, m.value, slices.Concat([]string{g.Program, "mcp"}, g.Place, name, []string{"--"}))
	})
}

// Take returns a list in which the named servers, all if none is named, are
// started by the client again, wherever the gateway's program is.
func (l List) Take(text []byte, names []string) ([]byte, error) {
	return l.each(text, func(s Server) bool { return s.Gated && meant(s, names) && (len(s.Command) > 0 || s.Brought()) }, func(text []byte, m member) ([]byte, error) {
		words, _ := l.words(text, m.value)
		if overHTTP(words) {
			return l.giveBack(text, m, words[2:])
		}
		n := gateway(words)
		return l.unwrap(text, m.value, n, n == len(words)-1 && madeArgs(words[:n])), nil
	})
}

// madeArgs reports whether the entry had no arguments before we gave it some: then
// the name is behind the place of the gate, and not before it.
func madeArgs(words []string) bool {
	n := len(words)
	return n > 5 && words[n-3] == "--name"
}

func meant(s Server, names []string) bool { return len(names) == 0 || slices.Contains(names, s.Name) }

// each edits the entries that are wanted one after the other, and checks that
// nothing else about the servers became another.
func (l List) each(text []byte, wanted func(Server) bool, edit func([]byte, member) ([]byte, error)) ([]byte, error) {
	before, err := l.Servers(text)
	if err != nil {
		return nil, err
	}
	out := text
	for i, s := range before {
		if !wanted(s) {
			continue
		}
		object, err := l.object(out)
		if err != nil {
			return nil, err
		}
		if out, err = edit(out, object.members[i]); err != nil {
			return nil, err
		}
	}
	after, err := l.Servers(out)
	if err != nil || !slices.EqualFunc(before, after, sameServer) {
		return nil, fmt.Errorf("the edited list does not hold the same servers (%v); nothing was written", err)
	}
	return out, nil
}

func sameServer(a, b Server) bool {
	return a.Name == b.Name && a.URL == b.URL && a.Odd == b.Odd && slices.Equal(a.Command, b.Command)
}

// wrap puts words before the command of an entry. The command is moved as it is
// written.
func (l List) wrap(text []byte, entry *node, words []string) ([]byte, error) {
	var items [][]byte
	for _, w := range words {
		item, err := jcs.Marshal(w) // a string of JSON is one of TOML
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	command := entry.get("command")
	if l.form.joined {
		return before(text, command, items), nil
	}
	program, items := items[0], append(items[1:], command.raw(text))
	i := slices.IndexFunc(entry.members, func(m member) bool { return m.name == "command" })
	args := entry.get("args")
	if args == nil {
		m := entry.members[i]
		out := slices.Concat(text[:m.value.from], program, text[m.value.to:])
		return slices.Concat(out[:m.from], argsBefore(text, entry, m, items), out[m.from:]), nil
	}
	if args.from > command.from {
		out := before(text, args, items)
		return slices.Concat(out[:command.from], program, out[command.to:]), nil
	}
	out := slices.Concat(text[:command.from], program, text[command.to:])
	return before(out, args, items), nil
}

// argsBefore is a member with arguments, as it stands before the command, with
// what separates the two.
func argsBefore(text []byte, entry *node, m member, items [][]byte) []byte {
	key := string(text[m.from:m.value.from])
	if at := strings.LastIndex(key, "command"); at >= 0 {
		key = key[:at] + "args" + key[at+len("command"):]
	} else { // it is written in another way
		key = `"args": `
	}
	gap := text[len(bytes.TrimRight(text[:m.from], " \t\r\n")):m.from]
	if i := bytes.LastIndexByte(gap, '\n'); i > 0 { // one line of it
		gap = gap[i:]
	}
	switch {
	case text[entry.from] == '{':
		gap = slices.Concat([]byte(","), gap)
	case len(gap) == 0: // the first line of a file
		gap = []byte("\n")
	}
	return slices.Concat([]byte(key), []byte("["), bytes.Join(items, []byte(", ")), []byte("]"), gap)
}

// before puts items before those of a list, in its own layout.
func before(text []byte, list *node, items [][]byte) []byte {
	if len(list.elements) == 0 {
		at := list.from + 1
		return slices.Concat(text[:at], bytes.Join(items, []byte(", ")), text[at:])
	}
	first := list.elements[0].from
	between := []byte(", ")
	if gap := text[list.from+1 : first]; bytes.ContainsRune(gap, '\n') && len(bytes.TrimSpace(gap)) == 0 {
		between = slices.Concat([]byte(","), gap)
	} else if n := list.elements; len(n) > 1 && n[1].from == n[0].to+1 {
		between = []byte(",")
	}
	return slices.Concat(text[:first], bytes.Join(items, between), between, text[first:])
}

// unwrap takes the first n words of an entry's command away, and the arguments
// altogether if they were made by us and none is left.
func (l List) unwrap(text []byte, entry *node, n int, made bool) []byte {
	command := entry.get("command")
	if l.form.joined {
		return without(text, command, n)
	}
	args := entry.get("args")
	program := bytes.Clone(args.elements[n-1].raw(text)) // the first word is the command's own
	if args.from > command.from {
		out := without(text, args, n)
		return slices.Concat(out[:command.from], program, out[command.to:])
	}
	out := slices.Concat(text[:command.from], program, text[command.to:])
	place := func(name string) int {
		return entry.members[slices.IndexFunc(entry.members, func(m member) bool { return m.name == name })].from
	}
	from, to := place("args"), place("command")
	between := string(bytes.TrimSpace(text[args.to:to]))
	if !made || between != "" && between != "," { // or somebody wrote between the two
		return without(out, args, n)
	}
	return slices.Concat(out[:from], out[to:])
}

// without takes the first n items of a list away.
func without(text []byte, list *node, n int) []byte {
	from := list.elements[0].from
	if len(list.elements) > n {
		return slices.Concat(text[:from], text[list.elements[n].from:])
	}
	rest := text[list.elements[n-1].to : list.to-1]
	rest = bytes.TrimPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(","))
	return slices.Concat(text[:from], rest, text[list.to-1:])
}
