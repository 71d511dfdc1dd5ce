package gateway

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// The headers of the protocol.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
	resumeHeader  = "Last-Event-Id"
	paramPrefix   = "Mcp-Param-"
)

// The versions of the protocol that are spoken over HTTP. From statelessSince on
// each request is stateless; before, clients and servers have sessions.
const (
	statelessSince = "2026-07-28"
	resumableSince = "2025-11-25" // that streams begin with an empty event
)

var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const (
	codeMismatch       = -32020 // a header says something else than the message
	codeCapability     = -32021
	codeVersion        = -32022
	codeMethodNotFound = -32601
	metaVersionName    = "io.modelcontextprotocol/protocolVersion"
)

// rejection is why a message is not taken, as the protocol says it.
type rejection struct {
	status, code int
	text         string
	data         any
}

func mismatch(text string) *rejection {
	return &rejection{status: http.StatusBadRequest, code: codeMismatch, text: "Refused: " + text + ". Nothing ran."}
}

// requestMeta is what a message says of itself that headers say, too.
type requestMeta struct {
	version         string         // of the protocol
	name            string         // of what is called or read
	token           jsontext.Value // for progress
	tokenAt         int            // where it begins in the line
	args            jsontext.Value
	hasName         bool
	hasCapabilities bool // what the client can do
}

// capabilitiesName is where a client says what it can do.
const capabilitiesName = "io.modelcontextprotocol/clientCapabilities"

// lacksMeta reports a request that does not say what each stateless one must.
func (o *requestMeta) lacksMeta() bool { return o.version == "" || !o.hasCapabilities }

// readRequestMeta reads it of the parameters of a message.
func readRequestMeta(m *message) (o requestMeta, err error) {
	if m.params.Kind() != '{' {
		return o, nil
	}
	source := map[string]string{"resources/read": "uri", "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}[m.method]
	if source == "" {
		source = "name"
	}
	err = rpc.Members(m.params, []string{source, "_meta", "arguments"}, func(name string, value jsontext.Value, metaAt int) error {
		switch {
		case name == source && value.Kind() == '"':
			o.hasName = true
			return rpc.ReadText(value, &o.name)
		case name == "arguments":
			o.args = value
		case name == "_meta" && value.Kind() == '{':
			return rpc.Members(value, []string{metaVersionName, "progressToken"}, func(name string, value jsontext.Value, at int) error {
				switch {
				case name == capabilitiesName:
					o.hasCapabilities = value.Kind() == '{'
				case name == metaVersionName && value.Kind() == '"':
					return rpc.ReadText(value, &o.version)
				case name == "progressToken" && (value.Kind() == '"' || value.Kind() == '0'):
					o.token, o.tokenAt = value, m.paramsAt+metaAt+at
				}
				return nil
			})
		}
		return nil
	})
	return o, err
}

// singleValue is the one value of a header, empty if there is none.
func singleValue(h http.Header, name string) (string, bool) {
	given := h[http.CanonicalHeaderKey(name)]
	if len(given) == 0 {
		return "", true
	}
	return given[0], len(given) == 1 && given[0] != ""
}

// checkSingle reports a header that comes more than once: of two readers one could take
// the first and one the last.
func checkSingle(h http.Header, names ...string) *rejection {
	for _, name := range names {
		if _, ok := singleValue(h, name); !ok {
			return mismatch("the header " + name + " comes more than once, or says nothing")
		}
	}
	return nil
}

// checkHeaders reports headers that say something else than the message.
func checkHeaders(h http.Header, m *message, o *requestMeta) *rejection {
	if p := checkSingle(h, versionHeader, methodHeader, nameHeader, sessionHeader, resumeHeader); p != nil {
		return p
	}
	version := h.Get(versionHeader)
	switch {
	case version != "" && !slices.Contains(versions, version):
		return &rejection{http.StatusBadRequest, codeVersion, "Refused: version " + quote(version) + " of the protocol is not spoken here. Nothing ran.",
			map[string]any{"supported": versions, "requested": version}}
	case o.version != "" && version == "":
		return mismatch("the header " + versionHeader + " is missing, and the message says version " + quote(o.version))
	case o.version != "" && version != o.version:
		return mismatch("the header " + versionHeader + " is not the version that the message says")
	case version >= statelessSince && m.isRequest() && o.version == "":
		return &rejection{http.StatusBadRequest, codeInvalidParams, "Refused: _meta does not say " + metaVersionName + ". Nothing ran.", nil}
	}
	return checkNames(h, m, o, version >= statelessSince && m.isRequest())
}

// checkNames reports headers for the method and the name that say something else
// than the message. Where they must be there, so says must.
func checkNames(h http.Header, m *message, o *requestMeta, must bool) *rejection {
	method := h.Get(methodHeader)
	if method != m.method && (must || method != "") {
		return mismatch("the header " + methodHeader + " is not the method of the message")
	}
	given := h.Get(nameHeader)
	mustName := must && (m.method == callMethod || m.method == "resources/read" || m.method == "prompts/get")
	if given == "" && !mustName {
		return nil
	}
	if name, ok := decoded(given); !ok || !o.hasName || name != o.name {
		return mismatch("the header " + nameHeader + " is not the name in the message")
	}
	return nil
}

// The marks around a value that is written in base64.
const encodedPrefix, encodedSuffix = "=?base64?", "?="

// decoded is the value that a header stands for.
func decoded(value string) (string, bool) {
	inner, ok := strings.CutPrefix(value, encodedPrefix)
	if ok {
		inner, ok = strings.CutSuffix(inner, encodedSuffix)
	}
	if !ok {
		return value, visible(value)
	}
	text, err := base64.StdEncoding.Strict().DecodeString(inner)
	return string(text), err == nil
}

// visible reports whether a value can stand in a header as it is.
func visible(value string) bool {
	return strings.TrimSpace(value) == value && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f })
}

// encoded is a value as it stands in a header.
func encoded(value string) string {
	if visible(value) && !(strings.HasPrefix(value, encodedPrefix) && strings.HasSuffix(value, encodedSuffix)) {
		return value
	}
	return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(value)) + encodedSuffix
}

// quote is a text of the client's as it may stand in an answer.
func quote(text string) string {
	out, err := jcs.Marshal(text[:min(len(text), 40)])
	if err != nil {
		return `"?"`
	}
	return string(out)
}

// response is the answer that says why a message is not taken.
func (p *rejection) response(id jsontext.Value) []byte {
	if p.data == nil {
		return errorResponse(id, p.code, p.text)
	}
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data"`
	}
	if id == nil {
		id = jsontext.Value("null")
	}
	return encode(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   fault          `json:"error"`
	}{"2.0", id, fault{p.code, p.text, p.data}})
}

// statusOf is the status that an answer has in HTTP where requests are stateless. One
// to a request that lacks what it must say is bad for that alone.
func statusOf(answer []byte, lacking bool) int {
	m, err := readMessage(answer)
	if err != nil || !m.failed {
		return http.StatusOK
	}
	code := 0
	_ = rpc.Members(m.line, nil, func(name string, value jsontext.Value, _ int) error { // it was read before
		if name != "error" || value.Kind() != '{' {
			return nil
		}
		return rpc.Members(value, nil, func(name string, value jsontext.Value, _ int) error {
			if name == "code" && value.Kind() == '0' {
				_ = jcs.UnmarshalLenient(value, &code) // none is none of ours
			}
			return nil
		})
	})
	switch {
	case code == codeMethodNotFound:
		return http.StatusNotFound
	case code == codeMismatch, code == codeCapability, code == codeVersion, code == codeInvalidParams && lacking:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// requestedVersion is the version that a client wants to begin with.
func requestedVersion(m *message) (version string) {
	_ = rpc.Members(m.params, nil, func(name string, value jsontext.Value, _ int) error { // what is unreadable is no version
		if name == "protocolVersion" {
			return rpc.ReadText(value, &version)
		}
		return nil
	})
	return version
}

// cancellation says that a request is not wanted any more.
func cancellation(id jsontext.Value) []byte {
	return encode(struct {
		Version string         `json:"jsonrpc"`
		Method  string         `json:"method"`
		Params  map[string]any `json:"params"`
	}{"2.0", cancelledMethod, map[string]any{"requestId": id}})
}
