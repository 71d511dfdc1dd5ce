// Package cover finds the ways in which a yes to a call may be remembered, and
// with the same rules the remembered yeses that cover a call.
//
// A way says what calls are compared with, as a digest, and shows it, as a
// pattern and in words. It is taken from the call as it will run and from the
// facts, never from what is displayed. The two directions share one function, so
// that nothing is covered that would not have been offered: a way that begins
// with the words of a command covers another command only if that one, taken by
// itself, leads to the same way.
//
// Beyond the exact call and what a trusted tool takes for the same, nothing that
// is dangerous is covered; no command that runs another, that is an interpreter's,
// that writes files by a redirection or an option, or that is known only when it
// runs; no patch, which may change any files in any way; no path that was not resolved, no control file and none that holds
// credentials; no address on this machine or network.
package cover

import (
	"maps"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Subject is a call as covers see it. It is for one goroutine, and is not changed
// once it was asked about.
type Subject struct {
	Call   sayso.Call
	Facts  sayso.Facts
	Digest sayso.Digest // of the call
	Pins   sayso.Digest // of its facts; see [Pins]
	// Payload is what a trusted tool takes for the same call; empty where there is
	// none. Ignores are the arguments that it leaves out.
	Payload sayso.Args
	Ignores []string
	Danger  []sayso.Danger // that policy names

	wide   []covered // what was found, once it was looked for
	looked bool
}

// Way is one way to remember a yes to a call.
type Way struct {
	Offer   sayso.CoverOffer
	Matches sayso.Digest // what it matches on
	Pins    sayso.Digest // what else must be the same; zero for covers that are not bound to it
	// Once says that not all of what must be the same is known, so that it is for
	// one use.
	Once bool
}

// Key is what a grant of this way matches on under a version of the policy.
func (w Way) Key(policy string) sayso.Digest {
	return sayso.GrantKey(w.Offer.Cover, w.Matches, w.Pins, policy)
}

// Ways returns what a person may choose from, narrowest first: nothing if a yes
// may not be remembered, and the exact call alone if no further.
func Ways(s *Subject, reach sayso.Remember) []Way {
	ways := narrow(s, reach)
	if reach != sayso.RememberAny {
		return ways
	}
	for _, c := range s.wider() {
		if !c.above {
			ways = append(ways, c.way())
		}
	}
	return ways
}

// Covering returns every way of remembering that covers the call, narrowest
// first: [Ways], and those that were offered for files in folders above.
func Covering(s *Subject, reach sayso.Remember) []Way {
	ways := narrow(s, reach)
	if reach != sayso.RememberAny {
		return ways
	}
	for _, c := range s.wider() {
		ways = append(ways, c.way())
	}
	return ways
}

// narrow are the exact call and what its tool takes for the same.
func narrow(s *Subject, reach sayso.Remember) []Way {
	if reach != sayso.RememberAny && reach != sayso.RememberExact || s.Digest.IsZero() {
		return nil
	}
	ways := []Way{{Offer: sayso.CoverOffer{Cover: sayso.CoverCall, Label: "this exact call"}, Matches: s.Digest, Pins: s.Pins, Once: s.changesUnread()}}
	if reach != sayso.RememberAny {
		return ways
	}
	if c, ok := s.fingerprint(); ok {
		way := c.way()
		if way.Pins = s.Pins; s.Call.EffectiveKind() != sayso.KindShell {
			way.Pins = pinned(places(s.Facts)) // any content, but nowhere else
		}
		ways = append(ways, way)
	}
	return ways
}

// covered is a wide cover with what is shown of it.
type covered struct {
	sayso.Covered
	label, pattern string
	above          bool // of a folder above; covered, and not offered for this call
}

func (c *covered) way() Way {
	return Way{Offer: sayso.CoverOffer{Cover: c.Cover, Label: c.label, Pattern: c.pattern}, Matches: c.Digest()}
}

// fingerprint is what the tool takes for the same call. For a command it counts
// only if a wider cover would: a tool does not know what a line runs.
func (s *Subject) fingerprint() (covered, bool) {
	payload, ok := Payload(s.Payload)
	if !ok || s.Call.EffectiveKind() == sayso.KindShell && (len(s.Danger) > 0 || s.command() == nil) {
		return covered{}, false
	}
	c := s.of(sayso.CoverFingerprint)
	c.Parts = []string{string(payload)}
	c.label, c.pattern = "calls that its tool takes for the same", string(payload)
	if ignores := Ignores(s.Call.Args, payload, s.Ignores); len(ignores) > 0 {
		c.label = "this call with any " + strings.Join(ignores, ", any ")
	}
	return c, true
}

// Payload is the canonical form of what a tool takes for the same call; ok is
// false if there is none, or it is no object that all readers read alike.
func Payload(text sayso.Args) (canonical []byte, ok bool) {
	if len(text) == 0 {
		return nil, false
	}
	canonical, err := jcs.Object(text)
	return canonical, err == nil
}

// Ignores names the arguments that a payload leaves out: those that the tool
// names, and those that the payload does not have at all.
func Ignores(args sayso.Args, payload []byte, named []string) []string {
	var has, keeps map[string]sayso.Args
	if jcs.Unmarshal(args, &has) != nil || jcs.Unmarshal(payload, &keeps) != nil {
		return named // what cannot be read has no digest, and is not admitted
	}
	names := slices.Clone(named)
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if _, kept := keeps[name]; !kept && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// of is a cover of the call's tool in its session.
func (s *Subject) of(cover sayso.Cover) covered {
	tool, server := s.Call.CanonicalName()
	return covered{Covered: sayso.Covered{
		Cover: cover, Session: s.Call.Session, Tool: tool, Server: server, Definition: s.Call.DefinitionDigest,
	}}
}

// ofKind is a cover of all tools of the call's kind.
func (s *Subject) ofKind() covered {
	return covered{Covered: sayso.Covered{
		Cover: sayso.CoverKind, Session: s.Call.Session, Parts: []string{string(s.Call.EffectiveKind())},
	}}
}

// wider are the covers that leave arguments out by our own rules, narrowest
// first. They are looked for once.
func (s *Subject) wider() []covered {
	if !s.looked {
		s.wide, s.looked = s.look(), true
	}
	return s.wide
}

func (s *Subject) look() []covered {
	tool, kind := s.Call.Known(), s.Call.EffectiveKind()
	switch {
	case len(s.Danger) > 0 || kind != tool.Kind || kind == sayso.KindDelete || tool.Patch:
		return nil
	case tool.Operand == sayso.OperandCommand:
		return s.commands()
	case tool.Operand == sayso.OperandPath:
		return s.paths()
	case tool.Operand == sayso.OperandURL:
		return s.addresses()
	case kind == sayso.KindShell:
		return nil
	}
	c := s.of(sayso.CoverTool)
	c.label, c.pattern = "any call of "+s.name(), s.name()
	return []covered{c}
}

// name is the tool's name as policy writes it.
func (s *Subject) name() string {
	tool, server := s.Call.CanonicalName()
	if server != "" {
		return "mcp__" + server + "__" + tool
	}
	return tool
}

// primary is the argument that the tool is about. ok is false if it is no text,
// stands there in more than one spelling, or is missing where it must not be, and
// if there is another whose meaning is not known.
func (s *Subject) primary() (text string, ok bool) {
	var args map[string]any
	if jcs.Unmarshal(s.Call.Args, &args) != nil {
		return "", false
	}
	tool := s.Call.Known()
	for name, value := range args {
		if name != tool.Primary && strings.EqualFold(name, tool.Primary) {
			return "", false
		}
		if tool.Args != nil && value != nil && value != false && !slices.Contains(tool.Args, name) {
			return "", false
		}
	}
	value, given := args[tool.Primary]
	if !given {
		return "", tool.Optional
	}
	text, ok = value.(string)
	return text, ok
}

// cwd is the directory of the call, resolved where that is known.
func (s *Subject) cwd() string {
	if s.Facts.Cwd != "" {
		return s.Facts.Cwd
	}
	return s.Call.Cwd
}

// place is the folder that a cover of commands holds in: the workspace, for
// calls in it, else the directory.
func (s *Subject) place() string {
	cwd := s.cwd()
	if sayso.Beneath(s.Facts.Workspace, cwd) {
		return s.Facts.Workspace
	}
	return cwd
}

// within is how a place is told, empty for none.
func within(place string) string {
	if place == "" {
		return ""
	}
	return " in " + place
}
