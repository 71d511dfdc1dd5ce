package outbox_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/sayso-dev/sayso/internal/outbox"
)

func receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	check, err := standardwebhooks.NewWebhook(os.Getenv("SAYSO_TEAM_SECRET"))
	if err == nil {
		err = check.Verify(body, r.Header)
	}
	if err != nil {
		http.Error(w, "not from sayso", http.StatusUnauthorized)
		return
	}
	fmt.Printf("%s\n", body)
}

// TestReceiver: the receiver of docs/notices.md is this one, and believes what we
// signed and nothing else.
func TestReceiver(t *testing.T) {
	page, err := os.ReadFile("../../docs/notices.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\nfunc receive")
	shown, _, ok := strings.Cut(shown, "```")
	if !ok || !strings.Contains(string(source), "func receive"+shown) {
		t.Errorf("the page shows\n%s", shown)
	}
	t.Setenv("SAYSO_TEAM_SECRET", secret)
	for other, want := range map[string]int{secret: 200, "whsec_" + strings.Repeat("B", 32): 401} {
		s := httptest.NewServer(http.HandlerFunc(receive))
		w := newWorld(t, outbox.Target{Name: "hook", Webhook: text(s.URL), Secret: text(other)})
		err := w.outbox().Quick(time.Minute).Test(t.Context(), "hook")
		if (err == nil) != (want == 200) || err != nil && !strings.Contains(err.Error(), fmt.Sprint(want)) {
			t.Errorf("want %d: %v", want, err)
		}
		s.Close()
	}
}
