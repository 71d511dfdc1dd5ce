package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sayso-dev/sayso/server"
)

var update = flag.Bool("update", false, "write docs/openapi.json and docs/api.md anew")

// apiDocument is what the tests need of the document.
type apiDocument struct {
	Paths      map[string]map[string]apiOperation `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

type apiOperation struct {
	Summary     string                 `json:"summary"`
	Description string                 `json:"description"`
	Op          string                 `json:"x-websocket-op"`
	RequestBody *json.RawMessage       `json:"requestBody"`
	Responses   map[string]apiResponse `json:"responses"`
}

type apiResponse struct {
	Content map[string]struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"content"`
}

// openapi is the document, read once.
var openapi = sync.OnceValue(func() *apiDocument {
	text, err := server.Document()
	if err != nil {
		panic(err)
	}
	var d apiDocument
	if err := json.Unmarshal(text, &d); err != nil {
		panic(err)
	}
	return &d
})

// validators are schemas that are ready to use, by their text.
var validators sync.Map

// validate checks a value against a schema of the document.
func validate(schema json.RawMessage, text []byte) error {
	key := string(schema)
	v, ok := validators.Load(key)
	if !ok {
		whole, err := json.Marshal(map[string]any{"$defs": openapi().Components.Schemas, "allOf": []json.RawMessage{schema}})
		if err != nil {
			return err
		}
		whole = bytes.ReplaceAll(whole, []byte("#/components/schemas/"), []byte("#/$defs/"))
		var s jsonschema.Schema
		if err := json.Unmarshal(whole, &s); err != nil {
			return err
		}
		r, err := s.Resolve(nil)
		if err != nil {
			return err
		}
		v, _ = validators.LoadOrStore(key, r)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return v.(*jsonschema.Resolved).Validate(value)
}

func component(name string) json.RawMessage {
	return json.RawMessage(`{"$ref":"#/components/schemas/` + name + `"}`)
}

// find returns the pattern and the operation that a request meets.
func (d *apiDocument) find(method, path string) (string, *apiOperation) {
	given := strings.Split(path, "/")
	best, found := "", (*apiOperation)(nil)
	for pattern, ops := range d.Paths {
		op, ok := ops[strings.ToLower(method)]
		want := strings.Split(pattern, "/")
		if !ok || len(want) != len(given) {
			continue
		}
		same := true
		for i := range want {
			same = same && (want[i] == given[i] || strings.HasPrefix(want[i], "{"))
		}
		if same && (best == "" || strings.Count(pattern, "{") < strings.Count(best, "{")) {
			best, found = pattern, &op
		}
	}
	return best, found
}

// checkReply fails the test if the document does not allow an answer, or if a
// header is missing that every answer has.
func checkReply(t *testing.T, method, path string, r reply) {
	t.Helper()
	for _, name := range []string{"X-Content-Type-Options", "Content-Security-Policy", "Cache-Control", "X-Frame-Options"} {
		if r.header.Get(name) == "" {
			t.Errorf("%s %s: no header %s", method, path, name)
		}
	}
	for name := range r.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s %s: header %s", method, path, name)
		}
	}
	if method == http.MethodHead {
		if len(r.body) > 0 {
			t.Errorf("HEAD %s has a body", path)
		}
		return
	}
	_, op := openapi().find(method, path)
	if op == nil {
		if r.status < 400 {
			t.Errorf("%s %s: status %d of a route that is not in the document", method, path, r.status)
		}
		if err := validate(component("Problem"), r.body); err != nil {
			t.Errorf("%s %s: %s is no problem: %v", method, path, r.body, err)
		}
		return
	}
	want, ok := op.Responses[strconv.Itoa(r.status)]
	if !ok {
		t.Errorf("%s %s: status %d is not in the document: %s", method, path, r.status, r.body)
		return
	}
	if len(want.Content) == 0 {
		if len(r.body) > 0 {
			t.Errorf("%s %s: a body where there is none: %s", method, path, r.body)
		}
		return
	}
	kind, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
	media, ok := want.Content[kind]
	if !ok {
		t.Errorf("%s %s: content type %q of status %d is not in the document", method, path, kind, r.status)
		return
	}
	if strings.HasSuffix(kind, "json") {
		if err := validate(media.Schema, r.body); err != nil {
			t.Errorf("%s %s: %d %s is not as the document says: %v", method, path, r.status, r.body, err)
		}
	}
}

// golden compares a file of docs with what it must be.
func golden(t *testing.T, name string, want []byte) {
	t.Helper()
	path := filepath.Join("..", "docs", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/%s is not what the code says (%v); go test ./server -run %s -update", name, err, t.Name())
	}
}

func TestDocument_isTheCommittedOne(t *testing.T) {
	text, err := server.Document()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "openapi.json", append(bytes.TrimSpace(text), '\n'))
}

func TestDocument_everySchemaResolves(t *testing.T) {
	var refs []string
	for name := range openapi().Components.Schemas {
		refs = append(refs, string(component(name)))
	}
	slices.Sort(refs)
	if err := validate(json.RawMessage(`{"anyOf":[`+strings.Join(refs, ",")+`]}`), []byte(`[]`)); err == nil || !strings.Contains(err.Error(), "validating") {
		t.Error(err)
	}
}

func TestDocument_noticesWhatIsWrong(t *testing.T) {
	for _, body := range []string{
		`{"type":"x","title":"t","status":404}`,
		`{"type":"x","title":"t","status":404,"code":"no-such-code"}`,
		`{"type":"x","title":"t","status":404,"code":"not-found","more":1}`,
	} {
		if validate(component("Problem"), []byte(body)) == nil {
			t.Errorf("%s passes for a problem", body)
		}
	}
	if err := validate(component("Problem"), []byte(`{"type":"x","title":"t","status":404,"code":"not-found"}`)); err != nil {
		t.Error(err)
	}
}
