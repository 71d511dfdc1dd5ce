package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

// callbackPath is where the browser comes back to.
const callbackPath = "/callback"

// callback waits on this machine's own address for the browser to come back.
type callback struct {
	listener net.Listener
	server   *http.Server
	state    string
	done     chan struct{} // closed once the login ended

	mu      sync.Mutex
	answers chan url.Values // one; what else comes is late
	strange bool            // somebody came with another state
	end     error
}

// listen opens the place that the browser comes back to; port 0 is any.
func listen(ctx context.Context, port int, state string) (*callback, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, &hinted{fmt.Errorf("the browser cannot come back to this machine: %w", err), "sayso mcp login URL --port PORT, with a port that is free"}
	}
	c := &callback{listener: l, state: state, done: make(chan struct{}), answers: make(chan url.Values, 1)}
	c.server = &http.Server{
		Handler: c, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	go func() { _ = c.server.Serve(l) }() // until it is closed
	return c, nil
}

// redirect is the address that the browser comes back to.
func (c *callback) redirect() string { return "http://" + c.listener.Addr().String() + callbackPath }

// ServeHTTP takes the one answer that has the state of this login. What else comes, as
// from a page that tries its luck, neither ends the login nor is taken for its answer.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case r.URL.Path != callbackPath || r.Host != c.listener.Addr().String():
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet:
		http.Error(w, "a browser comes with GET", http.StatusMethodNotAllowed)
		return
	case subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(c.state)) != 1:
		c.mu.Lock()
		c.strange = true
		c.mu.Unlock()
		page(w, http.StatusBadRequest, "This is not the login that sayso waits for", "Nothing was taken from it. Go back to the terminal.")
		return
	}
	select {
	case c.answers <- query:
	default:
		page(w, http.StatusConflict, "This login has its answer already", "Go back to the terminal.")
		return
	}
	select {
	case <-c.done:
	case <-r.Context().Done():
		return
	}
	c.mu.Lock()
	end := c.end
	c.mu.Unlock()
	if end != nil {
		page(w, http.StatusOK, "Not logged in", "The terminal says why. You can close this page.")
		return
	}
	page(w, http.StatusOK, "Logged in", "sayso has what it needs. You can close this page.")
}

// page is what a person sees in the browser: words of ours alone, and nothing runs.
func page(w http.ResponseWriter, status int, title, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%[1]s</title>`+
		`<body style="font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark"><h1>%[1]s</h1><p>%[2]s</p>`,
		html.EscapeString(title), html.EscapeString(text)) // a browser that is gone needs none
}

// wait waits for the answer.
func (c *callback) wait(ctx context.Context) (url.Values, error) {
	select {
	case answer := <-c.answers:
		return answer, nil
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err() // the person ended it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.strange {
		return nil, fmt.Errorf("%w: a browser came back with a state that is not this login's, which was not taken, and none with the right one", sayso.ErrNotAllowed)
	}
	return nil, fmt.Errorf("%w: no browser came back in time", sayso.ErrExpired)
}

// close tells the page how the login ended, and stops.
func (c *callback) close(end error) {
	c.mu.Lock()
	c.end = end
	c.mu.Unlock()
	close(c.done)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
}
