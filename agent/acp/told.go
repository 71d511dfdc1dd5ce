package acp

import (
	"slices"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// maxTold is of how many calls at once it is remembered what an agent told.
const maxTold = 256

// maxWeight is how many bytes of it are remembered.
const maxWeight = 64 << 20

// Told is what an agent told of its calls before it asked about them. It is for one
// reader. The zero Told is ready.
type Told struct {
	calls  map[string]*ToolCall
	order  []string // the oldest first
	weight int      // of all calls
}

// update is what is read of a session/update.
type update struct {
	Session string `json:"sessionId"`
	Update  struct {
		What string `json:"sessionUpdate"`
		ToolCall
	} `json:"update"`
}

// Hear takes down what a session/update tells of a call, and returns the call as it
// is known now. ok says that it is about a call.
func (t *Told) Hear(m *Message) (session string, c ToolCall, ok bool) {
	var u update
	if jcs.UnmarshalLenient(m.Params, &u) != nil || u.Update.ID == "" || u.Update.What != "tool_call" && u.Update.What != "tool_call_update" {
		return "", c, false
	}
	key := CallKey(u.Session, u.Update.ID)
	known := t.calls[key]
	if known == nil {
		known = t.add(key)
	}
	t.weight -= known.Size()
	known.merge(&u.Update.ToolCall)
	t.weight += known.Size()
	for t.weight > maxWeight && len(t.order) > 1 { // no call alone is as much
		oldest := t.order[0]
		if oldest == key {
			oldest = t.order[1]
		}
		t.forget(oldest)
	}
	c = *known
	c.ID = u.Update.ID
	if c.Over() {
		t.forget(key)
	}
	return u.Session, c, true
}

// Of is what was told of a call; the zero ToolCall if nothing was.
func (t *Told) Of(session, id string) ToolCall {
	if c := t.calls[CallKey(session, id)]; c != nil {
		return *c
	}
	return ToolCall{}
}

func (t *Told) add(key string) *ToolCall {
	if t.calls == nil {
		t.calls = map[string]*ToolCall{}
	}
	if len(t.order) >= maxTold {
		t.forget(t.order[0])
	}
	c := &ToolCall{}
	t.calls[key], t.order = c, append(t.order, key)
	return c
}

func (t *Told) forget(key string) {
	if c := t.calls[key]; c != nil {
		t.weight -= c.Size()
	}
	delete(t.calls, key)
	for i, k := range t.order {
		if k == key {
			t.order = append(t.order[:i], t.order[i+1:]...)
			return
		}
	}
}

// CallKey keeps calls of different sessions apart, and is short whatever they are called.
func CallKey(session, id string) string {
	return Plain(session) + "\x00" + Plain(id)
}

// merge puts what an update says over what was known. Members that it leaves out
// stay as they were. What is larger than any call may be is not kept, and the call is
// then not asked about: nobody could tell what is missing.
func (c *ToolCall) merge(u *ToolCall) {
	if u.Content != nil { // of the other parts no call is made, and no room is kept for them
		u.Content = append([]content{}, slices.DeleteFunc(u.Content, func(part content) bool { return part.Type != "diff" })...)
	}
	if u.Over() {
		u.Content = nil // at its end a call tells what came of it
		c.Status = u.Status
	}
	next := *c
	put(&next.Title, u.Title)
	put(&next.Kind, u.Kind)
	put(&next.Status, u.Status)
	put(&next.Name, u.Name)
	put(&next.Meta.ClaudeCode.Tool, u.Meta.ClaudeCode.Tool)
	if len(u.Input) > 0 {
		next.Input = u.Input
	}
	if u.Content != nil {
		next.Content = u.Content
	}
	if u.Locations != nil {
		next.Locations = u.Locations
	}
	if next.Size() > sayso.MaxCall {
		c.tooLarge = true
		return
	}
	if len(u.Input) > 0 {
		next.Input = u.Input.Clone() // the line need not be kept
	}
	*c = next
}

// entry is about what an entry of a list takes beside its text.
const entry = 64

// Size is about how many bytes it takes to remember what was told of a call.
func (c *ToolCall) Size() int {
	n := len(c.Title) + len(c.Kind) + len(c.Status) + len(c.Name) + len(c.Meta.ClaudeCode.Tool) + len(c.Input)
	for _, part := range c.Content {
		n += entry + len(part.Path) + len(part.New)
		if part.Old != nil {
			n += len(*part.Old)
		}
	}
	for _, l := range c.Locations {
		n += entry + len(l.Path)
	}
	return n
}

func put(into *string, text string) {
	if text != "" {
		*into = text
	}
}

// Over reports whether the call has ended.
func (c *ToolCall) Over() bool { return c.Status == "completed" || c.Status == "failed" }

// Failed reports whether it ended with an error.
func (c *ToolCall) Failed() bool { return c.Status == "failed" }
