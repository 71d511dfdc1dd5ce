package acp

import (
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Host is the name of the protocol in calls, in the place of a host's.
const Host = sayso.HostACP

// Place is where a call is made.
type Place struct {
	Cwd    string // that the session works in
	Caller string
	CallID string
	Agent  Peer
}

// other is the kind of a call of which no kind is certain, and unseen the tool of one
// that shows no input, where it is not missed otherwise.
const (
	other  = "other"
	unseen = "unseen"
)

// errTooLarge is a call of which more was told than can be shown.
var errTooLarge = fmt.Errorf("the agent told more of this call than the %d bytes that a call may have", sayso.MaxCall)

// Call is the call that an agent asks about, completed by what it told before.
func (p Permission) Call(told ToolCall, at Place) (sayso.Call, error) {
	c := sayso.Call{
		Host: Host, Tool: p.tool(told), Cwd: at.Cwd, Session: SessionName(p.Session), CallID: at.CallID, Caller: at.Caller,
		Metadata: map[string]any{"agent": at.Agent.Name, "agent_version": at.Agent.Version},
	}
	if told.tooLarge {
		return c, errPermission(errTooLarge)
	}
	in := p.input(told)
	c.Said = p.said(told)
	if text, ok := in.text("description"); ok && c.Tool == "execute" {
		c.Said["description"] = text
		delete(in.members, "description")
	}
	if !in.shown && !withPrimary[c.Tool] {
		c.Tool = unseen
	}
	if c.Tool == "execute" {
		in.takeCwd(&c)
	}
	if onePath[c.Tool] && in.shown {
		in.takePath(c.Cwd, p.Tool.paths(told))
	}
	p.show(&in, told)
	var err error
	if c.Args, err = jcs.Marshal(in.members); err != nil {
		return c, errPermission(err)
	}
	return c, c.Validate()
}

// tool is the kind of the call, in the place of a name. Agents that say the name of a
// tool of an MCP server have it known by that.
func (p Permission) tool(told ToolCall) string {
	for _, name := range []string{p.Tool.Name, p.Tool.Meta.ClaudeCode.Tool, told.Name, told.Meta.ClaudeCode.Tool} {
		if _, _, ok := sayso.SplitMCP(name); ok {
			return name
		}
	}
	kind := p.Tool.Kind
	if kind == "" {
		kind = told.Kind
	}
	if !kinds[kind] || told.Kind != "" && told.Kind != kind {
		return other
	}
	return kind
}

// kinds are those of the protocol that say what a call does.
var kinds = map[string]bool{"execute": true, "read": true, "edit": true, "delete": true, "move": true, "search": true, "fetch": true}

// withPrimary are the kinds whose calls cannot be understood without their input.
var withPrimary = map[string]bool{"execute": true, "read": true, "edit": true, "delete": true, "fetch": true}

// onePath are the kinds whose calls are about one file.
var onePath = map[string]bool{"read": true, "edit": true, "delete": true}

// SessionName is the name of an agent's session here: no session of another host.
func SessionName(id string) string { return "acp-" + Plain(id) }

// Plain is a name that may stand in a call: as it is or, where it may not, a digest of
// it.
func Plain(name string) string {
	odd := func(r rune) bool { return r < ' ' || r >= 0x7f }
	if name != "" && len(name) <= 200 && !strings.ContainsFunc(name, odd) {
		return name
	}
	sum := sayso.HashOf("sayso/acp name/1", []byte(name))
	return hex.EncodeToString(sum[:12])
}

// input is what an agent shows of the input of a call.
type input struct {
	members map[string]jsontext.Value
	shown   bool // there is an input at all
	placed  bool // where it works stands where rules look for it
	beside  map[string]any
}

// ours is the member that holds what the agent shows beside the input.
const ours = "acp"

// input joins the input that the agent asks with and the one that it told before: one
// of them often has what the other leaves out, as the folder of a command. Where they
// differ in what both have, the call is not understood.
func (p Permission) input(told ToolCall) input {
	in := input{members: map[string]jsontext.Value{}, beside: map[string]any{}}
	for _, raw := range []jsontext.Value{p.Tool.Input, told.Input} {
		if len(raw) == 0 || raw.Kind() == 'n' {
			continue
		}
		var members map[string]jsontext.Value
		if raw.Kind() != '{' || jcs.Unmarshal(raw, &members) != nil {
			in.beside["input"] = string(raw)
			continue
		}
		in.join(members)
	}
	return in
}

func (in *input) join(members map[string]jsontext.Value) {
	differ := map[string]jsontext.Value{}
	for name, value := range members {
		before, known := in.members[name]
		switch {
		case name == ours:
			differ[name] = value
		case !known:
			in.members[name] = value
		case Key(before) != Key(value):
			differ[name] = value
		}
	}
	in.shown = true
	if len(differ) > 0 {
		in.beside["announced"] = differ
	}
}

// text is a member of the input that is a text.
func (in *input) text(name string) (text string, ok bool) {
	value, ok := in.members[name]
	if !ok || value.Kind() != '"' || jcs.Unmarshal(value, &text) != nil {
		return "", false
	}
	return text, true
}

// takeCwd takes the folder that a command runs in, which agents show beside it. One
// that is not certain stays among the arguments, where nobody knows its meaning.
func (in *input) takeCwd(c *sayso.Call) {
	cwd, inCwd := in.text("cwd")
	dir, inDir := in.text("workdir")
	switch {
	case inCwd && inDir && cwd != dir:
		return
	case inDir:
		cwd = dir
	}
	if strings.HasPrefix(cwd, "/") {
		c.Cwd = cwd
		in.placed = true
		delete(in.members, "cwd")
		delete(in.members, "workdir")
	}
}

// spellings are the names that agents have for the path of a file.
var spellings = []string{"path", "filePath", "filepath", "file_path", "fileName", "abs_path", "absolute_path", "notebook_path"}

// takePath has the one path of a call stand where rules look for it. Where what the
// agent shows names several, or none, it does not: then the call is not understood.
func (in *input) takePath(cwd string, shown []string) {
	given := ""
	for _, name := range spellings {
		value, ok := in.members[name]
		if !ok {
			continue
		}
		text, isText := in.text(name)
		if !isText || text == "" {
			in.unclear("path", value)
			return
		}
		if given == "" {
			given = text
		}
		shown = append(shown, text)
	}
	for _, s := range shown {
		if at(cwd, s) != at(cwd, given) {
			given = ""
			break
		}
	}
	if given == "" {
		in.unclear("path", in.members["path"])
		return
	}
	if _, ok := in.members["path"]; !ok {
		text, err := jcs.AppendString(nil, given)
		if err != nil {
			return
		}
		in.members["path"] = text
	}
	in.placed = true
}

// unclear takes an argument away from where rules look for it.
func (in *input) unclear(name string, value jsontext.Value) {
	delete(in.members, name)
	if value != nil {
		in.beside[name] = value
	}
}

// at is where a path leads from a folder, by its text.
func at(cwd, name string) string {
	if !strings.HasPrefix(name, "/") {
		name = cwd + "/" + name
	}
	return path.Clean(name)
}

// paths are those that an agent names beside the input.
func (c *ToolCall) paths(told ToolCall) (all []string) {
	for _, list := range [...]*ToolCall{c, &told} {
		for _, l := range list.Locations {
			all = append(all, l.Path)
		}
		for _, part := range list.Content {
			if part.Type == "diff" {
				all = append(all, part.Path)
			}
		}
	}
	return all
}

// said are the words about the call that change nothing: the title, which is a
// model's own in some agents, and the texts beside it.
func (p Permission) said(told ToolCall) map[string]string {
	said := map[string]string{}
	title := p.Tool.Title
	if title == "" {
		title = told.Title
	}
	if title != "" {
		said["title"] = title
	}
	if told.Title != "" && told.Title != title {
		said["announced as"] = told.Title
	}
	var texts []string
	for _, part := range p.Tool.Content {
		if part.Type == "content" && part.Content.Type == "text" && part.Content.Text != "" {
			texts = append(texts, part.Content.Text)
		}
	}
	if len(texts) > 0 {
		said["text"] = strings.Join(texts, "\n")
	}
	return said
}

// change is one change of a file as it stands among the arguments.
type change struct {
	Path string  `json:"path"`
	Old  *string `json:"old"`
	New  string  `json:"new"`
}

// show puts what the agent shows beside the input among the arguments, so that it is
// part of what is answered: the changes of files, the places that the input does not
// name and, of a call without any input, its title, as that is all that there is to
// decide by.
func (p Permission) show(in *input, told ToolCall) {
	list := p.Tool.changes()
	if list == nil {
		list = told.changes()
	}
	if list != nil {
		in.beside["changes"] = list
	}
	if !in.shown {
		in.beside["title"] = p.Tool.Title
	}
	if len(p.Tool.Locations) > 0 && !in.placed {
		in.beside["locations"] = p.Tool.Locations
	}
	if len(in.beside) == 0 {
		return
	}
	if text, err := jcs.Marshal(in.beside); err == nil { // of texts that were read strictly
		in.members[ours] = text
	} else {
		in.members[ours] = jsontext.Value(`{}`)
	}
}

// changes are those of files that the agent shows.
func (c *ToolCall) changes() (list []change) {
	for _, part := range c.Content {
		if part.Type == "diff" {
			list = append(list, change{part.Path, part.Old, part.New})
		}
	}
	return list
}
