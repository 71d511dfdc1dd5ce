//go:build unix

package down_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/lab/machine"
)

// TestNoticesSurviveKills: the server is killed while a notice is under way, and
// again and again. Each request is told of, those meanwhile too, and what was
// under way under the same id.
func TestNoticesSurviveKills(t *testing.T) {
	var mu sync.Mutex // guards what follows
	told := map[string]int{}
	arrived, hold := make(chan string), true
	far := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then it is seen that whoever sent it is gone
		mu.Lock()
		told[r.Header.Get("Webhook-Id")]++
		held := hold
		mu.Unlock()
		select {
		case arrived <- r.Header.Get("Webhook-Id"):
		case <-r.Context().Done():
		}
		if held {
			<-r.Context().Done() // until the server that asks is dead
		}
	}))
	defer far.Close()
	m := machine.New(t)
	secret := filepath.Join(m.Home, "secret")
	m.Write(secret, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
	m.Write(m.Paths().Policy(), fmt.Sprintf("version: 1\nnotices:\n  - {name: far, webhook: %q, secret: {file: %q}}\n", far.URL, secret))
	s := m.Serve("none")
	begun(t, m)
	var first string
	for i := range 3 {
		m.Start(m.Touch(fmt.Sprint(i), fmt.Sprint("marker", i)))
		if id := <-arrived; first == "" {
			first = id
		} else if id != first {
			t.Errorf("after a kill %s was told first, not %s", id, first)
		}
		s.Kill()
		mu.Lock()
		hold = i < 2
		mu.Unlock()
		s = m.Serve("none")
	}
	seen := map[string]bool{}
	for len(seen) < 3 {
		seen[<-arrived] = true
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 3 || told[first] < 3 {
		t.Errorf("told %v", told)
	}
}

// begun waits until the server has begun to tell of what happens.
func begun(t *testing.T, m *machine.Machine) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for {
		text, err := os.ReadFile(filepath.Join(m.Paths().Notices(), "notices.json"))
		if err == nil && strings.Contains(string(text), `"far"`) {
			return
		}
		select {
		case <-late:
			t.Fatalf("it does not begin: %s, %v", text, err)
		case <-tick.C:
		}
	}
}
