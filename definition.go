package sayso

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// HostMCP is the host of calls that come through the MCP gateway. Such a call
// names the definition of its tool, unless the server never listed it.
const HostMCP = "mcp"

// DefinitionStream is the stream of what is known of MCP servers and their tools.
const DefinitionStream = "definitions"

// Definition is what an MCP server says of one of its tools, all of it, or what
// the server itself is, where Tool is empty.
type Definition struct {
	Tool string
	Text Args // in canonical form
}

// Digest identifies the definition.
func (d Definition) Digest() Digest { return HashOf("sayso/definition/1", []byte(d.Tool), d.Text) }

// DefinitionSeen is the payload of definition.accepted and of
// definition.quarantined. The definition itself lies in the erasable part.
type DefinitionSeen struct {
	Server string `json:"server"`
	Tool   string `json:"tool"` // empty for the server itself
	Digest Digest `json:"digest"`
	Was    Digest `json:"was"`            // of the one that was trusted before
	First  bool   `json:"first,omitzero"` // trusted since nothing was known under this name
	// Full says that the server presented more than is kept of one server, this
	// tool among it: from here on nothing new of it is recorded, nor trusted.
	Full bool `json:"full,omitzero"`
}

// DefinitionFull is the erasable part of DefinitionSeen.
type DefinitionFull struct {
	Definition Args `json:"definition"`
}

// Pin is what is known of one definition: the one that is trusted and, if the
// server came with another, that one, which is in quarantine.
type Pin struct {
	Trusted     Digest
	Text        Args   // of the trusted one; empty where it was erased
	Quarantined Digest // zero if none is
	Other       Args   // the text of the one in quarantine
	By          Actor  // who trusted it
	At          Moment // of the newest event

	first int // which event of the stream told of it first, from 1
}

// Trusts reports whether d is the definition that is trusted.
func (p Pin) Trusts(d Definition) bool { return !p.Trusted.IsZero() && p.Trusted == d.Digest() }

// Pins are the definitions of all servers, by server and tool. A copy stays as it
// is when the original goes on.
type Pins struct {
	known map[string]map[string]Pin
	Len   int // events in the stream
	met   map[string]Met
}

// Met is how much a server has had recorded since a person accepted a definition
// of it, or ever.
type Met struct {
	Bytes int  // of all its definitions
	Again int  // changes of tools that waited to be accepted already
	Full  bool // that there was more is on the record
}

// Met is how much a server has had recorded since a person accepted a definition
// of it, or ever.
func (p *Pins) Met(server string) Met { return p.met[server] }

// Servers are the names of the servers that are known, sorted.
func (p *Pins) Servers() []string { return slices.Sorted(maps.Keys(p.known)) }

// Of are the definitions of one server by tool; the server itself has none.
func (p *Pins) Of(server string) map[string]Pin { return p.known[server] }

// Earlier reports whether the tool a of a server was known before its tool b. One
// that is not known comes after all others.
func (p *Pins) Earlier(server, a, b string) bool {
	first, second := p.known[server][a].first, p.known[server][b].first
	return first != 0 && (second == 0 || first < second)
}

// Alike names, for each tool of a server that looks like another which was known
// before it, that other. Where the server lists both, such a tool is left out.
func (p *Pins) Alike(server string) map[string]string {
	known := p.known[server]
	names := slices.SortedFunc(maps.Keys(known), func(a, b string) int { return known[a].first - known[b].first })
	of, alike := map[string]string{}, map[string]string{}
	for _, name := range names {
		if name == "" {
			continue // the server itself
		}
		looks := Appearance(server, name)
		if other, taken := of[looks]; taken {
			alike[name] = other
		} else {
			of[looks] = name
		}
	}
	return alike
}

// Appearance is what the names of two tools of a server have in common that people
// cannot tell apart.
func Appearance(server, tool string) string {
	name, _ := Call{Server: server, Tool: tool}.CanonicalName()
	name = strings.ToLower(strings.ReplaceAll(name, "I", "l"))
	return strings.NewReplacer("1", "l", "0", "o", "-", "_", ".", "_").Replace(name)
}

// Apply adds the next event of the stream. On error p is unchanged.
func (p *Pins) Apply(e *Event) error {
	if e.Type != EventDefinitionAccepted && e.Type != EventDefinitionQuarantined {
		p.Len++
		return nil
	}
	seen, err := readPayload[DefinitionSeen](e)
	if err != nil {
		return fmt.Errorf("event %d (%s) of %s: %w", e.Seq, e.Type, e.Stream, err)
	}
	text, err := definitionText(e)
	if err != nil {
		return fmt.Errorf("event %d (%s) of %s: %w", e.Seq, e.Type, e.Stream, err)
	}
	p.count(e, seen, len(text))
	if seen.Full {
		p.Len++
		return nil
	}
	pin := p.known[seen.Server][seen.Tool]
	pin.At = e.At
	if e.Type == EventDefinitionAccepted {
		pin = Pin{Trusted: seen.Digest, Text: text, By: e.Actor, At: e.At, first: pin.first}
	} else {
		pin.Quarantined, pin.Other = seen.Digest, text
	}
	tools := maps.Clone(p.known[seen.Server])
	if tools == nil {
		tools = map[string]Pin{}
	}
	if pin.first == 0 {
		pin.first = p.Len + 1
	}
	tools[seen.Tool] = pin
	if p.known = maps.Clone(p.known); p.known == nil {
		p.known = map[string]map[string]Pin{}
	}
	p.known[seen.Server] = tools
	p.Len++
	return nil
}

// count adds an event to what its server has had recorded.
func (p *Pins) count(e *Event, seen *DefinitionSeen, bytes int) {
	m := p.met[seen.Server]
	m.Bytes += bytes
	m.Full = m.Full || seen.Full
	switch again := !p.known[seen.Server][seen.Tool].Quarantined.IsZero(); {
	case e.Type == EventDefinitionAccepted && !seen.First: // by a person, who looked
		m = Met{}
	case e.Type == EventDefinitionQuarantined && again && !seen.Full:
		m.Again++
	}
	if p.met = maps.Clone(p.met); p.met == nil {
		p.met = map[string]Met{}
	}
	p.met[seen.Server] = m
}

// definitionText is the definition that an event tells of; empty where it was
// erased.
func definitionText(e *Event) (Args, error) {
	c, err := e.content()
	if err != nil || len(c.Full) == 0 {
		return nil, err
	}
	var full DefinitionFull
	err = jcs.UnmarshalLenient(c.Full, &full)
	return full.Definition, err
}
