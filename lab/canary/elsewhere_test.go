//go:build unix

package canary_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
)

// elsewhere is who is told by webhook and by chat, as much as can be.
type elsewhere struct {
	w *world

	mu    sync.Mutex // guards what follows
	told  strings.Builder
	kinds map[string]int // how often, by webhook or chat
}

// The target's own secrets, which no surface may show either.
func (w *world) elsewhere() {
	w.t.Helper()
	w.far = &elsewhere{w: w, kinds: map[string]int{}}
	s := httptest.NewServer(w.far)
	w.t.Cleanup(s.Close)
	at := func(name, text string) string {
		path := filepath.Join(w.m.Home, name)
		w.m.Write(path, text+"\n")
		return path
	}
	secret := at("webhook.secret", "whsec_"+strings.Repeat("c2F5c28g", 5))
	webhook, chat := at("webhook.url", s.URL+"/webhook/"+w.n.lay()), at("chat.url", "generic+"+s.URL+"/chat/"+w.n.lay())
	all := "on: [opened, decided, expired, withdrawn, mode, dead], detail: preview"
	w.m.Write(w.m.Paths().Policy(), fmt.Sprintf(`version: 1
notices:
  - {name: webhook, webhook: {file: %q}, secret: {file: %q}, %s}
  - {name: chat, chat: {file: %q}, %s}
`, webhook, secret, all, chat, all))
}

func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := io.ReadAll(r.Body)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		return // whoever sent it went away
	}
	if e.kinds[kind]++; e.kinds[kind]%7 == 3 { // some is tried again
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write(body) // whoever reads it may show it
		return
	}
	e.told.WriteString(fmt.Sprint(r.Header) + "\n" + string(body) + "\n")
}

// toldElsewhere is what those were told, once each was told something.
func (w *world) toldElsewhere() string {
	w.t.Helper()
	w.far.mu.Lock()
	defer w.far.mu.Unlock()
	if w.far.kinds["webhook"] < 5 || w.far.kinds["chat"] < 5 {
		w.t.Errorf("elsewhere was told %v, so nothing was proved of it", w.far.kinds)
	}
	return w.far.told.String()
}
