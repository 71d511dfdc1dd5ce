package server

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/wire"
)

// Document is the OpenAPI 3.1 description of every route, made from the table
// of routes and the types of their bodies. docs/openapi.json is a copy.
func Document() ([]byte, error) {
	document.once.Do(func() { document.text, document.err = makeDocument() })
	return document.text, document.err
}

var document struct {
	once sync.Once
	text []byte
	err  error
}

func makeDocument() ([]byte, error) {
	d := documentBuilder{}
	if err := d.components(); err != nil {
		return nil, err
	}
	paths := map[string]map[string]object{}
	for _, r := range allRoutes() {
		op, err := d.operation(&r)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, r.pattern, err)
		}
		if paths[r.pattern] == nil {
			paths[r.pattern] = map[string]object{}
		}
		paths[r.pattern][strings.ToLower(r.method)] = op
	}
	return jcs.MarshalIndent(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "sayso", "version": "1", "license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "Asks people before an agent's tool calls run. Every error is a Problem; programs branch on its code.",
		},
		"servers":    []object{{"url": "/"}},
		"security":   []object{{"token": []string{}}},
		"paths":      paths,
		"components": object{"schemas": d.schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	})
}

// object is a JSON object of the document.
type object = map[string]any

// documentBuilder makes the document.
type documentBuilder struct {
	schemas map[string]*jsonschema.Schema
	refs    map[reflect.Type]*jsonschema.Schema
}

func (d *documentBuilder) operation(r *route) (object, error) {
	op := object{"summary": r.summary, "operationId": operationID(r), "description": audienceText(r)}
	if r.audience&anyone != 0 {
		op["security"] = []object{}
	}
	if r.op != "" {
		op["x-websocket-op"] = r.op
	}
	if p := parameters(r); len(p) > 0 {
		op["parameters"] = p
	}
	if r.in != nil {
		schema, err := d.schemaFor(r.in)
		if err != nil {
			return nil, err
		}
		op["requestBody"] = object{"required": true, "content": object{wire.JSON: object{"schema": schema}}}
	}
	responses, err := d.responses(r)
	op["responses"] = responses
	return op, err
}

func operationID(r *route) string {
	name := strings.ToLower(r.method)
	for seg := range strings.SplitSeq(strings.Trim(strings.TrimPrefix(r.pattern, "/v1"), "/"), "/") {
		seg = strings.Trim(seg, "{}.")
		name += strings.ToUpper(seg[:1]) + strings.ReplaceAll(seg[1:], ".", "")
	}
	return name
}

// audienceText says who may use a route.
func audienceText(r *route) string {
	switch {
	case r.audience&anyone != 0:
		return "For anyone; no token is needed."
	case r.audience&local != 0:
		return "For programs on this machine; from elsewhere a token is needed."
	}
	var names []string
	for kind, w := range kinds {
		if r.audience&w != 0 {
			names = append(names, string(kind))
		}
	}
	slices.Sort(names)
	return "For principals of kind " + strings.Join(names, ", ") + "."
}

func parameters(r *route) []object {
	var list []object
	for seg := range strings.SplitSeq(r.pattern, "/") {
		if name, ok := strings.CutPrefix(seg, "{"); ok {
			list = append(list, object{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	for _, p := range r.query {
		q := object{"name": p.name, "in": "query", "description": p.about}
		switch p.kind {
		case "list":
			q["schema"] = object{"type": "array", "items": object{"type": "string"}}
			q["style"], q["explode"] = "form", true
		default:
			q["schema"] = object{"type": p.kind}
		}
		list = append(list, q)
	}
	return list
}

func (d *documentBuilder) responses(r *route) (object, error) {
	out := object{}
	for status, t := range r.out {
		body, err := d.body(t)
		if err != nil {
			return nil, err
		}
		body["description"] = http.StatusText(status)
		out[strconv.Itoa(status)] = body
	}
	for _, status := range failureStatuses(r) {
		out[strconv.Itoa(status)] = object{
			"description": http.StatusText(status),
			"content":     object{wire.ProblemJSON: object{"schema": object{"$ref": componentPrefix + "Problem"}}},
		}
	}
	return out, nil
}

// failureStatuses are all statuses with which a route may fail.
func failureStatuses(r *route) []int {
	list := append([]int{400, 403, 405, 415, 422, 500, 503}, r.failStatuses...)
	if r.audience&anyone == 0 || r.op == "" {
		list = append(list, http.StatusUnauthorized)
	}
	if r.in != nil {
		list = append(list, http.StatusRequestEntityTooLarge)
	}
	return sorted(list)
}

func (d *documentBuilder) body(t reflect.Type) (object, error) {
	switch t {
	case nil:
		return object{}, nil
	case typeOf[textBody]():
		return object{"content": object{"text/plain": object{"schema": object{"type": "string"}}}}, nil
	case typeOf[anyObject]():
		return object{"content": object{wire.JSON: object{"schema": object{"type": "object"}}}}, nil
	case typeOf[eventStreamBody]():
		return object{"content": object{"text/event-stream": object{
			"schema":     object{"type": "string", "description": "server-sent events whose data is an Event, whose event is its type and whose id is its seq"},
			"itemSchema": object{"$ref": componentPrefix + "Event"},
		}}}, nil
	}
	schema, err := d.schemaFor(t)
	return object{"content": object{wire.JSON: object{"schema": schema}}}, err
}
