package acp

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/lines"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// The methods that are looked at.
const (
	Initialize    = "initialize"
	Ask           = "session/request_permission"
	Update        = "session/update"
	CancelSession = "session/cancel"
	CancelRequest = "$/cancel_request"
	NewSession    = "session/new"
	LoadSession   = "session/load"
	ResumeSession = "session/resume"
	ForkSession   = "session/fork"
)

// Message is one message of either side. Its parts are slices of its line.
type Message struct {
	Line   []byte
	ID     jsontext.Value // as it was spelled; nil if there is none
	Method string
	Params jsontext.Value
	Result jsontext.Value
	failed bool
}

// messageMembers are the members of a message. Others are left alone, unless a
// careless reader could take them for one of these.
var messageMembers = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// Read reads a message. Only its outermost members must be readable in one way, and
// no reader may see more than one message in it.
func Read(line []byte) (Message, error) {
	m := Message{Line: line}
	if err := lines.One(line); err != nil {
		return m, err
	}
	err := rpc.Members(line, messageMembers, func(name string, value jsontext.Value, _ int) error {
		switch name {
		case "id":
			m.ID = value
		case "method":
			return rpc.ReadText(value, &m.Method)
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.failed = true
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	return m, m.check()
}

// check reports a message that is none of a request, a notification and a response.
func (m *Message) check() error {
	answers := m.Result != nil || m.failed
	switch {
	case m.ID != nil && m.ID.Kind() != '"' && m.ID.Kind() != '0' && (m.Method != "" || m.ID.Kind() != 'n'):
		return rpc.Invalid("an id is a text or a number")
	case m.ID != nil && !m.ID.IsValid(): // which no answer could have
		return rpc.Invalid("an id is no text that can be read")
	case m.Method != "" && answers, m.Result != nil && m.failed:
		return rpc.Invalid("it asks and answers at once")
	case m.Method == "" && !answers:
		return rpc.Invalid("it neither asks nor answers")
	case !slices.Contains(judged, m.Method) && rpc.PosesAs(m.Method, judged):
		return rpc.Invalid("a method is called nearly like one that is judged")
	}
	return nil
}

// Request reports whether somebody waits for an answer to it.
func (m *Message) Request() bool { return m.Method != "" && m.ID != nil }

// Response reports whether it answers a request.
func (m *Message) Response() bool { return m.Method == "" && m.ID != nil }

// Key is what the ids of one direction are compared by.
func (m *Message) Key() string { return Key(m.ID) }

// Key is what an id is compared by: 1 and 1.0 are one number, and "1" is none.
func Key(id jsontext.Value) string {
	text, err := jcs.Canonicalize(id)
	if err != nil {
		return string(id)
	}
	return string(text)
}

// Peer is what one side calls itself as it begins.
type Peer struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Agent is what an agent calls itself in its answer to initialize, if it does.
func (m *Message) Agent() (p Peer, ok bool) {
	var r struct {
		Agent Peer `json:"agentInfo"`
	}
	ok = jcs.UnmarshalLenient(m.Result, &r) == nil && r.Agent.Name != ""
	return r.Agent, ok
}

// Session is what a message says about a session: which it is, and the folder that
// it works in. Either may be empty.
type Session struct {
	ID  string `json:"sessionId"`
	Cwd string `json:"cwd"`
}

// Session is what the parameters of a request, or the result of one, say about a
// session.
func (m *Message) Session() (s Session) {
	text := m.Params
	if text == nil {
		text = m.Result
	}
	if jcs.UnmarshalLenient(text, &s) != nil {
		return Session{}
	}
	return s
}

// Cancelled is the id of the request that a $/cancel_request is about, nil if it
// names none.
func (m *Message) Cancelled() jsontext.Value {
	var p struct {
		ID jsontext.Value `json:"requestId"`
	}
	if jcs.UnmarshalLenient(m.Params, &p) != nil {
		return nil
	}
	return p.ID
}

// answer is a response of ours.
func answer(id jsontext.Value, result any) []byte {
	text, err := jcs.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Result  any            `json:"result"`
	}{"2.0", id, result})
	if err != nil { // an id that was read can be written, and an option too
		return failure(id, codeInvalid, "the answer cannot be written")
	}
	return text
}

// Refuse is the answer to a message that cannot be read, where it is known which
// request it was.
func Refuse(id jsontext.Value, why error) []byte {
	return failure(id, codeInvalid, fmt.Sprintf("Refused: %v. Nothing was asked and nothing ran.", why))
}

func failure(id jsontext.Value, code int, text string) []byte {
	type wrong struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	line, err := jcs.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   wrong          `json:"error"`
	}{"2.0", id, wrong{code, text}})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer cannot be written"}}`)
	}
	return line
}

// errPermission is the error of a request for permission that cannot be read.
func errPermission(err error) error {
	return fmt.Errorf("%w: %s: %w", sayso.ErrInvalid, Ask, err)
}
