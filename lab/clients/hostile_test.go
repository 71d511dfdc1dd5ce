package clients_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// hostile is a server that answers every request with the same bytes.
type hostile struct {
	address string
	asked   atomic.Int32
}

func newHostile(t *testing.T, answer string) *hostile {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{address: "http://" + l.Addr().String()}
	done := make(chan struct{})
	go func() { // ends with the listener
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			h.asked.Add(1)
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = c.Write([]byte(answer))
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return h
}

func (h *hostile) client(t *testing.T, b *bridge) *driven {
	return &driven{b: b, address: h.address, token: agentToken, retry: time.Millisecond, wrong: t.Errorf}
}

// answered is a whole response.
func answered(status int, kind, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, kind, len(body), body)
}

func ok(body string) string               { return answered(200, "application/json", body) }
func problem(status int, b string) string { return answered(status, "application/problem+json", b) }

// asked is the call of these tests, and yes the decision that allows it.
var asked = command("bash", "c1")

func yes(change func(*sayso.Decision)) string {
	digest, err := asked.Digest()
	if err != nil {
		panic(err)
	}
	id := sayso.NewID(time.UnixMilli(1), [16]byte{1})
	d := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Request: id, Digest: digest, By: []sayso.Actor{},
		Receipt: sayso.Receipt{Request: id, Digest: digest}}
	if change != nil {
		change(&d)
	}
	text, err := jcs.Marshal(d)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// without is a yes in which a text stands for another.
func without(old, instead string) string {
	text := yes(nil)
	if !strings.Contains(text, old) {
		panic(old)
	}
	return strings.ReplaceAll(text, old, instead)
}

func TestHostile_inPython(t *testing.T) { hostileServers(t, python(t)) }

// hostileServers shows that nothing but the one right answer is a yes, that the
// token is told to nobody, and that no error holds it.
func hostileServers(t *testing.T, b *bridge) {
	if d, err := newHostile(t, ok(yes(nil))).client(t, b).Admit(patient(t), sayso.Admission{Call: asked}); err != nil || !d.Allowed() {
		t.Fatalf("the right answer: %+v, %v", d, err)
	}
	elsewhere := newHostile(t, ok(yes(nil)))
	other := sayso.HashOf("other")
	deep := strings.Repeat(`{"a":`, 100_000)
	chunked := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	leak := `{"code":"%s","title":"` + agentToken + `","detail":"` + agentToken + ` \u0073` + agentToken[1:] + `"}`
	for name, answer := range map[string]string{
		"nothing":                        "",
		"garbage":                        "\x00\xff\x16\x03\x01 sayso\r\n\r\n",
		"another protocol":               "SSH-2.0-OpenSSH_9.2\r\n",
		"a line without an end":          strings.Repeat("A", 1<<18),
		"many headers":                   "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 5000) + "\r\n" + yes(nil),
		"an empty body":                  ok(""),
		"an empty body without a length": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n",
		"half of it":                     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n" + yes(nil)[:40],
		"all of less than was promised":  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n" + yes(nil),
		"half of it, said to be all":     ok(yes(nil)[:40]),
		"a chunk of nonsense":            chunked + "zz\r\n" + yes(nil) + "\r\n0\r\n\r\n",
		"a chunk cut short":              chunked + "ffff\r\n" + yes(nil),
		"no last chunk":                  chunked + fmt.Sprintf("%x\r\n%s\r\n", len(yes(nil)), yes(nil)),
		"a list":                         ok("[" + yes(nil) + "]"),
		"null":                           ok("null"),
		"true":                           ok("true"),
		"a text":                         ok(`"allow"`),
		"no number":                      ok(`{"effect":"allow","line":NaN}`),
		"a number no double holds":       ok(without(`"by":[]`, `"by":[],"line":1e999`)),
		"a byte order mark":              ok("\ufeff" + yes(nil)),
		"no UTF-8":                       ok(without(`"by":[]`, "\"by\":[],\"note\":\"\xff\"")),
		"data behind it":                 ok(yes(nil) + yes(nil)),
		"deep":                           ok(deep),
		"a comment":                      ok("// yes\n" + yes(nil)),
		"effect twice":                   ok(without(`{"effect":"allow"`, `{"effect":"deny","effect":"allow"`)),
		"effect twice, once escaped":     ok(without(`{"effect":"allow"`, `{"\u0065ffect":"deny","effect":"allow"`)),
		"effect in another case":         ok(without(`"effect"`, `"Effect"`)),
		"an unknown effect":              ok(without(`"effect":"allow"`, `"effect":"allowed"`)),
		"an effect in another case":      ok(without(`"effect":"allow"`, `"effect":"ALLOW"`)),
		"an effect that is true":         ok(without(`"effect":"allow"`, `"effect":true`)),
		"effects":                        ok(without(`"effect":"allow"`, `"effect":["allow"]`)),
		"to be asked":                    ok(without(`"effect":"allow"`, `"effect":"ask"`)),
		"no effect":                      ok(without(`"effect":"allow",`, ``)),
		"an effect by inheritance":       ok(without(`"effect":"allow",`, `"__proto__":{"effect":"allow"},`)),
		"no state":                       ok(without(`"state":"allowed",`, ``)),
		"an open state":                  ok(without(`"state":"allowed"`, `"state":"open"`)),
		"an expired state":               ok(without(`"state":"allowed"`, `"state":"expired"`)),
		"an unknown state":               ok(without(`"state":"allowed"`, `"state":"approved"`)),
		"by nobody":                      ok(without(`"by":[]`, `"by":[7]`)),
		"another digest":                 ok(yes(func(d *sayso.Decision) { d.Digest = other })),
		"another receipt":                ok(yes(func(d *sayso.Decision) { d.Receipt.Digest = other })),
		"another request in the receipt": ok(yes(func(d *sayso.Decision) { d.Receipt.Request = sayso.NewID(time.UnixMilli(2), [16]byte{2}) })),
		"no receipt":                     ok(yes(func(d *sayso.Decision) { d.Receipt = sayso.Receipt{} })),
		"no request":                     ok(yes(func(d *sayso.Decision) { d.Request, d.Receipt.Request = "", "" })),
		"edits under the old digest":     ok(yes(func(d *sayso.Decision) { d.Args = sayso.Args(`{"command":"rm -rf /"}`) })),
		"edits that are no object":       ok(without(`"by":[]`, `"by":[],"args":["rm"]`)),
		"a page":                         answered(200, "text/html", "<html>yes</html>"),
		"a yes that is called a page":    answered(200, "text/html", yes(nil)),
		"a yes of no type":               "HTTP/1.1 200 OK\r\nContent-Length: " + fmt.Sprint(len(yes(nil))) + "\r\n\r\n" + yes(nil),
		"a yes with another status":      answered(201, "application/json", yes(nil)),
		"a part of it":                   answered(206, "application/json", yes(nil)),
		"no content":                     "HTTP/1.1 204 No Content\r\n\r\n",
		"switching":                      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" + yes(nil),
		"going on for ever":              strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20),
		"moved for good":                 "HTTP/1.1 301 X\r\nLocation: " + elsewhere.address + "/v1/admissions\r\nContent-Length: 0\r\n\r\n",
		"moved":                          "HTTP/1.1 307 X\r\nLocation: " + elsewhere.address + "/v1/admissions\r\nContent-Length: 0\r\n\r\n",
		"moved with a yes":               strings.Replace(answered(308, "application/json", yes(nil)), "\r\n", "\r\nLocation: "+elsewhere.address+"/\r\n", 1),
		"pending with nothing":           answered(202, "application/json", ""),
		"pending without a ticket":       answered(202, "application/json", `{"code":"pending"}`),
		"pending with a ticket of lines": answered(202, "application/json", `{"code":"pending","ticket":"a\nb"}`),
		"pending of another code":        answered(202, "application/json", yes(nil)),
		"a problem that is a yes":        problem(400, yes(nil)),
		"a problem that nobody knows":    problem(400, `{"code":"granted","title":"yes"}`),
		"a problem without a code":       problem(403, `{"title":"no"}`),
		"a problem that is no object":    problem(403, `[]`),
		"a page of an error":             answered(502, "text/html", "<html>bad gateway</html>"),
		"presentation without a ticket":  problem(428, `{"code":"presentation-wanted"}`),
		"decided by nobody":              problem(409, `{"code":"decided","title":"no"}`),
		"decided by a yes of no kind":    problem(409, `{"code":"decided","title":"no","decision":{"effect":"allow"}}`),
		"the token, in an error":         problem(401, fmt.Sprintf(leak, "unauthenticated")),
		"the token, in an unknown error": problem(500, fmt.Sprintf(leak, "x")),
		"the token, in the code":         problem(500, `{"code":"`+agentToken+`"}`),
		"the token, as a ticket":         problem(409, `{"code":"conflict","ticket":"`+agentToken+`"}`),
		"the token, where pending":       answered(202, "application/json", `{"code":"pending","ticket":"`+agentToken+`"}`),
		"the token, in the status":       "HTTP/1.1 " + agentToken + "\r\n\r\n",
		"the token, in a header":         "HTTP/1.1 200 OK\r\nContent-Type: " + agentToken + "\r\n" + agentToken + "\r\n\r\n",
		"the token, as the body":         ok(agentToken),
		"stopping for ever":              "HTTP/1.1 503 X\r\nRetry-After: 1\r\nContent-Type: application/problem+json\r\nContent-Length: 22\r\n\r\n{\"code\":\"unavailable\"}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t, answer)
			c := h.client(t, b)
			d, err := c.Admit(patient(t), sayso.Admission{Call: asked, Immediate: true})
			if err == nil || d.Effect != sayso.Deny {
				t.Errorf("Admit = %+v, %v", d, err)
			}
			var f *failure
			if !errors.As(err, &f) || f.Detail == "" {
				t.Errorf("no clear error: %v", err)
			}
			if err := c.Redeem(patient(t), sayso.Receipt{Request: sayso.NewID(time.UnixMilli(1), [16]byte{1}), Digest: other}, asked); err == nil {
				t.Error("redeemed")
			}
			if _, err := c.Answer(patient(t), "x", sayso.Answer{Digest: other, Content: other, Effect: sayso.Allow}); err == nil && !strings.Contains(answer, `"digest"`) {
				t.Error("answered")
			}
			for _, err := range c.Follow(patient(t), 1, sayso.EventQuery{}) {
				if err == nil {
					t.Error("followed")
				}
				break
			}
		})
	}
	t.Cleanup(func() {
		if n := elsewhere.asked.Load(); n > 0 {
			t.Errorf("redirects were followed %d times", n)
		}
	})
}

func TestHostile_redeem_inPython(t *testing.T) { hostileRedeem(t, python(t)) }

// hostileRedeem shows that a redemption is what was wanted or none, and is tried
// once.
func hostileRedeem(t *testing.T, b *bridge) {
	id, digest := sayso.NewID(time.UnixMilli(1), [16]byte{1}), sayso.HashOf("the call")
	right := fmt.Sprintf(`{"id":%q,"digest":%q,"redeemed":true}`, id, digest)
	for name, c := range map[string]struct {
		answer string
		fine   bool
	}{
		"right":           {ok(right), true},
		"not redeemed":    {ok(strings.Replace(right, "true", "false", 1)), false},
		"true as a text":  {ok(strings.Replace(right, "true", `"true"`, 1)), false},
		"one":             {ok(strings.Replace(right, "true", "1", 1)), false},
		"nothing":         {ok("{}"), false},
		"another request": {ok(strings.Replace(right, string(id), string(sayso.NewID(time.UnixMilli(2), [16]byte{2})), 1)), false},
		"another digest":  {ok(strings.Replace(right, digest.String(), sayso.HashOf("x").String(), 1)), false},
		"empty":           {ok(""), false},
		"no content":      {"HTTP/1.1 204 No Content\r\n\r\n", false},
		"pending":         {answered(202, "application/json", right), false},
		"cut off":         {"", false},
		"stopping":        {"HTTP/1.1 503 X\r\nRetry-After: 1\r\nContent-Type: application/problem+json\r\nContent-Length: 22\r\n\r\n{\"code\":\"unavailable\"}", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t, c.answer)
			client := h.client(t, b)
			client.retry = time.Minute
			err := client.Redeem(patient(t), sayso.Receipt{Request: id, Digest: digest}, asked)
			if (err == nil) != c.fine || h.asked.Load() != 1 {
				t.Errorf("got %v, asked %d times", err, h.asked.Load())
			}
		})
	}
}
