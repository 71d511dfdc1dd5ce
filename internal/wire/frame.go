package wire

import (
	"bytes"
	"io"
	"strconv"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// The subprotocols of GET /v1/ws. With [Protocol] a message is one frame. With
// [ProtocolBatch] a message is one or more frames with a line end between
// them, and no frame has a line end inside. A browser, which cannot set
// headers, offers its token as a third subprotocol behind [TokenProtocol]; it
// is never chosen.
const (
	Protocol      = "sayso.v1"
	ProtocolBatch = "sayso.v1.batch"
	TokenProtocol = "sayso.token."
)

// MaxMessage is the longest message of a WebSocket, in bytes.
const MaxMessage = 8 << 20

// CloseSlow and CloseRefused are the codes with which the server closes a
// connection: a follower that does not keep up and has to resume from the last
// event it has, and a token that ended.
const (
	CloseSlow    = 4008
	CloseRefused = 4003
)

// The operations of a WebSocket. They mirror the routes.
const (
	OpAdmit        = "admit"
	OpPresentation = "presentation"
	OpRedeem       = "redeem"
	OpOutcome      = "outcome"
	OpWithdraw     = "withdraw"
	OpBegin        = "begin"
	OpEnd          = "end"
	OpCancel       = "cancel"
	OpRequests     = "requests"
	OpRequest      = "request"
	OpCall         = "call"
	OpContent      = "content"
	OpLife         = "life"
	OpAnswer       = "answer"
	OpGroup        = "group"
	OpHead         = "head"
	OpFollow       = "follow"
	OpUnfollow     = "unfollow"
	OpGrants       = "grants"
	OpRevoke       = "revoke"
	OpSessions     = "sessions"
	OpPolicies     = "policies"
	OpSetPolicies  = "set_policies"
	OpMode         = "mode"
	OpSetMode      = "set_mode"
	OpCheck        = "check"
	OpExplain      = "explain"
	OpReplay       = "replay"
	OpPolicyFiles  = "policy_files"
	OpStatus       = "status"
	OpDefinitions  = "definitions"
	OpAccept       = "accept_definition"
	OpKeep         = "keep_definition"
	OpNotices      = "notices"
	OpRetry        = "retry"
	OpEvent        = "event" // from the server: one event of a follow
)

// Frame is one message part of a WebSocket. The client chooses the ID of an
// operation, which must not be in use; the answer and the events of a follow
// carry the same. An answer has a Status, those of HTTP, and no Op.
type Frame struct {
	ID     uint64     `json:"id"`
	Op     string     `json:"op,omitempty"`
	Status int        `json:"status,omitzero"`
	Body   sayso.Args `json:"body,omitzero"`
}

// Target is the body of cancel and unfollow: which operation.
type Target struct {
	ID uint64 `json:"id"`
}

// ParseFrame reads one frame, strictly; its body is checked only when it is
// decoded, and must be. The body shares no memory with text.
func ParseFrame(text []byte) (Frame, error) {
	if f, ok := plainFrame(text); ok {
		return f, nil
	}
	var f Frame
	err := jcs.Unmarshal(text, &f)
	return f, err
}

// plainFrame reads a frame that is spelled as [AppendFrame] spells it, which
// nearly all are, in one pass. Whatever follows the body's name is the body,
// so that more members behind it make it no JSON.
func plainFrame(text []byte) (f Frame, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"id":`))
	if !ok {
		return f, false
	}
	if f.ID, rest, ok = number(rest); !ok {
		return f, false
	}
	if op, found := bytes.CutPrefix(rest, []byte(`,"op":"`)); found {
		end := bytes.IndexByte(op, '"')
		if end <= 0 || bytes.ContainsFunc(op[:end], func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
			return f, false
		}
		f.Op, rest = string(op[:end]), op[end+1:]
	}
	if status, found := bytes.CutPrefix(rest, []byte(`,"status":`)); found {
		n, after, ok := number(status)
		if !ok || n > 999 {
			return f, false
		}
		f.Status, rest = int(n), after
	}
	body, found := bytes.CutPrefix(rest, []byte(`,"body":{`))
	if !found || len(body) < 2 || body[len(body)-1] != '}' {
		return f, string(rest) == "}"
	}
	f.Body = append(sayso.Args{'{'}, body[:len(body)-1]...)
	return f, true
}

// number reads digits without a sign, a fraction or leading zeros.
func number(text []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for i < len(text) && i < 19 && '0' <= text[i] && text[i] <= '9' {
		n = n*10 + uint64(text[i]-'0')
		i++
	}
	return n, text[i:], i > 0 && (text[0] != '0' || i == 1)
}

// AppendFrame appends a frame whose body is JSON without line ends; nil for
// none.
func AppendFrame(b []byte, id uint64, op string, status int, body []byte) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendUint(b, id, 10)
	if op != "" {
		b = append(append(append(b, `,"op":"`...), op...), '"')
	}
	if status != 0 {
		b = append(b, `,"status":`...)
		b = strconv.AppendInt(b, int64(status), 10)
	}
	if body != nil {
		b = append(append(b, `,"body":`...), body...)
	}
	return append(b, '}')
}

// Frames yields the frames of one message.
func Frames(message []byte, batch bool) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for more := true; more; {
			part := message
			i := -1
			if batch {
				i = bytes.IndexByte(message, '\n')
			}
			if more = i >= 0; more {
				part, message = message[:i], message[i+1:]
			}
			if !yield(part) {
				return
			}
		}
	}
}

// Message reads messages one after the other into the same memory.
type Message struct{ b []byte }

// Read reads one message to its end.
func (m *Message) Read(r io.Reader) error {
	m.b = m.b[:0]
	for {
		if len(m.b) == cap(m.b) {
			m.b = append(m.b, 0)[:len(m.b)]
		}
		n, err := r.Read(m.b[len(m.b):cap(m.b)])
		m.b = m.b[:len(m.b)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Bytes is the message, until the next one is read.
func (m *Message) Bytes() []byte { return m.b }
