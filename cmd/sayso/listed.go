package main

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/status"
)

// listed is what the lists of a client say of its MCP servers.
type listed struct {
	Client  string   `json:"client"`
	Through []string `json:"through"` // the gate, by sayso mcp
	Unknown []string `json:"unknown"` // started by a sayso, and not known to ask this gate
	Round   []string `json:"round"`   // the gateway
	// Hook is whether the client's hook asks about the calls of all of them; empty
	// if it has none of ours.
	Hook  status.Protection `json:"hook,omitzero"`
	Notes []string          `json:"notes"` // what is doubtful
	Type  string            `json:"type,omitzero"`
	Helps string            `json:"helps,omitzero"` // what can be done about those round the gate that init mcp leaves

	client install.Client
}

// listed reads the lists of all clients that have servers. The wirings say which
// of them have a hook.
func (a *app) listed(dir string, wired []status.Wiring) []listed {
	all := []listed{}
	known := map[string]namesake{}
	for _, c := range install.Clients() {
		l := a.look(c, dir, known)
		if len(l.Through)+len(l.Unknown)+len(l.Round)+len(l.Notes) == 0 {
			continue
		}
		l.Hook = hookOf(c, wired)
		all = append(all, l)
	}
	return all
}

// hookOf is what the hook of a client's host is worth.
func hookOf(c install.Client, wired []status.Wiring) status.Protection {
	for _, w := range wired {
		if c.Host != "" && w.Host == c.Host && w.State != status.NotProtected {
			return w.State
		}
	}
	return ""
}

// namesake is the server that the gate knows by a name.
type namesake struct{ client, command string }

func (a *app) look(c install.Client, dir string, known map[string]namesake) listed {
	l := listed{Client: c.Name, Through: []string{}, Unknown: []string{}, Round: []string{}, Notes: []string{}, client: c}
	var through, round []install.Server
	for _, list := range a.counting(c, dir) {
		_, servers, err := readList(list)
		if err != nil {
			l.Notes = append(l.Notes, fmt.Sprintf("%s cannot be read, so what it lists is not known: %v", list.Path, err))
		}
		for _, s := range servers {
			if s.Gated {
				if why := a.elsewhere(s); why != "" {
					l.Unknown = append(l.Unknown, s.Name)
					l.Notes = append(l.Notes, s.Name+" "+why+again(c, list, s))
				} else {
					through = append(through, s)
					l.Through = append(l.Through, s.Name)
				}
				l.Notes = append(l.Notes, a.doubts(s, c.Name, known)...)
				continue
			}
			round = append(round, s)
			l.Round = append(l.Round, s.Name+by(s))
			if s.Odd == "" && s.Left == "" && l.Type == "" {
				l.Type = "sayso init mcp " + c.Name + " --scope " + string(list.Scope)
			}
		}
	}
	if len(round) > 0 && l.Type == "" {
		l.Helps = helps(c)
	}
	for _, r := range round {
		if twin := slices.IndexFunc(through, func(s install.Server) bool { return slices.Equal(s.Command, r.Command) && s.URL == r.URL }); twin >= 0 {
			l.Notes = append(l.Notes, fmt.Sprintf("%s is the same server as %s, and goes round the gate", r.Name, through[twin].Name))
		}
	}
	return l
}

// helps is what can be done about servers that init mcp leaves as they are.
func helps(c install.Client) string {
	var ways []string
	if c.Host != "" {
		ways = append(ways, "type sayso init "+c.Host+", whose hook asks about the calls of all servers")
	}
	return strings.Join(append(ways, "take it out of the list of "+c.Title), "; or ")
}

// does is the command that helps at once, if one does.
func (l listed) does() string {
	switch {
	case l.Type != "" || len(l.Round) == 0:
		return l.Type
	case l.client.Host != "" && l.Hook == "":
		return "sayso init " + l.client.Host
	}
	return "sayso init mcp " + l.Client + " --dry-run"
}

// counting are the lists of a client that count: that of another client does if
// the client is in use here, which is to say has a list of its own.
func (a *app) counting(c install.Client, dir string) []install.List {
	all := c.Lists(a.getenv, dir)
	if slices.ContainsFunc(all, func(l install.List) bool {
		_, err := os.Stat(l.Path)
		return !l.Other && err == nil
	}) {
		return all
	}
	return slices.DeleteFunc(all, func(l install.List) bool { return l.Other })
}

// by says why a server cannot be put behind the gate, where it cannot.
func by(s install.Server) string {
	switch {
	case s.Odd != "":
		return " (" + s.Odd + ")"
	case s.URL != "" && onThisMachine(s.URL):
		return " (over HTTP on this machine; whether sayso mcp --listen is there is not known)"
	case s.Open:
		return " (over HTTP, where the client may log in)"
	case s.URL != "":
		return " (over HTTP)"
	}
	return ""
}

// onThisMachine reports whether an address may be one of our own.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// again is what to type so that an entry is written anew.
func again(c install.Client, l install.List, s install.Server) string {
	if l.Other || !slices.Contains(c.Scopes, l.Scope) {
		return ""
	}
	return fmt.Sprintf("; type: sayso init mcp %s %s --scope %s --undo, then the same without --undo", c.Name, s.Name, l.Scope)
}

// elsewhere is why a server whose entry names a gateway is not known to go through
// this gate; empty if it does: the program is this one, told to ask here, and nothing
// in the entry moves it.
func (a *app) elsewhere(s install.Server) string {
	if !filepath.IsAbs(s.Program) {
		return "is started by " + quote(s.Program) + ", without the path of a program, so which one that is is not known"
	}
	if err := runnable(s.Program); err != nil {
		return "does not start: " + err.Error()
	}
	own, err := a.ownProgram()
	if err != nil {
		return "is not known to be started by this program: " + err.Error()
	}
	if !sameFile(own, s.Program) {
		return "is started by another program than this one, " + s.Program
	}
	if s.State != "" && s.State != a.paths.State {
		return "asks another gate, which keeps its log in " + s.State
	}
	if why := s.Asks(a.placeArgs()); why != "" {
		return "is not known to ask this gate: " + why
	}
	return ""
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// doubts are what may be taken for something else of a server that has a gateway.
func (a *app) doubts(s install.Server, client string, known map[string]namesake) (notes []string) {
	if name := cmp.Or(s.Known, s.Name); name != install.RuleName(s.Name) {
		notes = append(notes, fmt.Sprintf("%s is %s to the gate, so rules for one are not rules for the other", s.Name, name))
	}
	if why := clash(s, client, known); why != "" {
		notes = append(notes, why)
	}
	return notes
}

// clash says of a server whose name another one has what comes of it; else it is
// known by that name from now on.
func clash(s install.Server, client string, known map[string]namesake) string {
	name, command := cmp.Or(s.Known, s.Name), strings.Join(append(slices.Clip(s.Command), s.URL), "\x00")
	if other, taken := known[name]; taken && other.command != command {
		return fmt.Sprintf("%s is also the name of another server, of %s: the gate takes the one for a change of the other, and its tools wait for sayso tools accept; "+
			"give it another name, by its key in the list before it is put behind the gate, or by --name in its entry", name, other.client)
	}
	known[name] = namesake{client, command}
	return ""
}

// namesakes are the servers behind the gate in the lists of all clients, but for one
// list.
func (a *app) namesakes(but install.List) map[string]namesake {
	known := map[string]namesake{}
	dir, err := os.Getwd()
	if err != nil {
		return known // only those of a project are not known
	}
	for _, c := range install.Clients() {
		for _, l := range a.counting(c, dir) {
			if l.Path == but.Path && l.Scope == but.Scope {
				continue
			}
			_, servers, _ := readList(l) // one that cannot be read is told by status
			for _, s := range servers {
				if s.Gated {
					clash(s, c.Name, known)
				}
			}
		}
	}
	return known
}

// lines are about a client; none where there is nothing to be said: a hook that
// asks about everything makes lists indifferent.
func (l listed) lines() []string {
	if l.Hook == status.Protected && len(l.Through)+len(l.Unknown)+len(l.Notes) == 0 {
		return nil
	}
	var parts []string
	if n := len(l.Through); n > 0 {
		parts = append(parts, strings.Join(l.Through, ", ")+verb(n, " goes", " go")+" through the gate")
	}
	if n := len(l.Unknown); n > 0 {
		parts = append(parts, "whether "+strings.Join(l.Unknown, ", ")+verb(n, " goes", " go")+" through this gate is not known")
	}
	if n := len(l.Round); n > 0 {
		how := " round the gate"
		switch l.Hook {
		case status.Protected:
			how = " round sayso mcp, and the hook asks about calls"
		case status.Unknown:
			how = " round the gate, unless the hook asks about calls, which is not known"
		}
		parts = append(parts, strings.Join(l.Round, ", ")+verb(n, " goes", " go")+how)
	}
	switch {
	case l.Type != "":
		parts = append(parts, "type: "+l.Type)
	case l.Helps != "" && l.Hook == "":
		parts = append(parts, "what helps: "+l.Helps)
	}
	var lines []string
	if len(parts) > 0 {
		lines = append(lines, l.Client+": "+strings.Join(parts, "; "))
	}
	for _, note := range l.Notes {
		lines = append(lines, l.Client+": "+note)
	}
	return lines
}

func verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// mcpWirings are about clients of which some server was put behind the gate, and
// that have no hook of ours. None of them is said to be protected: what a client
// can do besides, or whether it was ever seen to obey its list, is another
// matter.
func (a *app) mcpWirings(dir string, wired []status.Wiring) []status.Wiring {
	var all []status.Wiring
	for _, c := range install.Clients() {
		if hookOf(c, wired) != "" || !a.anyGated(c, dir) {
			continue
		}
		l := a.look(c, dir, map[string]namesake{})
		w := status.Wiring{Host: "mcp/" + c.Name, State: status.NotProtected}
		_, hasHook := install.Find(c.Host)
		switch {
		case len(l.Round) > 0:
			w.Why = strings.Join(l.Round, ", ") + verb(len(l.Round), " goes", " go") + " round the gate"
			if l.Type != "" {
				w.Why += "; type: " + l.Type
			}
		case len(l.Notes) > 0:
			w.State, w.Why = status.Unknown, l.Notes[0]
		case c.Bare:
			w.State, w.Why = status.Unknown, "what "+c.Title+" lists goes through the gate, and nobody has seen it obey its list"
			w.Proof = "have " + c.Title + " make a call, and see that the call waits: nothing else proves that the gate is live"
		case hasHook:
			w.Why = "MCP servers go through the gate, and tools of its own do not; type: sayso init " + c.Host
		default:
			w.Why = "MCP servers go through the gate, and tools of its own do not"
		}
		all = append(all, w)
	}
	return all
}

// anyGated reports whether a client has a server behind the gate. A list that
// does not name us is not read any further.
func (a *app) anyGated(c install.Client, dir string) bool {
	return slices.ContainsFunc(c.Lists(a.getenv, dir), func(l install.List) bool {
		text, err := install.Read(l.Path)
		if err != nil || l.Other || !bytes.Contains(text, []byte("sayso")) {
			return false
		}
		servers, err := l.Servers(text)
		return err == nil && slices.ContainsFunc(servers, func(s install.Server) bool { return s.Gated })
	})
}

// helping is what can be done where no command does it alone.
func (l listed) helping() string {
	if l.Helps == "" {
		return ""
	}
	return "; what helps: " + l.Helps
}

// servers tells of the MCP servers that clients list.
func (d *doctor) servers(dir string) {
	for _, l := range d.listed(dir, d.wirings(dir)) {
		d.about = install.Host{Name: l.Client}
		if len(l.Through) > 0 {
			d.add("servers", ok, "", "%s: through the gate", strings.Join(l.Through, ", "))
		}
		for _, note := range l.Notes {
			d.add("servers", warn, "sayso init mcp "+l.Client+" --dry-run", "%s", note)
		}
		if len(l.Round) == 0 {
			continue
		}
		round := strings.Join(l.Round, ", ")
		switch {
		case l.Hook == status.Protected:
			d.add("servers", ok, "", "%s: round sayso mcp; the hook asks about calls", round)
		case l.Hook == "" && len(l.Through) > 0:
			d.add("servers", fail, l.does(), "%s: round the gate%s", round, l.helping())
		default:
			d.add("servers", warn, l.does(), "%s: round the gate%s", round, l.helping())
		}
	}
}
