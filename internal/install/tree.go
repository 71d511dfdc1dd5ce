package install

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// node is a JSON value with the place where it stands in the text.
type node struct {
	kind     jsontext.Kind
	from, to int
	members  []member // of an object
	elements []*node  // of an array
}

// member is a name with its value; from is where the name begins.
type member struct {
	name  string
	from  int
	value *node
}

// parse reads a settings file. What two readers could read differently is
// refused: we would change one reading and the host would obey the other.
func parse(text []byte) (*node, error) {
	if err := jcs.Check(text); err != nil {
		return nil, err
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	n, err := value(d, text)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("something stands after the settings")
	}
	return n, nil
}

func value(d *jsontext.Decoder, text []byte) (*node, error) {
	n := &node{kind: d.PeekKind()}
	switch n.kind {
	case '{', '[':
		return n, container(d, text, n)
	}
	raw, err := d.ReadValue()
	n.to = int(d.InputOffset())
	n.from = n.to - len(raw)
	return n, err
}

func container(d *jsontext.Decoder, text []byte, n *node) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	n.from = int(d.InputOffset()) - 1
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		var m member
		if n.kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return err
			}
			m.name = name.String()
			m.from = start(text, int(d.InputOffset()))
		}
		v, err := value(d, text)
		if err != nil {
			return err
		}
		if n.kind == '{' {
			m.value = v
			n.members = append(n.members, m)
		} else {
			n.elements = append(n.elements, v)
		}
	}
	_, err := d.ReadToken()
	n.to = int(d.InputOffset())
	return err
}

// start finds where the string begins that ends before end.
func start(text []byte, end int) int {
	for i := end - 2; i >= 0; i-- {
		if text[i] != '"' {
			continue
		}
		slashes := 0
		for j := i - 1; j >= 0 && text[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return 0
}

// get returns the value of a member, nil if there is none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// raw is the text of the value.
func (n *node) raw(text []byte) []byte { return text[n.from:n.to] }
