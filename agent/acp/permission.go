package acp

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// The kinds of options, of which two are ever chosen.
const (
	allowOnce  = "allow_once"
	rejectOnce = "reject_once"
)

// Permission is a request of an agent for permission. The zero Permission is
// answered with a no.
type Permission struct {
	ID      jsontext.Value
	Session string // as the agent calls it
	Tool    ToolCall

	allow  string // the option that is a yes to this call alone; empty for none
	reject string // the option that is a no to this call alone; empty for none
}

// ToolCall is a call as an agent shows it, or what it told of one so far.
type ToolCall struct {
	ID        string         `json:"toolCallId"`
	Title     string         `json:"title"`
	Kind      string         `json:"kind"`
	Status    string         `json:"status"`
	Name      string         `json:"name"` // of the tool, in newer drafts
	Input     jsontext.Value `json:"rawInput"`
	Content   []content      `json:"content"`
	Locations []location     `json:"locations"`
	Meta      struct {
		ClaudeCode struct {
			Tool string `json:"toolName"`
		} `json:"claudeCode"`
	} `json:"_meta"`

	tooLarge bool // more was told of it than a call may have, and is not kept
}

// content is a part of what an agent shows of a call: a text, or a change of a file.
type content struct {
	Type    string `json:"type"`
	Content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Path string  `json:"path"`
	Old  *string `json:"oldText"`
	New  string  `json:"newText"`
}

type location struct {
	Path string `json:"path"`
}

type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// errNoYes is a request that cannot be answered with one yes for one call.
var errNoYes = errors.New("it does not offer exactly one way to allow one call once, so that it could not be told what a yes would mean")

// Permission reads a request for permission. With an error the Permission is still
// good for refusing it.
func (m *Message) Permission() (Permission, error) {
	p := Permission{ID: m.ID.Clone()} // the line need not be kept
	var params struct {
		Session string   `json:"sessionId"`
		Tool    ToolCall `json:"toolCall"`
		Options []option `json:"options"`
	}
	if err := jcs.UnmarshalLenient(m.Params, &params); err != nil {
		return p, errPermission(err)
	}
	p.Session, p.Tool = params.Session, params.Tool
	err := p.choose(params.Options)
	switch {
	case p.Session == "":
		err = errors.New("sessionId is missing")
	case p.Tool.ID == "":
		err = errors.New("toolCallId is missing")
	}
	if err != nil {
		p.allow = "" // what could not be read has no yes
		return p, errPermission(err)
	}
	return p, nil
}

// choose finds the options that are about one call. Ids and names of options say
// nothing; two options that share an id cannot be told apart.
func (p *Permission) choose(options []option) error {
	ids := map[string]int{}
	for _, o := range options {
		ids[o.ID]++
	}
	yes := 0
	for _, o := range options {
		switch {
		case o.ID == "" || ids[o.ID] > 1:
		case o.Kind == allowOnce:
			p.allow = o.ID
			yes++
		case o.Kind == rejectOnce && p.reject == "":
			p.reject = o.ID
		}
	}
	for _, o := range options {
		if o.Kind == allowOnce && ids[o.ID] > 1 {
			yes = 2
		}
	}
	if yes != 1 {
		p.allow = ""
		return errNoYes
	}
	return nil
}

// selected says that an option was chosen.
const selected = "selected"

// outcome is the answer to a request for permission.
type outcome struct {
	Outcome string `json:"outcome"`
	Option  string `json:"optionId,omitempty"`
}

type outcomeResult struct {
	Outcome outcome `json:"outcome"`
}

// Reply is the answer. Everything but a decision that allows, without an error, is a
// no.
func (p Permission) Reply(d sayso.Decision, err error) []byte {
	if err == nil && d.Allowed() && p.allow != "" {
		return answer(p.ID, outcomeResult{outcome{selected, p.allow}})
	}
	if p.reject != "" {
		return answer(p.ID, outcomeResult{outcome{selected, p.reject}})
	}
	return p.Cancelled()
}

// Cancelled is the answer to a request whose turn was cancelled.
func (p Permission) Cancelled() []byte {
	return answer(p.ID, outcomeResult{outcome{Outcome: "cancelled"}})
}

// Key is what the request's id is compared by.
func (p *Permission) Key() string { return Key(p.ID) }
