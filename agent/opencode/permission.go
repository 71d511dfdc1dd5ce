package opencode

import (
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Permission is what the host asks for by itself, in the event permission.asked
// and in its list of those that wait. It names a part of a call at most: of two
// commands in one line it asks for both, of a line that only redirects for none,
// and of tools that plugins bring for whatever these say. The call itself is in
// the message that it names.
//
// (permission.v2.asked is in the host's types; no part of 1.18.33 sends it.)
type Permission struct {
	ID       string     `json:"id"`
	Session  string     `json:"sessionID"`
	Kind     string     `json:"permission"`
	Patterns []string   `json:"patterns"`
	Metadata sayso.Args `json:"metadata"`
	Tool     *struct {
		Message string `json:"messageID"`
		Call    string `json:"callID"`
	} `json:"tool"`
}

// ParsePermission reads what the host asks for.
func ParsePermission(text []byte) (p Permission, err error) {
	err = agent.Read(text, []string{"id", "sessionID", "permission", "patterns", "metadata", "tool"}, &p)
	if err == nil && (p.ID == "" || p.Session == "" || p.Kind == "" || p.Tool != nil && (p.Tool.Message == "" || p.Tool.Call == "")) {
		err = fmt.Errorf("%w: permission: its id, session, name or call is missing", sayso.ErrInvalid)
	}
	return p, err
}

// message is the one of the host that calls tools.
type message struct {
	Info struct {
		Error *struct {
			Name string `json:"name"`
			Data struct {
				Message string `json:"message"`
			} `json:"data"`
		} `json:"error"`
	} `json:"info"`
	Parts []struct {
		Type  string `json:"type"`
		Tool  string `json:"tool"`
		Call  string `json:"callID"`
		Text  string `json:"text"`
		State struct {
			Input sayso.Args `json:"input"`
		} `json:"state"`
	} `json:"parts"`
}

// At is where a call is made: the folder and the session that a person knows it
// by, the agent, and what its tool can be of.
type At struct {
	Directory, Root, Agent string
	Servers                []string
	Registered             func(tool string) bool
}

// Call is the call that a permission is a part of, as it stands in its message.
// A permission that names none is a call by its own name: the host asks whether
// to go on with an agent that repeats itself.
func (p Permission) Call(text []byte, at At) (sayso.Call, error) {
	if p.Tool == nil {
		args, err := jcs.Marshal(map[string]any{"patterns": p.Patterns, "metadata": p.Metadata})
		if err != nil {
			return sayso.Call{}, err
		}
		c := call("permission-"+p.Kind, "", at.Directory, at.Root, p.Session, at.Agent, p.ID)
		c.Args = args
		return c, c.Validate()
	}
	var m message
	if err := agent.Read(text, []string{"parts"}, &m); err != nil {
		return sayso.Call{}, err
	}
	for _, part := range m.Parts {
		if part.Type != "tool" || part.Call != p.Tool.Call {
			continue
		}
		server, err := serverOf(part.Tool, at.Servers, at.Registered(part.Tool))
		if err != nil {
			return sayso.Call{}, err
		}
		c := call(part.Tool, server, at.Directory, at.Root, p.Session, at.Agent, part.Call)
		if _, err := agent.Fill(&c, "state.input", part.State.Input, said[part.Tool]); err != nil {
			return sayso.Call{}, err
		}
		return c, c.Validate()
	}
	return sayso.Call{}, fmt.Errorf("%w: the message that a permission names has no call %q", sayso.ErrInvalid, p.Tool.Call)
}

// Answer is what a message of the host says, and what the host says went wrong.
func Answer(answer []byte) (text, failure string, err error) {
	var m message
	if err := jcs.UnmarshalLenient(answer, &m); err != nil {
		return "", "", err
	}
	for _, part := range m.Parts {
		if part.Type == "text" {
			text += part.Text
		}
	}
	if e := m.Info.Error; e != nil {
		failure = e.Name
		if e.Data.Message != "" {
			failure += ": " + e.Data.Message
		}
	}
	return text, failure, nil
}

// Told is an event of the host's server, as far as it matters to who answers for
// it. All members are empty for any other.
type Told struct {
	Asked   []byte // a permission that is asked for, see [ParsePermission]
	Replied string // the id of one that was answered
	Reply   string // in which word
	Ended   string // the id of a call that ended
	Session string // of that call
	Failed  bool
}

// ParseTold reads an event of the host's server.
func ParseTold(text []byte) (t Told, err error) {
	var e struct {
		Type       string     `json:"type"`
		Properties sayso.Args `json:"properties"`
	}
	if err := jcs.UnmarshalLenient(text, &e); err != nil {
		return t, fmt.Errorf("%w: event: %w", sayso.ErrInvalid, err)
	}
	var p struct {
		Request string `json:"requestID"`
		Reply   string `json:"reply"`
		Part    struct {
			Type    string `json:"type"`
			Call    string `json:"callID"`
			Session string `json:"sessionID"`
			State   struct {
				Status string `json:"status"`
			} `json:"state"`
		} `json:"part"`
	}
	switch e.Type {
	case "permission.asked":
		t.Asked = e.Properties
		return t, nil
	case "permission.replied", "message.part.updated":
		if err := jcs.UnmarshalLenient(e.Properties, &p); err != nil {
			return t, fmt.Errorf("%w: event %s: %w", sayso.ErrInvalid, e.Type, err)
		}
	}
	t.Replied, t.Reply = p.Request, p.Reply
	if s := p.Part.State.Status; p.Part.Type == "tool" && (s == "completed" || s == "error") {
		t.Ended, t.Session, t.Failed = p.Part.Call, p.Part.Session, s == "error"
	}
	return t, nil
}

// PermissionReply is the answer to a permission. It is never "always", which
// would allow more than a person saw, in every session of the server. A no has
// words: without them the host ends the turn.
func PermissionReply(d sayso.Decision, err error) []byte {
	if err == nil && d.Allowed() && len(d.Args) == 0 {
		return []byte(`{"reply":"once"}`)
	}
	reason := sayso.Told(d, err)
	if err == nil && d.Allowed() {
		reason = "the gate cannot hand edited arguments to this host here"
	}
	text, err := jcs.Marshal(map[string]string{"reply": "reject", "message": agent.Words(reason)})
	if err != nil {
		return []byte(`{"reply":"reject"}`)
	}
	return text
}

// Rule is one of an agent's permissions. The last that fits counts.
type Rule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     string `json:"action"`
}

// Unasked are the permissions that rules give without a question, although the
// overlay asks for all: those that stand behind it. What the host allows itself
// of folders is none, since that is asked about beside the call.
func Unasked(rules []Rule) (kinds []string) {
	for _, r := range rules {
		switch {
		case r.Permission == "*" && r.Pattern == "*" && r.Action != "allow":
			kinds = nil
		case r.Action == "allow" && r.Permission != "external_directory":
			kinds = append(kinds, r.Permission)
		}
	}
	return kinds
}
