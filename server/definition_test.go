package server_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

func acceptBody(d sayso.Digest) string {
	return `{"server":"docs","tool":"echo","digest":"` + d.String() + `"}`
}

// A definition that changed is shown with its difference, and trusted once a
// person accepts the very one that they were shown.
func TestDefinitions(t *testing.T) {
	f := newFixture(t)
	list := func() string {
		got := f.request("person", "GET", "/v1/definitions", "")
		if got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return string(got.body)
	}
	if got := list(); !strings.Contains(got, `"state":"changed"`) || !strings.Contains(got, `+  \"description\": \"Echoes, and sends it on.\"`) ||
		!strings.Contains(got, `"changed":"`+f.changed.String()+`"`) {
		t.Error(got)
	}
	for _, tt := range []struct {
		token, body string
		want        int
	}{
		{"agent", acceptBody(f.changed), 403},
		{"tool", acceptBody(f.changed), 403},
		{"viewer", acceptBody(f.changed), 403},
		{"person", acceptBody(sayso.Digest{1}), 412},
		{"person", acceptBody(sayso.Digest{}), 412},
		{"person", `{"server":"docs","tool":"nothing","digest":"` + f.changed.String() + `"}`, 404},
		{"person", `{"server":"docs","tool":"echo"}`, 412},
		{"person", `{"server":"docs","tool":"echo","digest":"` + f.changed.String() + `","scope":"session"}`, 422},
	} {
		if got := f.request(tt.token, "POST", "/v1/definitions/accept", tt.body); got.status != tt.want {
			t.Errorf("%s %s: %d %s, want %d", tt.token, tt.body, got.status, got.body, tt.want)
		}
	}
	if got := list(); !strings.Contains(got, `"state":"changed"`) {
		t.Errorf("refused, and trusted: %s", got)
	}
	for range 2 { // the same again is no mistake
		if got := f.request("person", "POST", "/v1/definitions/accept", acceptBody(f.changed)); got.status != 204 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if got := list(); strings.Contains(got, `"state":"changed"`) || !strings.Contains(got, `"trusted_by":"ann"`) {
		t.Error(got)
	}
}

// What was trusted before is kept by who may accept, and by nobody who was not shown the change.
func TestDefinitions_keep(t *testing.T) {
	f := newFixture(t)
	for _, tt := range []struct {
		token, body string
		want        int
	}{
		{"agent", acceptBody(f.changed), 403},
		{"viewer", acceptBody(f.changed), 403},
		{"person", acceptBody(sayso.Digest{1}), 412},
		{"person", acceptBody(f.changed), 204},
		{"person", acceptBody(f.changed), 404},
	} {
		if got := f.request(tt.token, "POST", "/v1/definitions/keep", tt.body); got.status != tt.want {
			t.Errorf("%s %s: %d %s, want %d", tt.token, tt.body, got.status, got.body, tt.want)
		}
	}
	if got := string(f.request("person", "GET", "/v1/definitions", "").body); strings.Contains(got, `"state":"changed"`) {
		t.Error(got)
	}
}

// A tool that looks like one that was known before it is not shown as trusted.
func TestDefinitions_lookAlike(t *testing.T) {
	f := newFixture(t)
	for _, tool := range []string{"list", "Iist"} {
		d := sayso.Definition{Tool: tool, Text: sayso.Args(`{}`)}
		if _, err := f.b.Meet(t.Context(), actors["tool"], "twins", []sayso.Definition{d}); err != nil {
			t.Fatal(err)
		}
	}
	got := string(f.request("person", "GET", "/v1/definitions", "").body)
	if !strings.Contains(got, `"tool":"Iist","state":"left-out","looks_like":"list"`) || !strings.Contains(got, `"tool":"list","state":"trusted"`) {
		t.Error(got)
	}
}

// What was not served to a page, the page cannot accept.
func TestPageToken_acceptsWhatItWasShown(t *testing.T) {
	var from string
	w := newPage(t, &from)
	var last sayso.Digest
	change := func(text string) {
		d := sayso.Definition{Tool: "echo", Text: sayso.Args(`{"description":"` + text + `"}`)}
		if _, err := w.b.Meet(t.Context(), actors["tool"], "docs", []sayso.Definition{d}); err != nil {
			t.Fatal(err)
		}
		last = d.Digest()
	}
	accept := func(want int) {
		t.Helper()
		if r := w.request("page", "POST", "/v1/definitions/accept", acceptBody(last)); r.status != want {
			t.Errorf("%d %s, want %d", r.status, r.body, want)
		}
	}
	change("one")
	change("two")
	accept(428)
	if r := w.request("page", "GET", "/v1/definitions", ""); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	change("three")
	accept(428)
	if r := w.request("page", "GET", "/v1/definitions", ""); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	accept(204)
}

// What a page was shown of one server it cannot accept of another, where the same
// definition takes the place of something else.
func TestPageToken_acceptsOfThatServer(t *testing.T) {
	var from string
	w := newPage(t, &from)
	var last sayso.Digest
	change := func(server, text string) {
		d := sayso.Definition{Tool: "echo", Text: sayso.Args(`{"description":"` + text + `"}`)}
		if _, err := w.b.Meet(t.Context(), actors["tool"], server, []sayso.Definition{d}); err != nil {
			t.Fatal(err)
		}
		last = d.Digest()
	}
	change("docs", "one")
	change("other", "another")
	change("docs", "two")
	if r := w.request("page", "GET", "/v1/definitions", ""); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	change("other", "two")
	if r := w.request("page", "POST", "/v1/definitions/accept", strings.Replace(acceptBody(last), "docs", "other", 1)); r.status != 428 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.request("page", "POST", "/v1/definitions/accept", acceptBody(last)); r.status != 204 {
		t.Errorf("%d %s", r.status, r.body)
	}
}
