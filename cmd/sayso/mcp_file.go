package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/inspect/address"
)

// mcpFile is what a file says of the servers that mcp stands in front of.
type mcpFile struct {
	listen  string
	servers []mcpUpstream
}

// mcpUpstream is one of them.
type mcpUpstream struct {
	name   string
	args   []string
	env    []string
	url    string
	header http.Header
	passes bool // the client's Authorization goes on
	login  bool // the person's login goes with each request
	tokens []string
}

// maxMCPFile is the largest file, in bytes.
const maxMCPFile = 1 << 20

// readMCPFile reads a file strictly. Every mistake is told with its place.
func readMCPFile(name string, getenv func(string) string, environ []string) (*mcpFile, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usage(fmt.Errorf("%w: there is no file %s that says which servers to stand in front of", sayso.ErrNotFound, name),
			"sayso mcp --listen "+defaultMCPListen+" --name NAME -- COMMAND ARGS...; docs/mcp.md says what the file holds")
	}
	if err != nil {
		return nil, err
	}
	r := mcpReader{file: name, getenv: getenv, environ: environ}
	out := r.read(text)
	if len(r.wrong) > 0 {
		return nil, fmt.Errorf("%w: %w", sayso.ErrInvalid, errors.Join(r.wrong...))
	}
	return out, nil
}

// mcpReader keeps the mistakes on the way.
type mcpReader struct {
	file    string
	getenv  func(string) string
	environ []string
	wrong   []error
}

func (r *mcpReader) fail(n *yaml.Node, what string, args ...any) {
	r.wrong = append(r.wrong, fmt.Errorf("%s:%d:%d: %s", r.file, max(n.Line, 1), max(n.Column, 1), fmt.Sprintf(what, args...)))
}

func (r *mcpReader) read(text []byte) *mcpFile {
	top := &yaml.Node{Line: 1, Column: 1}
	if len(text) > maxMCPFile || !utf8.Valid(text) {
		r.fail(top, "the file is not UTF-8, or has more than %d bytes", maxMCPFile)
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	var doc, more yaml.Node
	if err == nil {
		err = loader.Load(&doc)
	}
	var wrong *yaml.LoadError
	switch {
	case errors.As(err, &wrong):
		r.fail(&yaml.Node{Line: wrong.Mark.Line, Column: wrong.Mark.Column}, "%s", wrong.Message)
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		r.fail(top, "%s", err)
		return nil
	case err != nil || len(doc.Content) != 1:
		r.fail(top, "the file says nothing; write version: 1 and servers:")
		return nil
	case loader.Load(&more) == nil:
		r.fail(top, "the file is more than one document; remove the line ---")
		return nil
	}
	return r.document(doc.Content[0])
}

func (r *mcpReader) document(doc *yaml.Node) *mcpFile {
	var f mcpFile
	versioned := false
	r.mapping(doc, "the file", map[string]func(*yaml.Node){
		"version": func(n *yaml.Node) {
			if versioned = true; n.Value != "1" || n.ShortTag() != "!!int" {
				r.fail(n, "this program reads version 1 of the file; write version: 1")
			}
		},
		"listen": func(n *yaml.Node) { f.listen = r.text(n) },
		"servers": func(n *yaml.Node) {
			r.named(n, "servers", func(key, n *yaml.Node) { f.servers = append(f.servers, r.server(key, n)) })
		},
	})
	if !versioned {
		r.fail(doc, "the file does not say in which version of the format it is; write version: 1 in the first line")
	}
	if len(f.servers) == 0 && len(r.wrong) == 0 {
		r.fail(doc, "the file names no server; write servers:")
	}
	return &f
}

// serverName is a name that can stand in a path and in rules.
var serverName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

const serverNames = "a server has a name of letters, digits and .-_, which stands in its path and in rules"

// server reads one server.
func (r *mcpReader) server(key, n *yaml.Node) mcpUpstream {
	s := mcpUpstream{name: key.Value, header: http.Header{}}
	if !serverName.MatchString(s.name) {
		r.fail(key, serverNames)
	}
	var command string
	var started *yaml.Node
	var args, env []string
	var programs *yaml.Node // what is said of a program alone
	var addresses *yaml.Node
	program := func(n *yaml.Node) { programs = n }
	reached := func(n *yaml.Node) { addresses = n }
	r.mapping(n, "a server", map[string]func(*yaml.Node){
		"command": func(n *yaml.Node) { program(n); started = n; command = r.text(n) },
		"args":    func(n *yaml.Node) { program(n); args = r.texts(n) },
		"env": func(n *yaml.Node) {
			program(n)
			r.named(n, "env", func(key, n *yaml.Node) { env = append(env, r.variable(key)+"="+r.filled(n)) })
		},
		"url": func(n *yaml.Node) {
			reached(n)
			if s.url = r.text(n); s.url != "" {
				if err := gateway.CheckURL(s.url); err != nil {
					r.fail(n, "%s", errorText(err))
				}
			}
		},
		"headers": func(n *yaml.Node) {
			reached(n)
			r.named(n, "headers", func(key, n *yaml.Node) { s.header.Add(r.headerName(key), r.headerValue(n)) })
		},
		"authorization": func(n *yaml.Node) {
			reached(n)
			switch r.text(n) {
			case "pass":
				s.passes = true
			case "login":
				s.login = true
			default:
				r.fail(n, "authorization is pass, so that the client's own goes to the server, or login, for what sayso mcp login was given, or is not there; the server's own stands in headers")
			}
		},
		"tokens": func(n *yaml.Node) {
			if s.tokens = r.texts(n); len(s.tokens) == 0 {
				r.fail(n, "tokens are the names of those that may use this server; without the line all may")
			}
		},
	})
	r.checkServer(key, n, &s, command, programs, addresses)
	if command != "" {
		s.args = append([]string{command}, args...)
		if _, err := gateway.Identity(s.args); err != nil { // else the first client is told, and nobody here
			r.fail(started, "%s cannot be started: %s; is it installed?", s.name, errorText(err))
		}
		s.env = slices.Concat(r.environ, env)
	}
	return s
}

// checkServer reports what of a server does not go together. Where it says something of a
// program stands in programs, and something of an address in addresses.
func (r *mcpReader) checkServer(key, n *yaml.Node, s *mcpUpstream, command string, programs, addresses *yaml.Node) {
	switch {
	case command == "" && s.url == "" && r.at(n, "command", "url"): // what is wrong with it was said
	case command == "" && s.url == "":
		r.fail(key, "%s has no command and no url; write one of them", s.name)
	case command != "" && s.url != "":
		r.fail(addresses, "%s has a command and a url; write one of them", s.name)
	case command == "" && programs != nil:
		r.fail(programs, "args and env are those of a command, and %s has a url", s.name)
	case s.url == "" && addresses != nil:
		r.fail(addresses, "headers and authorization belong to a url, and %s has a command; write env", s.name)
	case s.passes && len(s.header["Authorization"]) > 0:
		r.fail(key, "the Authorization of %s is the client's, or that in headers; write one of them", s.name)
	case s.login && len(s.header["Authorization"]) > 0:
		r.fail(key, "the Authorization of %s is that of the login, or that in headers; write one of them", s.name)
	}
}

// at reports whether a mapping has one of these keys.
func (r *mcpReader) at(n *yaml.Node, keys ...string) bool {
	return n.Kind == yaml.MappingNode && slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return slices.Contains(keys, c.Value) })
}

// mapping reads a mapping of these keys.
func (r *mcpReader) mapping(n *yaml.Node, where string, fields map[string]func(*yaml.Node)) {
	r.named(n, where, func(key, value *yaml.Node) {
		if read := fields[key.Value]; read != nil {
			read(value)
			return
		}
		known := make([]string, 0, len(fields))
		for name := range fields {
			known = append(known, name)
		}
		slices.Sort(known)
		r.fail(key, "%s has no key %s; there are %s", where, asTyped(key.Value), strings.Join(known, ", "))
	})
}

// named reads a mapping of names, each once.
func (r *mcpReader) named(n *yaml.Node, where string, read func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode || n.Anchor != "" {
		r.fail(n, "%s must be a mapping of names to values", where)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "" || key.ShortTag() != "!!str":
			r.fail(key, "a name is a text; put it into quotes")
		case seen[key.Value]:
			r.fail(key, "%s has %s twice", where, asTyped(key.Value))
		default:
			seen[key.Value] = true
			read(key, value)
		}
	}
}

// text reads a text that is not empty.
func (r *mcpReader) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || n.ShortTag() != "!!str" || n.Value == "" {
		r.fail(n, "a text was expected; put numbers and words like true into quotes")
		return ""
	}
	return n.Value
}

func (r *mcpReader) texts(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode || n.Anchor != "" {
		r.fail(n, "a list was expected: [ONE, TWO]")
		return nil
	}
	out := make([]string, 0, len(n.Content))
	for _, c := range n.Content {
		out = append(out, r.text(c))
	}
	return out
}

// variableName is the name of a variable of the environment.
var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	reference    = regexp.MustCompile(`\$\{[^}]*\}?`)
)

func (r *mcpReader) variable(key *yaml.Node) string {
	if !variableName.MatchString(key.Value) {
		r.fail(key, "%s is no name of a variable of the environment", asTyped(key.Value))
	}
	return key.Value
}

// filled reads a text in which ${NAME} stands for a variable of the environment.
func (r *mcpReader) filled(n *yaml.Node) string {
	return reference.ReplaceAllStringFunc(r.text(n), func(ref string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
		if !variableName.MatchString(name) || !strings.HasSuffix(ref, "}") {
			r.fail(n, "a variable of the environment is written ${NAME}")
			return ""
		}
		value := r.getenv(name)
		if value == "" {
			r.fail(n, "%s is not set in the environment; type: export %s=…", name, name)
		}
		return value
	})
}

func (r *mcpReader) headerName(key *yaml.Node) string {
	if !address.Settable(key.Value) {
		r.fail(key, "%s is no header that can be set here", asTyped(key.Value))
	}
	return http.CanonicalHeaderKey(key.Value)
}

func (r *mcpReader) headerValue(n *yaml.Node) string {
	value := r.filled(n)
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		r.fail(n, "the value of a header holds no control characters")
	}
	return value
}

// errorText is what an error says without the kind that it is of.
func errorText(err error) string {
	return strings.TrimPrefix(err.Error(), sayso.ErrInvalid.Error()+": ")
}
