package server_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/server"
)

// metric waits until a line of /metrics is there, read with a token or without.
func (w *harness) metric(token, line string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	for {
		r := w.request(token, "GET", "/metrics", "")
		if strings.Contains(string(r.body), line) {
			return string(r.body)
		}
		if ctx.Err() != nil {
			w.t.Fatalf("no %q in\n%s", line, r.body)
		}
	}
}

func TestMetricsAndLogLines(t *testing.T) {
	w := newHarness(t, nil)
	w.metric("", "sayso_calls_total 0")
	if _, err := w.b.Gate(actors["agent"]).Admit(t.Context(), sayso.Admission{Call: call("file-read", "policy-call")}); err != nil {
		t.Fatal(err)
	}
	r := w.open("s1", canary)
	w.metric("admin", `sayso_open_requests{age="1m"} 1`)
	w.metric("admin", `sayso_open_requests_cut 0`)
	for _, who := range []string{"", "agent", "tool"} {
		if body := string(w.request(who, "GET", "/metrics", "").body); strings.Contains(body, "sayso_open_requests") {
			t.Errorf("%q is told of open requests", who)
		}
	}
	w.metric("viewer", `sayso_open_requests{age="1m"} 1`)
	if _, err := w.b.Inbox(actors["person"]).Answer(t.Context(), r.ID, allow(r)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = w.b.Gate(actors["agent"]).Admit(ctx, sayso.Admission{Call: call("bash", "left")})
	}()
	w.waitForRequest("s1", "left")
	cancel()
	<-left
	w.metric("", "sayso_interrupted_total 1")
	_, err := w.b.Gate(actors["agent"]).Admit(t.Context(), sayso.Admission{Call: call("bash", "left"), Patience: time.Millisecond})
	var pending *sayso.PendingError
	if !errors.As(err, &pending) {
		t.Fatal(err)
	}
	w.metric("", "sayso_recovered_total 1")
	if err := w.b.Gate(actors["agent"]).Withdraw(t.Context(), pending.Ticket, ""); err != nil {
		t.Fatal(err)
	}
	w.metric("", `sayso_unanswered_total{state="withdrawn"} 1`)
	w.request("person", "GET", "/v1/requests", "")
	text := w.metric("admin", `sayso_approval_response_seconds_count{effect="allow"} 1`)
	for _, line := range []string{
		`sayso_decisions_total{cause="rule",effect="allow",source="policy"} 1`,
		`source="person"} 1`, "sayso_calls_total 3", "sayso_prompts_total 2", "sayso_prompts_per_100_calls 66.",
		`sayso_open_list_seconds_count 1`, `sayso_http_request_seconds_count{route="/v1/requests",status="2xx"} 1`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	if strings.Contains(text, canary) || strings.Contains(text, string(r.ID)) || strings.Contains(text, "s1\"") {
		t.Error("a label holds an id")
	}
	p := expfmt.NewTextParser(model.LegacyValidation)
	if _, err := p.TextToMetricFamilies(strings.NewReader(text)); err != nil {
		t.Errorf("not the text format: %v", err)
	}
	logs := w.logs.String()
	for _, line := range []string{
		`msg=requested session=s1 call=` + canary + ` tool=bash`,
		`msg=resolved session=s1 call=` + canary + ` tool=bash .*decision=allow response_ms=\d+`,
		`msg=resolved session=s1 call=policy-call tool=file-read .*decision=allow`,
	} {
		if n := len(regexp.MustCompile(line).FindAllString(logs, -1)); n != 1 {
			t.Errorf("%d lines match %s in\n%s", n, line, logs)
		}
	}
	if strings.Contains(logs, "git push") {
		t.Errorf("the log holds arguments:\n%s", logs)
	}
}

func TestCommitsAreMeasured(t *testing.T) {
	w := newHarness(t, func(o *server.Options) {
		o.Commits = func(tell func(int, time.Duration)) { tell(3, 2*time.Millisecond) }
	})
	text := w.metric("", "sayso_commit_appends_sum 3")
	if !strings.Contains(text, `sayso_commit_seconds_bucket{le="0.0025"} 1`) || !strings.Contains(text, `sayso_commit_seconds_bucket{le="0.001"} 0`) {
		t.Error(text)
	}
}

// docs/metrics.md has a row for each metric, and none for another.
func TestMetrics_documented(t *testing.T) {
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(func(sayso.Actor) (sayso.Gate, sayso.Inbox) { return brokenLog{}, brokenLog{} }, &server.Options{
		Authenticate: func(string) (sayso.Actor, error) { return sayso.Actor{}, sayso.ErrNotAllowed },
		Notices:      openNotices{},
	})
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(sayso_[a-z0-9_]+)").FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, row[1])
	}
	slices.Sort(rows)
	if want := s.MetricNames(); !slices.Equal(rows, want) {
		t.Errorf("the page has\n%v, there are\n%v", rows, want)
	}
}

func TestDeliveryIsMeasured(t *testing.T) {
	w := newHarness(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, r := w.stream(ctx, "person", "")
	w.open("s1", "c1")
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	w.metric("", "sayso_event_delivery_seconds_count")
}

// brokenLog is a gate and an inbox that find nothing out.
type brokenLog struct {
	sayso.Gate
	sayso.Inbox
}

var errDisk = errors.New("open /home/dev/secret/path: disk full " + canary)

func (brokenLog) Head(context.Context) (sayso.Head, error) { return sayso.Head{}, errDisk }
func (brokenLog) Admit(context.Context, sayso.Admission) (sayso.Decision, error) {
	return sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}, errDisk
}

func TestWhatIsUnknownStaysInTheLog(t *testing.T) {
	w := &harness{t: t, tokens: &tokenList{ended: map[string]bool{}}, logs: &syncBuffer{}}
	w.startWith(func(sayso.Actor) (sayso.Gate, sayso.Inbox) { return brokenLog{}, brokenLog{} })
	t.Cleanup(func() { w.stop() })
	r := w.request("agent", "POST", "/v1/admissions", `{"call":{"tool":"bash","args":{},"session":"s1"}}`)
	if r.status != http.StatusInternalServerError || strings.Contains(string(r.body), canary) || strings.Contains(string(r.body), "allow") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if !strings.Contains(w.logs.String(), canary) {
		t.Errorf("the log does not say what happened: %s", w.logs.String())
	}
	if r := w.request("", "GET", "/readyz", ""); r.status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d", r.status)
	}
	if r := w.request("", "GET", "/healthz", ""); r.status != http.StatusOK {
		t.Errorf("healthz: %d", r.status)
	}
	_, err := w.client("agent").Admit(t.Context(), sayso.Admission{Call: call("bash", "c1")})
	if !errors.Is(err, sayso.ErrUnavailable) || strings.Contains(err.Error(), canary) {
		t.Errorf("client: %v", err)
	}
}

func TestLocalRoutesAreLocal(t *testing.T) {
	w := newHarness(t, func(o *server.Options) { o.AllowedHosts = []string{"box.lan"} })
	for token, want := range map[string]int{"": 401, "viewer": 200} {
		for _, path := range []string{"/metrics", "/healthz", "/openapi.json"} {
			req, err := http.NewRequest("GET", "http://box.lan"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if token != "" {
				req.Header.Set("Authorization", "Bearer "+token)
			}
			req.RemoteAddr, req.TLS = "192.0.2.7:1234", &tls.ConnectionState{}
			rec := newRecorder()
			w.s.ServeHTTP(rec, req.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}))))
			if rec.Code != want {
				t.Errorf("%s from elsewhere as %q: %d", path, token, rec.Code)
			}
		}
	}
}
