package codex

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// AppLine is one line that `codex app-server` writes: a message of JSON-RPC
// without its version. Requests of the server are questions to whoever drives it.
type AppLine struct {
	Kind AppKind
	// ID is of a question, of the one that is taken back, or of what we asked.
	ID jsontext.Value
	// Approval is asked for; of AppAsks.
	Approval Approval
	// Method is of what is asked that is no approval; of AppWants.
	Method string
	// Result and Err answer what we asked; of AppAnswers.
	Result jsontext.Value
	Err    string
	// What follows is told.
	Thread, Turn string
	Item         Item   // of AppStarted, AppChanged and AppEnded
	Status       string // of a turn; of AppOver
	Text         string // of an error or a warning; of AppOver and AppWarns
}

// AppKind says what a line is.
type AppKind uint8

// The kinds of lines. The zero one tells nothing that matters here.
const (
	AppOther     AppKind = iota
	AppAsks              // whether a call may run
	AppElicits           // an MCP server asks the person for something
	AppWants             // anything else that must be answered
	AppTakesBack         // a question
	AppAnswers           // what we asked
	AppStarted           // an item of a turn
	AppChanged           // what an item would change
	AppEnded             // an item of a turn
	AppTurn              // a turn begins
	AppOver              // a turn
	AppWarns             // the person should know
)

// Item is something that happens in a turn: a message, or a call of a tool.
type Item struct {
	Type    string // agentMessage, commandExecution, fileChange, mcpToolCall, …
	ID      string
	Thread  string
	Text    string // of a message
	Status  string // of a call: inProgress, completed, failed, declined
	Command string
	Server  string
	Tool    string
	Args    sayso.Args // of a tool of a server
	Changes []Change
	Exit    *int
	Took    float64 // milliseconds
}

// Ran reports whether the call of an item was carried out.
func (i Item) Ran() bool { return i.Status == "completed" || i.Status == "failed" }

// What is a call that Codex made without a question, in a word; empty for all else.
// What it was about is not shown: nobody looked for secrets in it.
func (i Item) What() string {
	switch i.Type {
	case "commandExecution":
		return "a command ran"
	case "fileChange":
		return "files were changed"
	case "mcpToolCall":
		return "a tool of " + i.Server + " ran"
	case "webSearch", "imageGeneration", "dynamicToolCall":
		return i.Type
	}
	return ""
}

// Change is what is done with one file.
type Change struct {
	Path, To string
	Do       string // add, delete, update
	Diff     string // of an update; else the text of the file
}

// message is what all lines may have.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// messageMembers are those that decide something.
var messageMembers = []string{"id", "method", "params", "result", "error"}

// ParseApp reads one line. A line that is no message is an error, and so is a
// question that could be read in two ways; then the line still has the question's
// id, if that is certain, so that it can be refused.
func ParseApp(text []byte) (AppLine, error) {
	var m message
	if err := jcs.UnmarshalLenient(text, &m); err != nil {
		return unread(text), fmt.Errorf("%w: a line of the host is no message", sayso.ErrInvalid)
	}
	switch {
	case m.Method != "" && m.ID != nil:
		l, err := m.question(text)
		l.ID = m.ID
		return l, err
	case m.Method != "":
		return m.notice()
	case m.ID == nil || m.Result == nil && m.Error == nil:
		return AppLine{}, fmt.Errorf("%w: a line of the host is no message", sayso.ErrInvalid)
	}
	l := AppLine{Kind: AppAnswers, ID: m.ID, Result: m.Result}
	if m.Error != nil {
		if l.Err = m.Error.Message; l.Err == "" {
			l.Err = "it gave no reason"
		}
	}
	return l, nil
}

// unread is what is certain of a line that cannot be read: whether it is a question,
// and which.
func unread(text []byte) (l AppLine) {
	var id jsontext.Value
	var method bool
	err := rpc.Members(text, messageMembers, func(name string, value jsontext.Value, _ int) error {
		switch name {
		case "id":
			id = value
		case "method":
			method = true
		}
		return nil
	})
	if method && id != nil {
		if l.Kind = AppWants; err == nil {
			l.ID = id
		}
	}
	return l
}

// question reads what must be answered.
func (m *message) question(text []byte) (AppLine, error) {
	l := AppLine{Kind: AppWants, Method: m.Method}
	if err := agent.Read(text, messageMembers, &message{}); err != nil {
		return l, err
	}
	if m.Method == elicitation {
		l.Kind = AppElicits
	}
	read, ok := approvals[m.Method]
	if !ok {
		return l, nil
	}
	a, asks, err := read(m.Params)
	if err != nil {
		return l, err
	}
	if !asks {
		return l, nil
	}
	l.Kind, l.Approval = AppAsks, a
	return l, nil
}

// notice reads what is told.
func (m *message) notice() (AppLine, error) {
	kinds := map[string]AppKind{
		"item/started": AppStarted, "item/completed": AppEnded, "item/fileChange/patchUpdated": AppChanged,
		"serverRequest/resolved": AppTakesBack, "turn/started": AppTurn, "turn/completed": AppOver, "error": AppWarns,
	}
	l := AppLine{Kind: kinds[m.Method]}
	if l.Kind == AppOther {
		return l, nil
	}
	var p struct {
		Thread  string         `json:"threadId"`
		TurnID  string         `json:"turnId"`
		Request jsontext.Value `json:"requestId"`
		ItemID  string         `json:"itemId"`
		Changes []change       `json:"changes"`
		Item    item           `json:"item"`
		Turn    struct {
			ID     string     `json:"id"`
			Status string     `json:"status"`
			Error  *turnError `json:"error"`
		} `json:"turn"`
		Error *turnError `json:"error"`
	}
	if err := jcs.UnmarshalLenient(m.Params, &p); err != nil {
		return AppLine{}, fmt.Errorf("%w: a line of the host is no message: %s", sayso.ErrInvalid, m.Method)
	}
	l.Thread, l.ID, l.Turn, l.Status, l.Item = p.Thread, p.Request, p.TurnID, p.Turn.Status, p.Item.read()
	if p.Turn.ID != "" {
		l.Turn = p.Turn.ID
	}
	l.Item.Thread = p.Thread
	if l.Kind == AppChanged {
		l.Item = Item{Type: "fileChange", ID: p.ItemID, Thread: p.Thread, Changes: changes(p.Changes)}
	}
	for _, e := range []*turnError{p.Error, p.Turn.Error} {
		if e != nil {
			l.Text = e.Message
		}
	}
	return l, nil
}

type turnError struct {
	Message string `json:"message"`
}

// item is one as it is written.
type item struct {
	Type    string     `json:"type"`
	ID      string     `json:"id"`
	Text    string     `json:"text"`
	Status  string     `json:"status"`
	Command string     `json:"command"`
	Server  string     `json:"server"`
	Tool    string     `json:"tool"`
	Args    sayso.Args `json:"arguments"`
	Changes []change   `json:"changes"`
	Exit    *int       `json:"exitCode"`
	Took    *float64   `json:"durationMs"`
}

func (i item) read() Item {
	out := Item{Type: i.Type, ID: i.ID, Text: i.Text, Status: i.Status, Command: i.Command, Server: i.Server, Tool: i.Tool,
		Args: i.Args, Changes: changes(i.Changes), Exit: i.Exit}
	if i.Took != nil {
		out.Took = *i.Took
	}
	return out
}

type change struct {
	Path string `json:"path"`
	Kind struct {
		Type string  `json:"type"`
		To   *string `json:"move_path"`
	} `json:"kind"`
	Diff string `json:"diff"`
}

func changes(list []change) (out []Change) {
	for _, c := range list {
		n := Change{Path: c.Path, Do: c.Kind.Type, Diff: c.Diff}
		if c.Kind.To != nil {
			n.To = *c.Kind.To
		}
		out = append(out, n)
	}
	return out
}

// AppRequest is what we ask the server under an id.
func AppRequest(id int, method string, params any) ([]byte, error) {
	return jcs.Marshal(map[string]any{"id": id, "method": method, "params": params})
}

// AppInitialized tells the server that we are ready.
func AppInitialized() []byte { return []byte(`{"method":"initialized"}`) }

// AppRefuse answers a question that is none of ours, which the server takes as a
// failure of whoever drives it, and not as a yes.
func AppRefuse(id jsontext.Value, reason string) []byte {
	text, err := jcs.Marshal(map[string]any{"id": id, "error": map[string]any{"code": -32601, "message": agent.Words(reason)}})
	if err != nil {
		return nil // a server that gets no answer does not go on
	}
	return text
}

// AppDismiss tells a server of MCP tools that nobody is there to answer it.
func AppDismiss(id jsontext.Value) []byte { return appResult(id, map[string]any{"action": "cancel"}) }

func appResult(id jsontext.Value, result any) []byte {
	text, err := jcs.Marshal(map[string]any{"id": id, "result": result})
	if err != nil {
		return nil
	}
	return text
}
