package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/present"
)

// A page gets code as pairs of a class and a text, of what was made safe: never
// markup, and nothing that is not in the content.
func TestContent_tokens(t *testing.T) {
	w := newHarness(t, nil)
	p := present.Diff("a.go", "one\n", "two\x1b[2J <b>\n")
	_, err := w.client("agent").Admit(t.Context(), sayso.Admission{
		Call: call("bash", "c1"), Patience: time.Millisecond,
		Present: func(context.Context) (*sayso.Presentation, error) { return &p, nil },
	})
	if err == nil {
		t.Fatal("nobody is asked")
	}
	path := "/v1/requests/" + string(w.waitForRequest("s1", "c1").ID) + "/content"
	var plain, full wire.Content
	for query, into := range map[string]*wire.Content{"": &plain, "?tokens=true": &full} {
		if r := w.request("person", "GET", path+query, ""); r.status != http.StatusOK {
			t.Fatalf("%s: %d %s", query, r.status, r.body)
		} else if err := jcs.Unmarshal([]byte(r.body), into); err != nil {
			t.Fatal(err)
		}
	}
	if len(plain.Tokens) > 0 || plain.Presentation == nil {
		t.Errorf("tokens that nobody wanted: %+v", plain.Tokens)
	}
	var text strings.Builder
	classes := map[sayso.Class]string{}
	for _, token := range full.Tokens {
		text.WriteString(token.Text)
		classes[token.Class] += token.Text
	}
	if text.String() != full.Presentation.Content || classes[sayso.ClassAdded] != "+two\\x1b[2J <b>\n" || classes[sayso.ClassRemoved] != "-one\n" {
		t.Errorf("tokens %q of %q", full.Tokens, full.Presentation.Content)
	}
	if r := w.request("person", "GET", path+"?tokens=yes", ""); r.status != http.StatusUnprocessableEntity {
		t.Errorf("tokens=yes: %d %s", r.status, r.body)
	}
}
