package gateway

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// mirroredArg is an argument that a server wants to see in a header, too.
type mirroredArg struct {
	header string
	path   []string
}

const maxMirrors, maxMirrorDepth = 64, 8

// mirrors are those of a tool, as its schema has them.
func (t *tool) mirrors() (list []mirroredArg) {
	var walk func(schema jsontext.Value, path []string)
	walk = func(schema jsontext.Value, path []string) {
		var s struct {
			Properties map[string]jsontext.Value `json:"properties"`
		}
		if len(path) > maxMirrorDepth || schema.Kind() != '{' || jcs.UnmarshalLenient(schema, &s) != nil {
			return
		}
		for name, text := range s.Properties {
			var p struct {
				Header jsontext.Value `json:"x-mcp-header"`
			}
			at := append(path[:len(path):len(path)], name)
			var header string
			if text.Kind() == '{' && jcs.UnmarshalLenient(text, &p) == nil && p.Header != nil && rpc.ReadText(p.Header, &header) == nil && len(list) < maxMirrors {
				list = append(list, mirroredArg{header, at})
			}
			walk(text, at)
		}
	}
	walk(t.schema, nil)
	return list
}

// value is the argument at the path, nil if there is none.
func (m mirroredArg) value(args jsontext.Value) (found jsontext.Value) {
	found = args
	for _, want := range m.path {
		if found.Kind() != '{' {
			return nil
		}
		at := found
		found = nil
		_ = rpc.Members(at, nil, func(name string, value jsontext.Value, _ int) error { // it was read strictly before
			if name == want {
				found = value
			}
			return nil
		})
	}
	if found.Kind() == 'n' {
		return nil
	}
	return found
}

// headerText is an argument as a header says it.
func headerText(value jsontext.Value) (string, bool) {
	switch value.Kind() {
	case '"':
		var text string
		return text, rpc.ReadText(value, &text) == nil
	case '0', 't', 'f':
		return string(value), true
	}
	return "", false
}

// checkMirrors reports headers that say something else than the arguments.
func (k *serverTrust) checkMirrors(h http.Header, o *requestMeta) *rejection {
	t, ok := k.tool(o.name)
	if !ok {
		return nil
	}
	for _, m := range t.mirrors() {
		name := paramPrefix + m.header
		given, one := singleValue(h, name)
		want := m.value(o.args)
		if want == nil && given == "" && one {
			continue
		}
		if text, ok := decoded(given); !one || !ok || want == nil || !sameValue(text, want) {
			return mismatch("the header " + name + " is not the argument " + strings.Join(m.path, ".") + " of the call")
		}
	}
	return nil
}

// sameValue reports whether a header says an argument.
func sameValue(text string, want jsontext.Value) bool {
	is, ok := headerText(want)
	if !ok || want.Kind() != '0' {
		return ok && is == text
	}
	a, err1 := jcs.Canonicalize([]byte(text))
	b, err2 := jcs.Canonicalize(want)
	return err1 == nil && err2 == nil && bytes.Equal(a, b)
}

// setMirrors sets the headers that a server wants to see for a call, as it is now:
// a person may have changed the arguments. Others are as the client sent them.
func (k *serverTrust) setMirrors(to, given http.Header, o *requestMeta) {
	for name, values := range given {
		if strings.HasPrefix(name, paramPrefix) {
			to[name] = values
		}
	}
	t, ok := k.tool(o.name)
	if !ok {
		return
	}
	for _, m := range t.mirrors() {
		to.Del(paramPrefix + m.header)
		if text, ok := headerText(m.value(o.args)); ok {
			to.Set(paramPrefix+m.header, encoded(text))
		}
	}
}
