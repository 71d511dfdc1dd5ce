package gateway

import (
	"bytes"
	"errors"
	"strings"

	"github.com/sayso-dev/sayso/internal/lines"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// outline looks at a message that is too long to be looked at whole, piece by
// piece, while it passes. Only the answer to a call is as long as that: anything
// else, and anything in it that would have to be judged, is refused.
//
// It follows the nesting and spells out the names of the outermost members, and
// of those of the result. Whether the rest is JSON is for the client to find out;
// but outside of strings nothing passes that JSON has only in them, see [lines.One].
type outline struct {
	depth       int
	open        []byte // the brackets that are open, the two outermost
	inString    bool   // inside a string
	escaped     bool   // behind a backslash
	inName      bool   // the string is a name
	expectsName bool   // a name comes next, at a depth that is looked at
	name        []byte
	member      string // the outermost member that is being read
	inner       string // the member of the result that is being read
	seen        map[string]bool
	complete    bool

	id      []byte // of the request that it answers
	scanned int    // how much was looked at, before this piece
	pos     int    // what is looked at
	idFrom  int    // where the id begins, and
	idTo    int    // ends; both zero until it did
	failed  bool   // it is an error, or the result of a tool that failed
}

var errTooLong = errors.New("a message is too long to be judged, and is not only the answer to a call")

// maxName is the longest name that is spelled out; longer ones are no member of
// the protocol.
const maxName = 256

// scan follows the next piece. Behind the last one all of the message must have
// been there, and have been an answer.
func (o *outline) scan(piece []byte, last bool) error {
	if err := lines.One(piece); err != nil {
		return err
	}
	for i := 0; i < len(piece); i++ {
		if o.inString && !o.inName && !o.escaped && o.member != "id" {
			if i += plainText(piece[i:]); i == len(piece) {
				break
			}
		}
		o.pos = o.scanned + i
		if err := o.step(piece[i]); err != nil {
			return err
		}
	}
	o.scanned += len(piece)
	if last && (!o.complete || o.inString || !o.seen["id"] || !o.seen["result"] && !o.seen["error"]) {
		return errTooLong
	}
	return nil
}

// plainText is how far a text goes on without an end or an escape.
func plainText(piece []byte) int {
	if i := bytes.IndexByte(piece, '"'); i >= 0 {
		piece = piece[:i]
	}
	if i := bytes.IndexByte(piece, '\\'); i >= 0 {
		return i
	}
	return len(piece)
}

// answeredID is the id of the request that the message answers, nil while it is not
// known.
func (o *outline) answeredID() []byte {
	if o.seen["id"] && (o.complete || o.member != "id") {
		return o.id
	}
	return nil
}

func (o *outline) step(b byte) error {
	o.record(b)
	if o.inString {
		return o.stepString(b)
	}
	switch b {
	case ' ', '\t':
		return nil
	case '"':
		if o.depth == 0 {
			return errTooLong
		}
		o.inString, o.inName, o.name = true, o.expectsName, o.name[:0]
	case '{', '[':
		return o.openBracket(b)
	case '}', ']':
		return o.closeBracket(b)
	case ',':
		if o.expectsName = o.inScope(); o.expectsName && o.depth == 2 {
			o.inner = ""
		}
	default:
		if o.depth == 0 || strings.IndexByte(bare, b) < 0 {
			return errTooLong
		}
	}
	return nil
}

// bare are the characters of numbers, of true, false and null, and the colon.
const bare = ":0123456789+-.eEtrufalsn"

// record takes down the id, and whether the tool failed.
func (o *outline) record(b byte) {
	switch {
	case o.depth == 1 && o.member == "id" && !o.expectsName && !o.inName:
		if o.inString || b != ':' && b != ',' && b != '}' && b != ' ' && b != '\t' {
			if len(o.id) == 0 {
				o.idFrom = o.pos
			}
			o.idTo = o.pos + 1
			if len(o.id) <= maxName {
				o.id = append(o.id, b)
			}
		}
	case o.depth == 2 && o.inner == "isError" && b == 't':
		o.failed = true
	case o.depth == 1 && o.member == "error":
		o.failed = true
	}
}

// inScope reports whether the names at this depth are looked at: those of the
// message and those of its result.
func (o *outline) inScope() bool {
	return o.depth == 1 || o.depth == 2 && o.member == "result" && o.open[1] == '{'
}

func (o *outline) openBracket(b byte) error {
	if o.complete || o.depth == 0 && b != '{' {
		return errTooLong
	}
	if o.depth < 2 {
		o.open = append(o.open[:o.depth], b)
	}
	o.depth++
	o.expectsName = o.inScope() && b == '{'
	return nil
}

func (o *outline) closeBracket(b byte) error {
	if o.depth == 0 || o.depth <= len(o.open) && o.open[o.depth-1] != b-2 {
		return errTooLong // '{' and '[' stand two before their ends
	}
	o.depth--
	o.expectsName = false
	o.complete = o.depth == 0
	return nil
}

func (o *outline) stepString(b byte) error {
	switch {
	case o.escaped:
		o.escaped = false
		if o.inName {
			return errTooLong // a name of the protocol needs no escapes
		}
	case b == '\\':
		o.escaped = true
		return nil
	case b == '"':
		o.inString = false
		if o.inName {
			o.inName, o.expectsName = false, false
			return o.endName(string(o.name))
		}
		return nil
	}
	if o.inName && len(o.name) <= maxName {
		o.name = append(o.name, b)
	}
	return nil
}

// resultMembers are those that make a result something to be judged.
var resultMembers = []string{"tools", "inputRequests", "isError"}

func (o *outline) endName(name string) error {
	if o.depth == 2 {
		o.inner = name
		if name == "tools" || name == "inputRequests" || rpc.PosesAs(name, resultMembers) {
			return errTooLong
		}
		return nil
	}
	if o.seen[name] || name == "method" || rpc.PosesAs(name, messageMembers) {
		return errTooLong
	}
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	o.seen[name], o.member = true, name
	return nil
}
