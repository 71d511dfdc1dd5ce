package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
)

// listed asks for a list and returns the call ids in it, and where it goes on.
func (w *harness) listed(t *testing.T, token, path string) (calls []string, next sayso.Seq) {
	t.Helper()
	r := w.request(token, "GET", path, "")
	var out wire.Requests
	if err := json.Unmarshal([]byte(r.body), &out); r.status != 200 || err != nil {
		t.Fatalf("%s: %d %s, %v", path, r.status, r.body, err)
	}
	for _, q := range out.Requests {
		calls = append(calls, q.CallID)
	}
	return calls, out.Next
}

func TestHistory_seeks(t *testing.T) {
	f := newFixture(t)
	if _, err := f.b.Inbox(actors["person"]).Answer(t.Context(), f.open.ID, sayso.Answer{Digest: f.open.Digest, Content: f.open.Content, Note: "Not on a Friday"}); err != nil {
		t.Fatal(err)
	}
	ann := actors["person"].Principal
	for query, want := range map[string][]string{
		"by=" + ann:                              {"granted", "allowed", "denied", "open"},
		"by=" + ann + "&state=denied":            {"denied", "open"},
		"by=nobody":                              {},
		"source=person":                          {"granted", "allowed", "denied", "open"},
		"source=grant":                           {},
		"cause=" + string(f.open.Cause):          {"granted", "allowed", "denied", "open"},
		"cause=tool-required":                    {},
		"text=friday":                            {"open"},
		"text=PUSH+granted":                      {"granted"},
		"text=push+nowhere":                      {},
		"longer=1h":                              {},
		"like=" + string(f.open.ID):              {"granted", "allowed", "denied"},
		"like=" + string(f.open.ID) + "&limit=1": {"granted"},
	} {
		if got, _ := f.listed(t, "person", "/v1/history?"+query); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for query, want := range map[string]int{
		"source=chance": 422, "longer=soon": 422, "text=a&oldest=true": 422, "by=a&by=b": 422,
		"text=" + url.QueryEscape(string(make([]byte, 2000))): 422, "like=k7fm": 404, "like=" + string(f.ticket): 404,
	} {
		if r := f.request("person", "GET", "/v1/history?"+query, ""); r.status != want {
			t.Errorf("%.40s: %d %s, want %d", query, r.status, r.body, want)
		}
	}
}

// Page after page gives everything once, whether the log has an index or not.
func TestHistory_goesOn(t *testing.T) {
	f := newFixture(t)
	all, _ := f.listed(t, "person", "/v1/history")
	for _, query := range []string{"", "&text=push", "&source=person"} {
		want, _ := f.listed(t, "person", "/v1/history?limit=100"+query)
		var got []string
		for next, pages := sayso.Seq(0), 0; pages == 0 || next > 0; pages++ {
			path := "/v1/history?limit=2" + query
			if next > 0 {
				path += fmt.Sprintf("&before=%d", next)
			}
			var some []string
			some, next = f.listed(t, "person", path)
			got = append(got, some...)
			if pages > len(all) {
				t.Fatalf("%q: the pages have no end", query)
			}
		}
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

// Numbers and truths are found as they are written.
func TestHistory_findsNumbers(t *testing.T) {
	w := newHarness(t, nil)
	c := call("bash", "c1")
	c.Args = sayso.Args(`{"command":"git push","account":9007199254740993,"force":true}`)
	if _, err := w.b.Gate(actors["agent"]).Admit(t.Context(), sayso.Admission{Call: c, Patience: time.Nanosecond}); err == nil {
		t.Fatal("nobody answered, and it was decided")
	}
	for text, want := range map[string]int{"9007199254740993": 1, "9007199254740992": 0, "true": 1, "false": 0} {
		if got, _ := w.listed(t, "person", "/v1/history?text="+text); len(got) != want {
			t.Errorf("%s: %d found, want %d", text, len(got), want)
		}
	}
}

// Whoever may not see a request does not find it, nor what is like it.
func TestHistory_isOfTheirOwn(t *testing.T) {
	f := newFixture(t)
	theirs := f.harness.open("theirs", "secret")
	if got, _ := f.listed(t, "person", "/v1/history?text=secret"); len(got) != 0 {
		t.Errorf("found %q", got)
	}
	if r := f.request("person", "GET", "/v1/history?like="+string(theirs.ID), ""); r.status != 403 {
		t.Errorf("like another's: %d %s", r.status, r.body)
	}
}
