package words

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Told is what lines about events read of their payloads.
type Told struct {
	Effect  sayso.Effect  `json:"effect"`
	Source  string        `json:"source"`
	By      []sayso.Actor `json:"by"`
	Note    string        `json:"note"`
	Reason  string        `json:"reason"`
	Cause   string        `json:"cause"`
	Why     string        `json:"why"`
	Scope   string        `json:"scope"`
	Mode    string        `json:"mode"`
	Label   string        `json:"label"`
	Failed  bool          `json:"failed"`
	Changed bool          `json:"changed"`
	Tool    string        `json:"tool"`
	Server  string        `json:"server"`
	First   bool          `json:"first"`
	ForNS   int64         `json:"for_ns"`
	Edited  sayso.Digest  `json:"edited"`
	Digest  sayso.Digest  `json:"digest"`
	Was     sayso.Digest  `json:"was"`
	Args    sayso.Args    `json:"args"`
	Switch  string        `json:"switch"`
	Policy  string        `json:"policy"`
	Files   []string      `json:"files"`

	Policies map[string]sayso.Effect `json:"policies"`
	Requests []sayso.ID              `json:"requests"`
}

// Teller tells events, and knows of which tools the grants are that it told of.
type Teller map[string]string

// Story is an event in a line.
func (t Teller) Story(e sayso.Event) string {
	var p Told
	if err := jcs.UnmarshalLenient(e.Payload, &p); err != nil {
		return string(e.Type)
	}
	parts := []string{e.RequestID.Short(), string(e.Type)}
	switch e.Type {
	case sayso.EventRequested:
		parts = append(parts, Safe(p.Tool), "by", Safe(e.Actor.Principal))
	case sayso.EventAnswered:
		parts = append(parts, p.Effect.String(), answered(p), "by", Safe(e.Actor.Principal), "("+sayso.ChannelWords(e.Actor.Channel)+")", tail(p.Note))
	case sayso.EventResolved:
		parts = append(parts, p.Effect.String(), "by", by(p), tail(p.Reason))
	case sayso.EventAnswerRefused:
		parts = append(parts, p.Effect.String(), "from", Safe(e.Actor.Principal), "("+sayso.ChannelWords(e.Actor.Channel)+"):", p.Why)
	case sayso.EventFinished:
		parts = append(parts, outcome(p.Failed))
		if p.Changed {
			parts = append(parts, "- with other arguments than were allowed")
		}
	case sayso.EventModeChanged:
		parts = append(parts, p.Switch+p.Mode, during(p.ForNS), "by", Safe(e.Actor.Principal), Safe(e.SessionID))
	case sayso.EventGrantCreated:
		t[e.Stream] = p.Tool
		parts = append(parts, sayso.StreamID(e.Stream).Short(), Safe(p.Tool), "by", Safe(e.Actor.Principal), tail(p.Label))
	case sayso.EventGrantUsed, sayso.EventGrantRevoked, sayso.EventGrantEnded:
		parts = append(parts, sayso.StreamID(e.Stream).Short(), Safe(t[e.Stream]))
		if e.Type == sayso.EventGrantRevoked {
			p.Reason = ""
		}
		parts = append(parts, "by", Safe(e.Actor.Principal), tail(p.Reason))
	case sayso.EventSessionPolicy:
		parts = append(parts, Safe(e.SessionID), policies(p.Policies), "by", Safe(e.Actor.Principal))
	case sayso.EventSessionStarted, sayso.EventSessionEnded:
		parts = append(parts, Safe(e.SessionID))
	case sayso.EventParked:
		parts = append(parts, stopped(p.Cause))
	case sayso.EventDefinitionAccepted, sayso.EventDefinitionQuarantined:
		parts = append(parts, definition(p), "by", Safe(e.Actor.Principal))
		switch {
		case p.First:
			parts = append(parts, "- first seen")
		case e.Type == sayso.EventDefinitionAccepted && p.Digest == p.Was:
			parts = append(parts, "- kept as it was")
		}
	case sayso.EventPolicyLoaded:
		parts = append(parts, loaded(p))
	case sayso.EventPolicyAccepted:
		parts = append(parts, accepted(p), "by", Safe(e.Actor.Principal))
	case sayso.EventContentErased:
		parts = append(parts, erased(len(p.Requests)), "by", Safe(e.Actor.Principal), tail(p.Why))
	default:
		parts = append(parts, Safe(p.Reason+p.Why))
	}
	return Safe(strings.Join(strings.Fields(strings.Join(parts, " ")), " "))
}

// definition names a tool of a server, or the server.
func definition(p Told) string {
	if p.Tool == "" {
		return Safe(p.Server)
	}
	return Safe(p.Tool) + " of " + Safe(p.Server)
}

// answered says what kind of answer it was.
func answered(p Told) string {
	if p.Edited.IsZero() {
		return p.Scope
	}
	return p.Scope + ", edited,"
}

// stopped says why nobody waits for a request any more.
func stopped(cause string) string {
	switch cause {
	case sayso.ParkedPatience:
		return "- its agent waited as long as it may"
	case sayso.ParkedLeft:
		return "- its connection ended"
	case sayso.ParkedLost:
		return "- the server or the hook that waited for its answer has ended"
	}
	return Safe(cause)
}

func tail(s string) string {
	if s == "" {
		return ""
	}
	return "- " + Safe(s)
}

// by is who or what decided.
func by(p Told) string {
	names := make([]string, 0, len(p.By))
	for _, a := range p.By {
		names = append(names, Safe(a.Principal))
	}
	switch {
	case len(names) == 0 && p.Source == string(sayso.SourceMode):
		return "the " + Safe(p.Mode) + " mode"
	case len(names) == 0:
		return Safe(p.Source)
	}
	source := p.Source
	if slices.ContainsFunc(p.By, func(a sayso.Actor) bool { return a.Channel == sayso.ChannelElicitation }) {
		source = sayso.ChannelWords(sayso.ChannelElicitation) // and nobody knows that it was a person
	}
	return fmt.Sprintf("%s (%s)", strings.Join(names, ", "), Safe(source))
}

// during says how long something holds that has an end.
func during(ns int64) string {
	if ns <= 0 {
		return ""
	}
	return "for " + Span(time.Duration(ns))
}

// loaded names a policy as status does.
func loaded(p Told) string { return Safe(Policy(p.Policy, p.Files)) }

// accepted names a project's policy that a person accepted, or took back.
func accepted(p Told) string {
	if p.Policy == "" {
		return "taken back: " + Safe(strings.Join(p.Files, ", "))
	}
	return loaded(p)
}

// policies says what the tools of a session may do.
func policies(set map[string]sayso.Effect) string {
	parts := make([]string, 0, len(set))
	for _, tool := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, Safe(tool)+"="+set[tool].String())
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, " ")
}

// erased says of how many requests the content was emptied.
func erased(n int) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// Policy names a policy: its files, and the beginning of its version.
func Policy(version string, files []string) string {
	name := "built-ins alone"
	if len(files) > 0 {
		name = strings.Join(files, ", ")
	}
	return name + " (" + ShortVersion(version) + ")"
}

// ShortVersion is the beginning of a policy's version, enough to tell it from
// others.
func ShortVersion(version string) string {
	version = strings.TrimPrefix(version, "sha256:")
	return version[:min(len(version), 12)]
}

func outcome(failed bool) string {
	if failed {
		return "failed"
	}
	return "ran"
}
