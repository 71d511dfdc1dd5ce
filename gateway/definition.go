package gateway

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/present"
)

// Pins know which definitions are trusted. [broker.Broker] has the words.
type Pins interface {
	// Meet says of each definition that a server presents whether it is trusted,
	// having put on the record those that are new and those that changed.
	Meet(ctx context.Context, by sayso.Actor, server string, seen []sayso.Definition) ([]bool, error)
	// Pins are those on the record, which says what was known first of two tools
	// that look alike.
	Pins(ctx context.Context) (sayso.Pins, error)
}

// standing is what may be done with a tool. The zero standing refuses.
type standing int

const (
	quarantined standing = iota // its definition is not the one that is trusted
	deceptive                   // its name looks like another, or cannot be read
	trusted
)

// tool is what the server said of one of its tools last.
type tool struct {
	standing
	definition  sayso.Definition
	digest      string
	schema      jsontext.Value
	annotations *sayso.Annotations
	why         string // where the name deceives
}

// toolDefinition is what is read of a definition; all of it is pinned.
type toolDefinition struct {
	Name        string         `json:"name"`
	Schema      jsontext.Value `json:"inputSchema"`
	Annotations jsontext.Value `json:"annotations"`
}

// annotationHints are the annotations as the protocol has them.
type annotationHints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

// readTool reads one definition of a list. One that is no definition has no name.
func readTool(text jsontext.Value) (string, tool, error) {
	whole, err := jcs.Object(text)
	if err != nil {
		return "", tool{}, err
	}
	var d toolDefinition
	if err := jcs.UnmarshalLenient(whole, &d); err != nil {
		d = toolDefinition{}
	}
	t := tool{definition: sayso.Definition{Tool: d.Name, Text: whole}, schema: d.Schema}
	t.digest = t.definition.Digest().String()
	var h annotationHints
	if d.Annotations != nil && jcs.UnmarshalLenient(d.Annotations, &h) == nil { // what is no annotation says nothing, which is the worst
		t.annotations = &sayso.Annotations{ReadOnly: h.ReadOnly, Destructive: h.Destructive, Idempotent: h.Idempotent, OpenWorld: h.OpenWorld}
	}
	t.why = nameProblem(d.Name)
	return d.Name, t, nil
}

// maxNameBytes is the longest name of a tool.
const maxNameBytes = 128

// nameProblem says what is wrong with a name that people cannot tell from another.
func nameProblem(name string) string {
	_, warnings := present.InspectName(name)
	switch {
	case name == "" || len(name) > maxNameBytes || !utf8.ValidString(name):
		return "its name is empty or too long"
	case name == samplingMethod:
		return "it is called like a request of the protocol"
	case len(warnings) > 0:
		return "its name deceives the eye (" + string(warnings[0].Kind) + ")"
	}
	return ""
}

// toolList is a list of tools as the server sent it.
type toolList struct {
	names []string
	tools []tool
	from  []int // where each begins in the line, and
	to    []int // ends
}

func (l *toolList) read(list jsontext.Value, at int) error {
	return rpc.Elements(list, func(value jsontext.Value, offset int) error {
		name, t, err := readTool(value)
		if err != nil {
			return fmt.Errorf("%w: the definition of a tool: %w", sayso.ErrInvalid, err)
		}
		l.names, l.tools = append(l.names, name), append(l.tools, t)
		l.from, l.to = append(l.from, at+offset), append(l.to, at+offset+len(value))
		return nil
	})
}

// onlyTrusted is the line with only the tools that may be shown.
func (l *toolList) onlyTrusted(line []byte) []byte {
	if len(l.tools) == 0 {
		return line
	}
	out := append([]byte(nil), line[:l.from[0]]...)
	shown := 0
	for i, t := range l.tools {
		if t.standing != trusted {
			continue
		}
		if shown++; shown > 1 {
			out = append(out, ',')
		}
		out = append(out, line[l.from[i]:l.to[i]]...)
	}
	return append(out, line[l.to[len(l.to)-1]:]...)
}
