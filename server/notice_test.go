package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/server"
)

// openNotices is a notice about each request of a harness that is open, which
// could not be delivered.
type openNotices struct{ w *harness }

// noticeOf is the notice about a request.
func noticeOf(r sayso.Request) server.Notice {
	next := r.CreatedAt.Add(5 * time.Minute)
	return server.Notice{
		ID: sayso.NewID(r.CreatedAt, [16]byte([]byte(r.ID[20:36]))), ShortID: "px51", Target: "team", About: "opened", Request: r.ID,
		State: "waiting", Attempts: 2, CreatedAt: r.CreatedAt, NextAt: &next, Error: "it answered with status 503",
	}
}

func (u openNotices) List(ctx context.Context) (list server.NoticeList, err error) {
	open, err := u.w.b.Inbox(actors["admin"]).Requests(ctx, sayso.RowQuery{States: sayso.OpenStates(), Oldest: true})
	for _, r := range open {
		list.Notices = append(list.Notices, noticeOf(r))
	}
	list.Targets = []server.NoticeTarget{{Name: "team", Sent: 7, Failed: 2, Waiting: len(open)}}
	return list, err
}

func (u openNotices) Retry(ctx context.Context, id sayso.ID) (server.Notice, error) {
	list, err := u.List(ctx)
	for _, n := range list.Notices {
		if n.ID == id {
			n.Attempts = 0
			return n, err
		}
	}
	return server.Notice{}, errors.Join(err, sayso.ErrNotFound)
}

// A notice says that there is a request. Who may not see the request learns of
// none, and can have none tried again.
func TestNotices_areOfWhatOneMaySee(t *testing.T) {
	f := newFixture(t)
	id := noticeOf(f.open).ID
	for token, sees := range map[string]bool{"person": true, "bob": true, "admin": true, "eve": false} {
		got := f.request(token, "GET", "/v1/notices", "")
		if got.status != 200 || strings.Contains(string(got.body), string(id)) != sees {
			t.Errorf("%s: %d %s", token, got.status, got.body)
		}
		want := 200
		if !sees {
			want = 404
		}
		if got := f.request(token, "POST", "/v1/notices/"+string(id)+"/retry", "{}"); got.status != want {
			t.Errorf("%s retries: %d %s", token, got.status, got.body)
		}
	}
	for _, token := range []string{"agent", "tool", "viewer"} {
		if got := f.request(token, "GET", "/v1/notices", ""); got.status != 403 {
			t.Errorf("%s: %d %s", token, got.status, got.body)
		}
	}
}

func TestNotices_byTheClient(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]*client.Client{"HTTP": f.client("person"), "WebSocket": f.dial("person")} {
		list, err := c.Notices(t.Context())
		if err != nil || len(list.Notices) == 0 || len(list.Targets) != 1 {
			t.Fatalf("%s: %+v, %v", name, list, err)
		}
		tried, err := c.Retry(t.Context(), list.Notices[0].ID)
		if err != nil || tried.Attempts != 0 || tried.ID != list.Notices[0].ID {
			t.Errorf("%s: %+v, %v", name, tried, err)
		}
		if _, err := c.Retry(t.Context(), f.open.ID); !errors.Is(err, sayso.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNotices_metrics(t *testing.T) {
	f := newFixture(t)
	got := string(f.request("", "GET", "/metrics", "").body)
	for _, line := range []string{`sayso_notices_total{outcome="delivered",target="team"} 7`, `sayso_notices_total{outcome="failed",target="team"} 2`, `sayso_notices_dead{target="team"} 0`} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}

// What cannot be read says so, and takes no other metric with it.
func TestNotices_metricsThatCannotBeRead(t *testing.T) {
	w := newHarness(t, func(o *server.Options) { o.Notices = brokenNotices{} })
	if got := w.request("", "GET", "/metrics", ""); got.status != 200 || !strings.Contains(string(got.body), "sayso_calls_total") || strings.Contains(string(got.body), "sayso_notices_total{") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := w.request("person", "GET", "/v1/notices", ""); got.status != 503 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

type brokenNotices struct{}

func (brokenNotices) List(context.Context) (server.NoticeList, error) {
	return server.NoticeList{}, sayso.ErrUnavailable
}

func (brokenNotices) Retry(context.Context, sayso.ID) (server.Notice, error) {
	return server.Notice{}, sayso.ErrUnavailable
}
