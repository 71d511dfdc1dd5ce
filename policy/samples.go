package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// freshWord and another are words that no policy names, so that what fits them fits
// any word.
const (
	freshWord = "zq7"
	otherWord = "vx3"
)

// sampleTool is a tool that a generated call names.
type sampleTool struct {
	call  sayso.Call
	tool  sayso.Tool // what is known of it
	plain bool       // it is named as the pattern names it
}

func targetOf(c sayso.Call, plain bool) sampleTool { return sampleTool{c, c.Known(), plain} }

// argumentOf is the argument by which a tool is called for what patterns compare:
// that itself, or a patch of it.
func argumentOf(t sayso.Tool, text string) string {
	if !t.Patch {
		return text
	}
	return "*** Begin Patch\n*** Update File: " + text + "\n@@\n-a\n+b\n*** End Patch\n"
}

// samplesFor are calls made for a pattern: what it says word for word, what it says
// in other words, and what lies beside it. Whether they fit is tried.
func (l *linter) samplesFor(e *entry) []*sampleCall {
	var out []*sampleCall
	sc := l.machine.forEntry(e)
	for _, t := range l.sampleTools(e) {
		for _, v := range l.samples(e, t) {
			args := map[string]any{}
			if t.tool.Primary != "" && !v.none {
				args[t.tool.Primary] = argumentOf(t.tool, v.text)
			}
			for _, more := range selectedArgs(e) {
				all := map[string]any{}
				for _, from := range [...]map[string]any{args, more} {
					for k, value := range from {
						all[k] = value
					}
				}
				for _, state := range states(t) {
					a := sc.sampleCall(t.call, all, state)
					a.plain = t.plain && v.plain
					out = append(out, a)
				}
			}
		}
	}
	return out
}

// states are what is found at a path of a call.
func states(t sampleTool) []sayso.PathState {
	if t.tool.Operand != sayso.OperandPath {
		return []sayso.PathState{sayso.PathFile}
	}
	if t.tool.Kind == sayso.KindList || t.tool.Kind == sayso.KindSearch {
		return []sayso.PathState{sayso.PathDir, sayso.PathFile}
	}
	return []sayso.PathState{sayso.PathFile, sayso.PathMissing}
}

// sampleTools are the tools that a pattern may be about, under every name.
func (l *linter) sampleTools(e *entry) []sampleTool {
	switch m := e.m; {
	case m.selector != nil:
		return m.selector.sampleTools(e.effect == sayso.Allow)
	case m.server != "":
		return serverTargets(m.server, m.tool)
	case m.wild != "":
		return wildTargets(m.wild, e.effect == sayso.Allow)
	case m.name != "":
		return namedTargets(m.name, e.effect == sayso.Allow)
	}
	return namedTargets("bash", true) // a rule of shell.rules
}

// tables are the tools of all tables, by host and name.
func tables() []sampleTool {
	var out []sampleTool
	sayso.EachTool(func(host, called string, _ sayso.Tool) bool {
		out = append(out, targetOf(sayso.Call{Tool: called, Host: host}, true))
		return true
	})
	slices.SortFunc(out, func(a, b sampleTool) int {
		return strings.Compare(a.call.Host+"\x00"+a.call.Tool, b.call.Host+"\x00"+b.call.Tool)
	})
	return out
}

func namedTargets(name string, allow bool) []sampleTool {
	var out []sampleTool
	for _, t := range tables() {
		switch {
		case t.tool.Name == name || t.call.Tool == name:
			out = append(out, t)
			if lower := strings.ToUpper(t.call.Tool); !allow { // who names no host may mean it
				out = append(out, targetOf(sayso.Call{Tool: lower}, false), targetOf(sayso.Call{Tool: t.call.Tool}, false))
			}
		}
	}
	return append(out, targetOf(sayso.Call{Tool: name}, true))
}

func wildTargets(pattern string, allow bool) []sampleTool {
	var out []sampleTool
	for _, t := range tables() {
		if glob(pattern, t.tool.Name) || glob(pattern, t.call.Tool) {
			out = append(out, t)
		}
	}
	for _, name := range expandStars(pattern) {
		out = append(out, targetOf(sayso.Call{Tool: name}, true), targetOf(sayso.Call{Tool: name, Host: freshWord}, false))
		if pattern == "*" || !allow {
			out = append(out, targetOf(sayso.Call{Tool: name, Server: freshWord}, false), targetOf(sayso.Call{Tool: "mcp__" + freshWord + "__" + name}, false))
		}
	}
	return out
}

func serverTargets(server, tool string) []sampleTool {
	var out []sampleTool
	for _, server := range expandStars(server) {
		for _, tool := range expandStars(tool) {
			out = append(out, targetOf(sayso.Call{Tool: tool, Server: server}, true), targetOf(sayso.Call{Tool: "mcp__" + server + "__" + tool, Host: "claude-code"}, true),
				targetOf(sayso.Call{Tool: "mcp__" + server + "__" + tool}, true))
		}
	}
	return out
}

// sampleTools are tools, and what else the selector asks for, in every combination.
func (s *selector) sampleTools(allow bool) []sampleTool {
	tools := tables()
	if len(s.tools) > 0 {
		tools = nil
		for _, pattern := range s.tools {
			tools = append(tools, wildTargets(pattern, allow)...)
		}
	}
	tools = append(tools, targetOf(sayso.Call{Tool: freshWord}, true))
	var out []sampleTool
	for _, t := range tools {
		for _, server := range s.serversFor(t) {
			for _, c := range s.withClaims(t.call) {
				if c.Server == "" {
					c.Server = server
				}
				out = append(out, targetOf(c, t.plain))
			}
		}
	}
	return slices.DeleteFunc(out, func(t sampleTool) bool { return !s.hasHost(t.call.Host) })
}

// serversFor are the servers that a tool may be of.
func (s *selector) serversFor(t sampleTool) []string {
	switch {
	case len(s.servers) > 0:
		return filledAll(s.servers)
	case len(s.trusted) > 0 && len(s.annotations) > 0:
		out := []string{""}
		for name := range s.trusted {
			out = append(out, name)
		}
		slices.Sort(out)
		return out
	case t.call.Tool == freshWord, len(s.tools) > 0:
		return []string{"", freshWord}
	}
	return []string{""}
}

func (s *selector) hasHost(host string) bool { return len(s.hosts) == 0 || anyGlob(s.hosts, host) }

// withClaims are calls that say of themselves what the selector asks for.
func (s *selector) withClaims(c sayso.Call) []sayso.Call {
	if len(s.callers) > 0 {
		c.Caller = expandStars(s.callers[0])[0]
	}
	if len(s.sessions) > 0 {
		c.Session = expandStars(s.sessions[0])[0]
	}
	for _, tag := range s.tags {
		c.Tags = append(slices.Clip(c.Tags), expandStars(tag)[0])
	}
	if len(s.annotations) > 0 {
		c.Annotations = annotationsFor(s.annotations)
	}
	out := []sayso.Call{c}
	for _, kind := range s.kinds {
		c.Kind = sayso.Kind(kind)
		out = append(out, c)
	}
	if len(s.hosts) > 0 && c.Host == "" {
		for i := range out {
			out[i].Host = expandStars(s.hosts[0])[0]
		}
	}
	return out
}

// annotationsFor are annotations that say what a selector asks for.
func annotationsFor(as []annotation) *sayso.Annotations {
	out := &sayso.Annotations{}
	for _, a := range as {
		want := a.want
		switch a.name {
		case "read_only":
			out.ReadOnly = &want
		case "destructive":
			out.Destructive = &want
		case "idempotent":
			out.Idempotent = &want
		case "open_world":
			out.OpenWorld = &want
		}
	}
	return out
}

// selectedArgs are arguments that a selector asks for; one set of none if it
// asks for none.
func selectedArgs(e *entry) []map[string]any {
	out := []map[string]any{{}}
	if e.m.selector == nil {
		return out
	}
	for _, a := range e.m.selector.args {
		var next []map[string]any
		for _, args := range out {
			for _, v := range a.values {
				one := map[string]any{a.key: v.sample()}
				for k, value := range args {
					one[k] = value
				}
				next = append(next, one)
			}
		}
		if out = next; len(out) > 64 {
			out = out[:64]
		}
	}
	return out
}

// expandStars is what a text with stars may stand for: a word that nobody names in
// place of each, and nothing.
func expandStars(pattern string) []string {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}
	}
	out := []string{strings.ReplaceAll(pattern, "*", freshWord)}
	if bare := strings.ReplaceAll(pattern, "*", ""); bare != "" {
		out = append(out, bare)
	}
	return out
}

func filledAll(patterns []string) []string {
	var out []string
	for _, p := range patterns {
		out = append(out, expandStars(p)...)
	}
	return out
}

// generalSamples are calls that are aimed at no pattern: of every tool, and lines that
// are made of two.
func (l *linter) generalSamples() []*sampleCall {
	var out []*sampleCall
	add := func(c sayso.Call, args map[string]any) {
		a := l.machine.sampleCall(c, args, sayso.PathFile)
		a.fits = l.p.fittingPatterns(a.subject(l.p))
		out = append(out, a)
	}
	for _, t := range tables() {
		if t.tool.Primary == "" {
			add(t.call, map[string]any{})
			continue
		}
		for _, s := range anySamples(operandOf(t.tool)) {
			add(t.call, map[string]any{t.tool.Primary: argumentOf(t.tool, s.text)})
		}
	}
	last := ""
	for i, a := range l.calls {
		if i%7 == 0 && a.call.Tool == "bash" {
			if line := a.subject(l.p).arg; last != "" {
				add(sayso.Call{Tool: "bash"}, map[string]any{"command": last + " && " + line})
			}
			last = a.subject(l.p).arg
		}
	}
	return out
}
