package acp

import (
	"errors"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/present"
)

// Card is a request as the editor is asked it: the agent's own words about the call,
// under an id and with two options that are ours. What the agent calls its request and
// its options cannot have an answer mean another thing than it says.
type Card struct {
	ID   jsontext.Value
	Line []byte
}

// The options of a card.
const (
	cardAllow   = "sayso-allow"
	cardDeny    = "sayso-deny"
	cardOptions = `[{"optionId":"` + cardAllow + `","kind":"` + allowOnce + `","name":"Allow this call once"},` +
		`{"optionId":"` + cardDeny + `","kind":"` + rejectOnce + `","name":"Deny this call"}]`
)

// Card is the request, which is in line, as an editor may be asked it as well, under an
// id of ours that is a text. ok says that the agent can hear both answers, and that
// nothing in the request needs a warning, which the editor would not give.
func (p *Permission) Card(id string, line []byte) (c Card, ok bool) {
	if p.allow == "" || p.reject == "" {
		return Card{}, false
	}
	text, err := jcs.Marshal(id)
	if err != nil {
		return Card{}, false
	}
	var parts []part
	err = rpc.Members(line, messageMembers, func(name string, value jsontext.Value, at int) error {
		switch name {
		case "id":
			parts = append(parts, part{at, at + len(value), text})
		case "params":
			if _, warnings, err := present.SafeJSON(value); err != nil || len(warnings) > 0 {
				return errUnsafe
			}
			return rpc.Members(value, []string{"options"}, func(name string, options jsontext.Value, within int) error {
				if name == "options" {
					parts = append(parts, part{at + within, at + within + len(options), []byte(cardOptions)})
				}
				return nil
			})
		}
		return nil
	})
	if err != nil || len(parts) != 2 {
		return Card{}, false
	}
	return Card{ID: text, Line: splice(line, parts)}, true
}

// errUnsafe is a request in which an eye could miss something.
var errUnsafe = errors.New("it holds what needs a warning")

// part is some of a line, and what stands there instead.
type part struct {
	from, to int
	text     []byte
}

// splice is the line with its parts replaced, which are in their order.
func splice(line []byte, parts []part) (out []byte) {
	at := 0
	for _, p := range parts {
		out = append(append(out, line[at:p.from]...), p.text...)
		at = p.to
	}
	return append(out, line[at:]...)
}

// Said is what an editor answered: allow or deny, for this call alone. ok says that it
// is one of the two; all else is no answer.
func (c *Card) Said(m *Message) (effect sayso.Effect, ok bool) {
	var r outcomeResult
	if m.Result == nil || jcs.UnmarshalLenient(m.Result, &r) != nil || r.Outcome.Outcome != selected {
		return sayso.Deny, false
	}
	switch r.Outcome.Option {
	case cardAllow:
		return sayso.Allow, true
	case cardDeny:
		return sayso.Deny, true
	}
	return sayso.Deny, false
}

// TakeBack has an editor forget it.
func (c *Card) TakeBack() []byte {
	type params struct {
		ID jsontext.Value `json:"requestId"`
	}
	line, err := jcs.Marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", CancelRequest, params{c.ID}})
	if err != nil { // an id that was read can be written
		return []byte(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{}}`)
	}
	return line
}

// Shown is what an editor shows of the call that it is asked about: what stands in the
// request and, where that says nothing, what it was told before.
func (p *Permission) Shown(told *ToolCall) ToolCall {
	shown := *told
	put(&shown.Title, p.Tool.Title)
	put(&shown.Kind, p.Tool.Kind)
	put(&shown.Name, p.Tool.Name)
	if len(p.Tool.Input) > 0 {
		shown.Input = p.Tool.Input
	}
	if p.Tool.Content != nil {
		shown.Content = p.Tool.Content
	}
	if p.Tool.Locations != nil {
		shown.Locations = p.Tool.Locations
	}
	return shown
}

// Redraws reports whether a session/update has the editor show a call otherwise than it
// was shown. How far the call got changes nothing.
func (m *Message) Redraws(shown *ToolCall) bool {
	var u update
	if jcs.UnmarshalLenient(m.Params, &u) != nil {
		return true
	}
	now := &u.Update
	other := func(text, was string) bool { return text != "" && text != was }
	return other(now.Title, shown.Title) || other(now.Kind, shown.Kind) || other(now.Name, shown.Name) ||
		len(now.Input) > 0 && Key(now.Input) != Key(shown.Input) ||
		now.Content != nil && !reflect.DeepEqual(now.Content, shown.Content) ||
		now.Locations != nil && !slices.Equal(now.Locations, shown.Locations)
}
