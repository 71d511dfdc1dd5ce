package gateway

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// toolCall is a tools/call as it was read. Its parts are slices of the message.
type toolCall struct {
	message
	name        string
	arguments   jsontext.Value // nil if there are none
	argumentsAt int            // where they begin in the line
	meta        meta
	responses   jsontext.Value // to what was wanted of the client
	state       string         // of the server, with which a call is made again; empty if it is new
}

// meta is what a host says beside a call.
type meta struct {
	token   jsontext.Value // for progress; nil if none was given
	callID  string         // the host's own id of the call
	client  string         // what the client calls itself; empty if it did not say
	current bool           // the client speaks 2026-07-28 or later
	tasks   bool           // it takes tasks for answers
	form    bool           // it shows forms to its person
}

var paramMembers = []string{"name", "arguments", "_meta", "requestState", "inputResponses"}

// readCall reads a tools/call.
func readCall(m message) (toolCall, error) {
	c := toolCall{message: m}
	if !m.isRequest() {
		return c, rpc.Invalid("a call of a tool needs an id")
	}
	err := rpc.Members(m.params, paramMembers, func(name string, value jsontext.Value, at int) error {
		switch name {
		case "name":
			return rpc.ReadText(value, &c.name)
		case "arguments":
			if value.Kind() != '{' {
				return rpc.Invalid("arguments are an object")
			}
			c.arguments, c.argumentsAt = value, m.paramsAt+at
		case "_meta":
			return c.meta.read(value)
		case "requestState":
			return rpc.ReadText(value, &c.state)
		case "inputResponses":
			c.responses = value
		}
		return nil
	})
	if err == nil && c.name == "" {
		err = rpc.Invalid("a call names a tool")
	}
	if len(c.arguments) > sayso.MaxCall {
		err = rpc.Invalid(fmt.Sprintf("arguments may have %d bytes", sayso.MaxCall))
	}
	return c, err
}

// Where hosts put their own id of a call.
const (
	claudeCallID = "claudecode/toolUseId"
	codexCallID  = "callId"
)

func (m *meta) read(text jsontext.Value) error {
	if text.Kind() != '{' {
		return rpc.Invalid("_meta is an object")
	}
	return rpc.Members(text, nil, func(name string, value jsontext.Value, _ int) error {
		switch name {
		case "progressToken":
			if k := value.Kind(); k == '"' || k == '0' {
				m.token = value
			}
		case claudeCallID, codexCallID:
			if value.Kind() == '"' {
				return rpc.ReadText(value, &m.callID)
			}
		case "io.modelcontextprotocol/protocolVersion":
			m.current = true
		case "io.modelcontextprotocol/clientInfo":
			m.client = clientName(value)
		case capabilitiesName:
			return m.declares(value)
		}
		return nil
	})
}

// declares reads what a client says with each request that it can do.
func (m *meta) declares(can jsontext.Value) error {
	if can.Kind() != '{' {
		return nil
	}
	return rpc.Members(can, nil, func(name string, value jsontext.Value, _ int) error {
		if name == "elicitation" {
			m.form = showsForms(value)
		}
		if name != "extensions" || value.Kind() != '{' {
			return nil
		}
		return rpc.Members(value, nil, func(name string, value jsontext.Value, _ int) error {
			m.tasks = m.tasks || name == tasksExtension && value.Kind() == '{'
			return nil
		})
	})
}

// showsForms reports whether a client shows forms to its person, as it says: it
// names them, or no other way of asking.
func showsForms(can jsontext.Value) bool {
	if can.Kind() != '{' {
		return false
	}
	forms, others := false, false
	err := rpc.Members(can, nil, func(name string, value jsontext.Value, _ int) error {
		forms, others = forms || name == "form" && value.Kind() == '{', others || name == "url"
		return nil
	})
	return err == nil && (forms || !others)
}

// args are the arguments as the gate takes them.
func (c *toolCall) args() sayso.Args {
	if c.arguments == nil {
		return sayso.Args("{}")
	}
	return sayso.Args(c.arguments)
}

// with is the message with other arguments and everything else as it was.
func (c *toolCall) with(args sayso.Args) []byte {
	if c.arguments != nil {
		return splice(c.line, c.argumentsAt, c.argumentsAt+len(c.arguments), args)
	}
	at := c.paramsAt + 1
	member := append(append([]byte(`"arguments":`), args...), ',') // a name stands behind it
	return splice(c.line, at, at, member)
}

func splice(line []byte, from, to int, text []byte) []byte {
	out := make([]byte, 0, len(line)-(to-from)+len(text))
	return append(append(append(out, line[:from]...), text...), line[to:]...)
}
