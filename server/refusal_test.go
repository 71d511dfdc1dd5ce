package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// canary stands in every input of a refusal; no answer may hold it.
const canary = "CANARY4f9d2e81"

// fixture is a harness with one of each thing that routes are about.
type fixture struct {
	*harness
	open, denied, allowed sayso.Request
	grant                 sayso.Grant
	ticket                sayso.ID
	changed               sayso.Digest // of a definition in quarantine: echo of docs
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{harness: newHarness(t, nil)}
	ann := f.b.Inbox(actors["person"])
	f.open = f.harness.open("s1", "open")
	f.denied, f.allowed = f.harness.open("s1", "denied"), f.harness.open("s1", "allowed")
	granted := f.harness.open("s1", "granted")
	for _, step := range []struct {
		r sayso.Request
		a sayso.Answer
	}{
		{f.denied, sayso.Answer{Digest: f.denied.Digest, Content: f.denied.Content}},
		{f.allowed, allow(f.allowed)},
		{granted, sayso.Answer{Digest: granted.Digest, Content: granted.Content, Effect: sayso.Allow, Scope: sayso.ScopeSession}},
	} {
		if _, err := ann.Answer(t.Context(), step.r.ID, step.a); err != nil {
			t.Fatal(err)
		}
	}
	grants, err := ann.Grants(t.Context(), "s1", false)
	if err != nil || len(grants) != 1 {
		t.Fatalf("grants: %v, %v", grants, err)
	}
	f.grant = grants[0]
	f.ticket = f.request("agent", "POST", "/v1/admissions",
		`{"call":{"tool":"bash","args":{"command":"later"},"session":"s1","call_id":"later"},"presentation":"later","patience_s":0.001}`).problem(t).Ticket
	for _, text := range []string{`{"description":"Echoes.","name":"echo"}`, `{"description":"Echoes, and sends it on.","name":"echo"}`} {
		d := sayso.Definition{Tool: "echo", Text: sayso.Args(text)}
		if _, err := f.b.Meet(t.Context(), actors["tool"], "docs", []sayso.Definition{d}); err != nil {
			t.Fatal(err)
		}
		f.changed = d.Digest()
	}
	if _, _, err := f.tokens.Create(context.Background(), serverNewToken("spare")); err != nil {
		t.Fatal(err)
	}
	return f
}

// example is how a route is used rightly.
type example struct {
	token string
	path  func(*fixture) string
	body  func(*fixture) string // nil for none
	want  int
}

func path(p string) func(*fixture) string { return func(*fixture) string { return p } }
func body(b string) func(*fixture) string { return func(*fixture) string { return b } }

func onOpen(verb string) func(*fixture) string {
	return func(f *fixture) string { return "/v1/requests/" + string(f.open.ID) + verb }
}

func callText(r sayso.Request) string {
	return `{"tool":"bash","args":{"command":"git push ` + r.CallID + `"},"session":"s1","run":"r1","call_id":"` + r.CallID + `","cwd":"/home/dev"}`
}

func yes(f *fixture) string { return answerBody(f.open, "allow") }

// remembered is a yes for the session.
func remembered(f *fixture) string {
	return strings.TrimSuffix(yes(f), "}") + `,"scope":"session","cover":"call","for":"2h","uses":3}`
}

// examples has every route of the document.
var examples = map[string]example{
	"POST /v1/admissions": {"agent", path("/v1/admissions"), body(`{"call":{"tool":"file-read","args":{"path":"a"},"session":"s1","call_id":"n1"}}`), 200},
	"POST /v1/requests/{id}/presentation": {"agent", func(f *fixture) string { return "/v1/requests/" + string(f.ticket) + "/presentation" },
		body(`{"type":"text","content":"x"}`), 202},
	"POST /v1/requests/{id}/redeem": {"agent", func(f *fixture) string { return "/v1/requests/" + string(f.allowed.ID) + "/redeem" },
		func(f *fixture) string {
			return `{"digest":"` + f.allowed.Digest.String() + `","call":` + callText(f.allowed) + `}`
		}, 200},
	"POST /v1/requests/{id}/outcome":                   {"agent", func(f *fixture) string { return "/v1/requests/" + string(f.allowed.ID) + "/outcome" }, body(`{"failed":false}`), 204},
	"POST /v1/requests/{id}/withdraw":                  {"agent", onOpen("/withdraw"), body(`{"reason":"done"}`), 204},
	"POST /v1/sessions/{session}/begin":                {"agent", path("/v1/sessions/s9/begin"), body(`{"host":"claude-code"}`), 204},
	"POST /v1/sessions/{session}/end":                  {"agent", path("/v1/sessions/s1/end"), body(`{}`), 204},
	"POST /v1/sessions/{session}/calls/{call}/outcome": {"agent", path("/v1/sessions/s1/calls/allowed/outcome"), body(`{"failed":true}`), 204},
	"GET /v1/requests":                                 {"person", path("/v1/requests?state=open&session=s1"), nil, 200},
	"GET /v1/history":                                  {"viewer", path("/v1/history?limit=10"), nil, 200},
	"GET /v1/requests/{id}":                            {"person", onOpen(""), nil, 200},
	"GET /v1/requests/{id}/content":                    {"person", onOpen("/content"), nil, 200},
	"GET /v1/requests/{id}/life":                       {"person", onOpen("/life"), nil, 200},
	"POST /v1/requests/{id}/answer":                    {"person", onOpen("/answer"), remembered, 200},
	"POST /v1/groups/{group}/answer": {"person", path("/v1/groups/g1/answer"), func(f *fixture) string {
		return `{"effect":"deny","members":[{"id":"` + string(f.open.ID) + `","digest":"` + f.open.Digest.String() + `","content":"` + f.open.Content.String() + `"}]}`
	}, 200},
	"GET /v1/head":                                    {"person", path("/v1/head"), nil, 200},
	"GET /v1/events":                                  {"person", path("/v1/events?since=0"), nil, 200},
	"GET /v1/ws":                                      {"person", path("/v1/ws"), nil, 422}, // no upgrade; see TestSocket
	"GET /v1/sessions":                                {"viewer", path("/v1/sessions"), nil, 200},
	"GET /v1/sessions/{session}/requests":             {"person", path("/v1/sessions/s1/requests"), nil, 200},
	"GET /v1/sessions/{session}/calls/{call}":         {"person", path("/v1/sessions/s1/calls/open"), nil, 200},
	"POST /v1/sessions/{session}/calls/{call}/answer": {"person", path("/v1/sessions/s1/calls/open/answer"), yes, 200},
	"GET /v1/sessions/{session}/policies":             {"person", path("/v1/sessions/s1/policies"), nil, 200},
	"PUT /v1/sessions/{session}/policies":             {"person", path("/v1/sessions/s1/policies"), body(`{"policies":{"bash":"deny"}}`), 204},
	"GET /v1/grants":                                  {"person", path("/v1/grants?session=s1&all=true"), nil, 200},
	"DELETE /v1/grants/{id}":                          {"person", func(f *fixture) string { return "/v1/grants/" + string(f.grant.ID) }, nil, 204},
	"GET /v1/mode":                                    {"person", path("/v1/mode?session=s1"), nil, 200},
	"PUT /v1/mode":                                    {"person", path("/v1/mode"), body(`{"session":"s1","mode":"strict"}`), 204},
	"GET /v1/policy":                                  {"person", path("/v1/policy"), nil, 200},
	"GET /v1/policy/files":                            {"person", path("/v1/policy/files"), nil, 200},
	"GET /v1/status":                                  {"viewer", path("/v1/status"), nil, 200},
	"POST /v1/policy/check":                           {"person", path("/v1/policy/check"), body(`{"call":{"tool":"bash","args":{"command":"ls"}}}`), 200},
	"POST /v1/policy/explain":                         {"person", path("/v1/policy/explain"), body(`{"call":{"tool":"bash","args":{"command":"git push"}}}`), 200},
	"POST /v1/policy/replay":                          {"person", path("/v1/policy/replay"), body(`{"policy":"version: 1\nrules: [{allow: \"bash:git push*\"}]\n","since":"720h"}`), 200},
	"GET /v1/notices":                                 {"person", path("/v1/notices"), nil, 200},
	"POST /v1/notices/{id}/retry":                     {"person", func(f *fixture) string { return "/v1/notices/" + string(noticeOf(f.open).ID) + "/retry" }, body(`{}`), 200},
	"GET /v1/definitions":                             {"person", path("/v1/definitions"), nil, 200},
	"POST /v1/definitions/accept":                     {"person", path("/v1/definitions/accept"), func(f *fixture) string { return acceptBody(f.changed) }, 204},
	"POST /v1/definitions/keep":                       {"person", path("/v1/definitions/keep"), func(f *fixture) string { return acceptBody(f.changed) }, 204},
	"POST /v1/login":                                  {"", path("/v1/login"), body(`{"code":"once"}`), 200},
	"POST /v1/logout":                                 {"person", path("/v1/logout"), body(`{}`), 204},
	"GET /v1/tokens":                                  {"admin", path("/v1/tokens"), nil, 200},
	"POST /v1/tokens":                                 {"admin", path("/v1/tokens"), body(`{"name":"ci","kind":"agent","owner":"ann"}`), 200},
	"DELETE /v1/tokens/{id}":                          {"admin", path("/v1/tokens/t1"), nil, 204},
	"GET /healthz":                                    {"", path("/healthz"), nil, 200},
	"GET /readyz":                                     {"", path("/readyz"), nil, 200},
	"GET /metrics":                                    {"", path("/metrics"), nil, 200},
	"GET /openapi.json":                               {"", path("/openapi.json"), nil, 200},
}

// routesOfDocument are all routes, by METHOD and pattern.
func routesOfDocument() []string {
	var list []string
	for pattern, ops := range openapi().Paths {
		for method := range ops {
			list = append(list, strings.ToUpper(method)+" "+pattern)
		}
	}
	slices.Sort(list)
	return list
}

func TestEveryRouteWorks(t *testing.T) {
	for _, name := range routesOfDocument() {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			e, ok := examples[name]
			if !ok {
				t.Fatalf("no example of %s", name)
			}
			f := newFixture(t)
			if strings.HasSuffix(name, "/outcome") {
				f.redeem()
			}
			method, _, _ := strings.Cut(name, " ")
			text := ""
			if e.body != nil {
				text = e.body(f)
			}
			if r := f.request(e.token, method, e.path(f), text); r.status != e.want {
				t.Errorf("%d %s, want %d", r.status, r.body, e.want)
			}
		})
	}
}

// redeem spends the approval, so that there is something to report.
func (f *fixture) redeem() {
	f.t.Helper()
	e := examples["POST /v1/requests/{id}/redeem"]
	if r := f.request("agent", "POST", e.path(f), e.body(f)); r.status != 200 {
		f.t.Fatalf("redeem: %d %s", r.status, r.body)
	}
}

// attempt is one wrong request.
type attempt struct {
	token, method, path, body string
	header                    []string
}

// cell is one way to be refused. make returns the wrong request for a route,
// or why there is none.
type cell struct {
	name string
	make func(f *fixture, route string, e example, right attempt) (a attempt, want []int, why string)
}

// notFor is the answer of a cell that a route cannot meet.
func notFor(why string) (attempt, []int, string) { return attempt{}, nil, why }

func hasBody(route string) bool { return examples[route].body != nil }

var cells = []cell{
	{"no credential", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		if e.token == "" {
			return notFor("needs none")
		}
		a.token = ""
		return a, []int{401}, ""
	}},
	{"wrong credential", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		a.token = canary
		return a, []int{401}, ""
	}},
	{"wrong kind", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		a.token = outsider(route)
		if a.token == "" {
			return notFor("every kind may")
		}
		return a, []int{403}, ""
	}},
	{"foreign host", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		a.header = append(a.header, "Host: "+canary+".example:80")
		return a, []int{403}, ""
	}},
	{"foreign origin", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		a.header = append(a.header, "Origin: http://127.0.0.1:1")
		return a, []int{403}, ""
	}},
	{"cross site", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		a.header = append(a.header, "Sec-Fetch-Site: cross-site")
		return a, []int{403}, ""
	}},
	{"wrong content type", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		if !hasBody(route) {
			a.body = `{"` + canary + `":1}`
		}
		a.header = append(a.header, "Content-Type: text/plain")
		return a, []int{415}, ""
	}},
	{"unknown id", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		switch {
		case strings.Contains(route, "{id}"):
			for _, id := range []sayso.ID{f.open.ID, f.allowed.ID, f.grant.ID, f.ticket, noticeOf(f.open).ID, "t1"} {
				a.path = strings.Replace(a.path, string(id), "0123456789abcdefghjkmnpqrstvwxyz0123", 1)
			}
		case strings.Contains(route, "{call}"):
			a.path = strings.Replace(strings.Replace(a.path, "/open", "/"+canary, 1), "/allowed", "/"+canary, 1)
		default:
			return notFor("has no id")
		}
		return a, []int{404}, ""
	}},
	{"malformed id", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		if !strings.Contains(route, "{id}") {
			return notFor("has no id")
		}
		for _, id := range []sayso.ID{f.open.ID, f.allowed.ID, f.grant.ID, f.ticket, noticeOf(f.open).ID, "t1"} {
			a.path = strings.Replace(a.path, string(id), "..%2F"+canary, 1)
		}
		return a, []int{404}, ""
	}},
	{"decided id", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		a.path = strings.Replace(a.path, string(f.open.ID), string(f.denied.ID), 1)
		a.path = strings.Replace(a.path, string(f.allowed.ID), string(f.denied.ID), 1)
		a.path = strings.Replace(a.path, "calls/open/answer", "calls/denied/answer", 1)
		a.body = strings.NewReplacer(f.open.Digest.String(), f.denied.Digest.String(), f.open.Content.String(), f.denied.Content.String()).Replace(a.body)
		switch {
		case strings.HasSuffix(route, "/answer") && !strings.Contains(route, "group"):
			return a, []int{409}, ""
		case strings.HasSuffix(route, "/redeem"):
			return a, []int{403, 412}, ""
		case strings.HasSuffix(route, "{id}/outcome"):
			return a, []int{422}, ""
		case strings.HasSuffix(route, "/withdraw"):
			return a, []int{409}, ""
		case strings.HasSuffix(route, "/presentation"):
			a.path = "/v1/requests/" + string(f.denied.ID) + "/presentation"
			return a, []int{404}, ""
		}
		return notFor("changes nothing about a request that is decided")
	}},
	{"wrong session", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		a.token = map[string]string{"agent": "agent2", "person": "eve"}[e.token]
		switch {
		case strings.Contains(route, "presentation"):
			return a, []int{404}, ""
		case strings.Contains(route, "{id}"), strings.Contains(route, "/policies"), route == "PUT /v1/mode":
			if a.token == "" {
				return notFor("is about no session")
			}
			return a, []int{403, 404}, ""
		case strings.Contains(route, "calls/{call}"):
			return a, []int{403, 404}, ""
		}
		return notFor("shows only what the principal may see, or begins something of its own")
	}},
	{"wrong digest", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		was := f.open.Digest.String()
		if strings.HasSuffix(route, "/redeem") {
			was = f.allowed.Digest.String()
		}
		if !strings.Contains(a.body, was) || strings.Contains(route, "group") {
			return notFor("names no digest, or answers for each member")
		}
		a.body = strings.Replace(a.body, was, sayso.HashOf("wrong").String(), 1)
		return a, []int{412}, ""
	}},
	{"no digest or no content", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		if !strings.HasSuffix(route, "/answer") || strings.Contains(route, "group") || !strings.Contains(a.body, f.open.Content.String()) {
			return notFor("names neither, or answers for each member")
		}
		a.body = strings.Replace(a.body, f.open.Content.String(), "", 1)
		return a, []int{422}, ""
	}},
	{"wrong content", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		was := f.open.Content.String()
		if !strings.Contains(a.body, was) || strings.Contains(route, "group") {
			return notFor("names no content, or answers for each member")
		}
		a.body = strings.Replace(a.body, was, sayso.HashOf("wrong").String(), 1)
		return a, []int{412}, ""
	}},
	{"unknown word", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		was := a.body
		a.body = strings.NewReplacer(`"allow"`, `"`+canary+`"`, `"deny"`, `"`+canary+`"`, `"strict"`, `"`+canary+`"`,
			`"type":"text"`, `"type":"`+canary+`"`, `"kind":"agent"`, `"kind":"`+canary+`"`, `"args"`, `"kind":"`+canary+`","args"`).Replace(a.body)
		switch {
		case a.body != was:
			return a, []int{422}, ""
		case strings.Contains(a.path, "?"):
			a.path += "&" + canary + "=1"
			return a, []int{422}, ""
		}
		return notFor("takes no word of ours")
	}},
	{"unknown member", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		if !hasBody(route) {
			if strings.Contains(a.path, "?") {
				a.path += "&token=x"
			} else {
				return notFor("has no body")
			}
		} else {
			a.body = strings.TrimSuffix(strings.TrimSuffix(a.body, "}"), ",")
			if !strings.HasSuffix(a.body, "{") {
				a.body += ","
			}
			a.body += `"more":"` + canary + `"}`
		}
		return a, []int{422}, ""
	}},
	{"other case", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		i := strings.Index(a.body, `":`)
		if i < 0 {
			return notFor("has no members")
		}
		a.body = strings.ToUpper(a.body[:i]) + a.body[i:]
		return a, []int{422}, ""
	}},
	{"duplicate keys", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		if !hasBody(route) {
			return notFor("has no body")
		}
		first, rest, _ := strings.Cut(strings.Trim(a.body, "{}"), ":")
		if first == "" {
			a.body = `{"a":1,"a":"` + canary + `"}`
		} else {
			a.body = "{" + first + ":" + rest + "," + first + `:"` + canary + `"}`
			if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
				a.body = strings.TrimSuffix(e.body(f), "}") + "," + first + `:"` + canary + `"}`
			}
		}
		return a, []int{400, 422}, ""
	}},
	{"10 MB body", func(f *fixture, route string, e example, a attempt) (attempt, []int, string) {
		a.body = `{"` + canary + `":"` + strings.Repeat("x", 10<<20) + `"}`
		if !hasBody(route) {
			return a, []int{415}, ""
		}
		return a, []int{413}, ""
	}},
}

// outsider is a token of a kind that may not use a route.
func outsider(route string) string {
	method, pattern, _ := strings.Cut(route, " ")
	may := openapi().Paths[pattern][strings.ToLower(method)].Description
	if !strings.HasPrefix(may, "For principals of kind ") {
		return ""
	}
	for _, token := range []string{"agent", "tool", "viewer", "person", "admin"} {
		if !strings.Contains(may, string(actors[token].Kind)) {
			return token
		}
	}
	return ""
}

// shape is what must not change: the states of all requests and every event
// but those that say that an answer was refused.
func (f *fixture) shape() string {
	f.t.Helper()
	var b strings.Builder
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
	defer cancel()
	end := f.head()
	for e, err := range f.b.Inbox(actors["admin"]).Follow(ctx, 0, sayso.EventQuery{}) {
		if err != nil {
			f.t.Fatal(err)
		}
		if e.Type != sayso.EventAnswerRefused {
			fmt.Fprintln(&b, e.Stream, e.Type, e.RequestID)
		}
		if e.Seq == end {
			break
		}
	}
	f.tokens.mu.Lock()
	defer f.tokens.mu.Unlock()
	fmt.Fprintln(&b, len(f.tokens.made), len(f.tokens.ended))
	return b.String()
}

// TestRefusals tries every route in every wrong way: the right error, nothing
// changed, nothing of the input in the answer.
func TestRefusals(t *testing.T) {
	f := newFixture(t)
	tried, excused := 0, map[string]string{}
	before := f.shape()
	for _, route := range routesOfDocument() {
		e := examples[route]
		method, _, _ := strings.Cut(route, " ")
		right := attempt{token: e.token, method: method, path: e.path(f)}
		if e.body != nil {
			right.body = e.body(f)
		}
		if route == "GET /v1/ws" {
			right.header = []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
		}
		for _, c := range cells {
			a, want, why := c.make(f, route, e, right)
			if why != "" {
				excused[route+" × "+c.name] = why
				continue
			}
			tried++
			a.header = append(a.header, "X-HTTP-Method-Override: DELETE", "Cookie: token=admin; session=admin")
			if e.token != "" { // what needs none is closed to whoever was forwarded
				a.header = append(a.header, "X-Forwarded-Host: localhost")
			}
			r := f.request(a.token, a.method, a.path, a.body, a.header...)
			if !slices.Contains(want, r.status) {
				t.Errorf("%s × %s: %d %.300s, want %v", route, c.name, r.status, r.body, want)
			}
			if strings.Contains(string(r.body), canary) {
				t.Errorf("%s × %s echoes its input: %.300s", route, c.name, r.body)
			}
			if r.status == http.StatusUnauthorized && r.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s × %s: no WWW-Authenticate", route, c.name)
			}
			if after := f.shape(); after != before {
				t.Fatalf("%s × %s changed the record:\n%s\nwas\n%s", route, c.name, after, before)
			}
		}
	}
	if all := len(routesOfDocument()) * len(cells); tried+len(excused) != all || tried < all/2 {
		t.Errorf("%d cells tried and %d excused of %d", tried, len(excused), all)
	}
	if logged := f.logs.String(); strings.Contains(logged, canary) {
		t.Errorf("the log holds input: %s", logged)
	}
	t.Logf("%d cells tried, %d excused", tried, len(excused))
}
