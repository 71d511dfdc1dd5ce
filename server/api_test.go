package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/sse"
	"github.com/sayso-dev/sayso/internal/wire"
)

// normalizer replaces what differs from run to run: ids, digests, times, ports.
type normalizer struct{ seen map[string]string }

var varying = regexp.MustCompile(`01[0-9a-hjkmnp-tv-z]{34}|sha256:[0-9a-f]{64}|"short_id": ?"[0-9a-z]{4}"|\d{4}-\d\d-\d\dT[0-9:.]+Z|` +
	`"(?:since_ns|remaining_s|left_s)": ?[0-9.]+|"boot": ?\{\s*"id": ?"[^"]*"|127\.0\.0\.1:\d+`)

func (s *normalizer) normalize(text string) string {
	return varying.ReplaceAllStringFunc(text, func(m string) string {
		switch {
		case strings.HasPrefix(m, "01"):
			return s.number(m, "01m7wyf0nnpx5134avv40bmx4g3chvqgbe%02d")
		case strings.HasPrefix(m, "sha256:"):
			return s.number(m, "sha256:"+strings.Repeat("0", 62)+"%02x")
		case strings.HasPrefix(m, `"short_id"`):
			return `"short_id": "px51"`
		case strings.HasPrefix(m, "20"):
			return "2026-11-20T14:47:28.31Z"
		case strings.HasPrefix(m, `"boot"`):
			return m[:strings.LastIndex(m[:len(m)-1], `"`)+1] + `6f0c…"`
		case strings.HasPrefix(m, "127"):
			return "127.0.0.1:7777"
		}
		return m[:strings.IndexByte(m, ':')+1] + " 3599.2"
	})
}

// number gives each value the next number.
func (s *normalizer) number(value, format string) string {
	if s.seen[value] == "" {
		s.seen[value] = fmt.Sprintf(format, len(s.seen)+1)
	}
	return s.seen[value]
}

// pretty is JSON over several lines, unless it is short.
func pretty(text []byte) string {
	var b bytes.Buffer
	if len(text) <= 100 || json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// exchangeText writes down what a route was sent and what it said.
func (f *fixture) exchangeText(route string) string {
	e := examples[route]
	method, _, _ := strings.Cut(route, " ")
	s := normalizer{seen: map[string]string{}}
	var b strings.Builder
	text := ""
	if e.body != nil {
		text = e.body(f)
	}
	path := e.path(f)
	fmt.Fprintf(&b, "```http\n%s %s\n", method, path)
	if e.token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer sayso_%s_…\n", actors[e.token].Kind)
	}
	if text != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\n\n%s\n", pretty([]byte(text)))
	}
	switch route {
	case "GET /v1/events":
		b.WriteString("\n200 text/event-stream\n\n" + f.someEvents(path))
	default:
		r := f.request(e.token, method, path, text)
		b.WriteString(strings.TrimRight(fmt.Sprintf("\n%d %s", r.status, r.header.Get("Content-Type")), " ") + "\n")
		if len(r.body) > 0 {
			fmt.Fprintf(&b, "\n%s\n", shorten(route, pretty(r.body)))
		}
	}
	b.WriteString("```\n")
	return s.normalize(b.String())
}

// someEvents are the first two events of a stream.
func (f *fixture) someEvents(path string) string {
	_, r := f.stream(f.t.Context(), "person", strings.TrimPrefix(path, "/v1/events"))
	var b strings.Builder
	for range 2 {
		e, err := r.Next()
		if err != nil {
			f.t.Fatal(err)
		}
		if err := sse.NewWriter(&b, nil).Event(e.ID, e.Name, e.Data); err != nil {
			f.t.Fatal(err)
		}
	}
	return b.String()
}

// shorten cuts what is long and says nothing new.
func shorten(route, text string) string {
	lines := strings.Split(text, "\n")
	switch {
	case route == "GET /openapi.json":
		return "{\"openapi\": \"3.1.0\", …}"
	case route == "GET /metrics":
		return "# HELP sayso_calls_total Calls at the gate that were decided.\n# TYPE sayso_calls_total counter\nsayso_calls_total 42\n…"
	case len(lines) > 70:
		return strings.Join(lines[:70], "\n") + "\n…"
	}
	return text
}

// frameText writes down a conversation over a WebSocket.
func frameText(t *testing.T) string {
	f := newFixture(t)
	ws := f.framesAs("person")
	s := normalizer{seen: map[string]string{}}
	var b strings.Builder
	b.WriteString("```\n")
	for _, text := range []string{
		`{"id":1,"op":"mode","body":{"session":"s1"}}`,
		`{"id":2,"op":"answer","body":{"id":"` + string(f.open.ID) + `",` + strings.TrimPrefix(answerBody(f.open, "deny"), "{") + `}`,
		`{"id":3,"op":"request","body":{"id":"0000"}}`,
		`{"id":4,"op":"follow","body":{"types":["approval.requested"]}}`,
	} {
		got := ws.ask(text)
		fmt.Fprintf(&b, "→ %s\n← %s\n", text, wire.AppendFrame(nil, got.ID, got.Op, got.Status, got.Body))
	}
	b.WriteString("```\n")
	return s.normalize(b.String())
}

// errorTable is the table of codes.
func errorTable() string {
	codes := wire.Codes()
	var list []string
	for code, status := range codes {
		p := wire.Problem{Code: code}
		list = append(list, fmt.Sprintf("| %d | `%s` | %s |\n", status, code, meaning(code, p.Err())))
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

// meaning is what a code says, in words.
func meaning(code wire.Code, err error) string {
	switch code {
	case wire.CodePending:
		return "not decided yet"
	case wire.CodeMalformed:
		return "the body is not strict JSON"
	case wire.CodeInternal:
		return "internal error; the server's log says which"
	case wire.CodeForbidden:
		return "refused before anybody looked at it: wrong host, origin or site"
	case wire.CodeUnauthenticated:
		return "no valid token"
	case wire.CodeConflict:
		return "the call id was used for another call, or a short id means several requests"
	case wire.CodeInvalid:
		return "an unknown word, scope, member or parameter, or a value that cannot be"
	case wire.CodePresentationWanted:
		return "a person will be asked: POST what they are to be shown to `/v1/requests/{ticket}/presentation` within a minute"
	case wire.CodeTooLarge:
		return "the body is too large"
	case wire.CodeNotJSON:
		return "the content type is not `application/json`, or a body where none belongs"
	case wire.CodeMethod:
		return "the route has other methods; see `Allow`"
	case wire.CodeSkew:
		return "the releases of client and server are too far apart"
	case wire.CodeTooMany:
		return "too many open requests, asks or attempts"
	case wire.CodeMismatch:
		return "the digest or the content is not that of the request"
	case wire.CodeUnavailable:
		return "the answer could not be found out; with `Retry-After`, come back"
	}
	return err.Error()
}

func TestAPIPage(t *testing.T) {
	page, err := os.ReadFile("testdata/api.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	routes := routesOfDocument()
	slices.SortStableFunc(routes, func(a, b string) int {
		return strings.Compare(a[strings.Index(a, "/"):], b[strings.Index(b, "/"):])
	})
	for _, route := range routes {
		method, pattern, _ := strings.Cut(route, " ")
		op := openapi().Paths[pattern][strings.ToLower(method)]
		fmt.Fprintf(&b, "### %s %s\n\n%s. %s\n\n", method, pattern, op.Summary, op.Description)
		if pattern == "/v1/ws" {
			b.WriteString("See [below](#websocket).\n\n")
			continue
		}
		f := newFixture(t)
		if strings.HasSuffix(pattern, "/outcome") {
			f.redeem()
		}
		b.WriteString(f.exchangeText(route) + "\n")
		f.stop()
	}
	text := strings.NewReplacer("{{errors}}", errorTable()+"\n", "{{exchanges}}", b.String(), "{{frames}}", frameText(t)).Replace(string(page))
	golden(t, "api.md", []byte(text))
}
