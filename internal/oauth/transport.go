package oauth

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sayso-dev/sayso/internal/home"
)

// Login is what requests to one server go with, whoever logged in to it last, and
// whichever process renewed it.
type Login struct {
	all    *Logins
	url    string // as it was given
	server string

	mu    sync.Mutex // guards what follows
	stamp home.Stamp // of the file that was read last
	last  *record
	sent  []string // tokens that the server was shown of late
	under *renewal // under way, or the last one
}

// renewal is a look for another token, which several requests wait for.
type renewal struct {
	began   time.Time       // by the clock of the logins
	refused string          // what the server did not take
	brief   <-chan struct{} // closed when who has a token that is good waits no longer
	done    chan struct{}
	token   string // from here on once done is closed
	err     error
}

const (
	// brief is how long a request waits for another token while the one that is
	// there is still good.
	brief = 2 * time.Second
	// again is how long after a renewal that failed the next one is tried, while the
	// token is still good.
	again = 10 * time.Second
)

// To is the login to a server; it need not be there yet.
func (l *Logins) To(server string) (*Login, error) {
	same, err := canonical(server)
	if err != nil {
		return nil, err
	}
	return &Login{all: l, url: server, server: same}, nil
}

// There reports whether somebody logged in.
func (l *Login) There() (bool, error) {
	r, err := l.here()
	return r != nil, err
}

// here is the login as it is kept now; nil if there is none.
func (l *Login) here() (*record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stamp := home.StampOf(loginFile(l.all.place(l.server)))
	if l.stamp.Same(stamp) {
		return l.last, nil
	}
	r, err := l.all.read(l.server)
	if err != nil {
		return nil, err
	}
	l.stamp, l.last = stamp, r
	return r, nil
}

// token is what a request is to go with; empty if there is nothing. refused is one that
// the server did not take.
func (l *Login) token(ctx context.Context, refused string) (string, error) {
	r, err := l.here()
	if err != nil || r == nil {
		return "", err
	}
	now := l.all.now()
	if r.Access != refused && (r.valid(now, r.early()) || r.Refresh == "") || r.fresh(now, refused) {
		return r.Access, nil
	}
	good := r.Access != refused && r.valid(now, 0)
	with := l.renewal(refused, good, now)
	if !good {
		select {
		case <-with.done:
			return with.token, with.err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	select {
	case <-with.done:
	case <-with.brief:
	}
	select {
	case <-with.done:
		if with.err == nil {
			return with.token, nil
		}
	default:
	}
	return r.Access, nil
}

// renewal is the look for another token that is under way, or a new one. It goes on
// when who began it waits no more: what renews may be good once, and others wait too.
// Nothing of their request goes along, such as a trace that would take ours for it.
func (l *Login) renewal(refused string, good bool, now time.Time) *renewal {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.under; w != nil && w.refused == refused {
		select {
		case <-w.done:
			if good && w.err != nil && now.Sub(w.began) < again && !now.Before(w.began) {
				return w
			}
		default:
			return w
		}
	}
	passed := make(chan struct{})
	w := &renewal{began: now, refused: refused, brief: passed, done: make(chan struct{})}
	time.AfterFunc(brief, func() { close(passed) })
	l.under = w
	go func() { // ends with the wait for the lock, and one exchange
		defer close(w.done)
		w.token, w.err = l.another(context.Background(), refused)
	}()
	return w
}

// Wait waits until the renewal that is under way has ended, or ctx has: what ends in the
// middle of one may have used up what renews, and lose what it was given for that.
func (l *Login) Wait(ctx context.Context) {
	l.mu.Lock()
	w := l.under
	l.mu.Unlock()
	if w == nil {
		return
	}
	select {
	case <-w.done:
	case <-ctx.Done():
	}
}

// another is a token that is not the one that was refused, and is good for a while.
func (l *Login) another(ctx context.Context, refused string) (string, error) {
	held, err := l.all.lock(ctx, l.server)
	if err != nil {
		return "", err
	}
	defer func() { _ = held.Close() }() // nothing was written to it
	r, err := l.all.read(l.server)
	if err != nil || r == nil {
		return "", err
	}
	now := l.all.now()
	if r.Access != refused && r.valid(now, r.early()) || r.Refresh == "" || r.fresh(now, refused) {
		return r.Access, nil // another was faster, or nothing more can be had
	}
	if err := l.all.renew(ctx, r); err != nil {
		return "", err
	}
	return r.Access, nil
}

// fresh reports whether what the server refuses was given a moment ago: to have another
// would be of no use.
func (r *record) fresh(now time.Time, refused string) bool {
	return r.Access == refused && now.Sub(r.Renewed) < time.Minute && !now.Before(r.Renewed)
}

// Transport has requests to the server, and to nowhere else, go with the login. One that
// is answered with 401 was not run, and is made once more with a login that was renewed.
func (l *Login) Transport(next http.RoundTripper) http.RoundTripper { return &transport{l, next} }

type transport struct {
	login *Login
	next  http.RoundTripper
}

// CloseIdleConnections does so below.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if same(req.URL) != t.login.server || req.Header.Get("Authorization") != "" {
		return t.next.RoundTrip(req)
	}
	token, err := t.login.token(req.Context(), "")
	if err != nil {
		return nil, t.unsent(req, err)
	}
	if token == "" {
		return t.next.RoundTrip(req)
	}
	resp, err := t.next.RoundTrip(t.login.carrying(req, token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || req.Body != nil && req.GetBody == nil {
		return resp, err
	}
	other, err := t.login.token(req.Context(), token)
	if err != nil || other == "" || other == token {
		return resp, nil // what the server says stands
	}
	again := t.login.carrying(req, other)
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return resp, nil
		}
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	_ = resp.Body.Close()
	return t.next.RoundTrip(again)
}

// unsent is why a request did not go to the server.
func (t *transport) unsent(req *http.Request, err error) error {
	if req.Body != nil {
		_ = req.Body.Close() // as a transport must
	}
	return &UnsentError{err}
}

// UnsentError says that a request was not sent, since the login could not be had.
type UnsentError struct{ err error }

func (e *UnsentError) Error() string { return e.err.Error() }

func (e *UnsentError) Unwrap() error { return e.err }

// Unsent says that the server did not get the request.
func (e *UnsentError) Unsent() bool { return true }

// carrying is a request with a token.
func (l *Login) carrying(req *http.Request, token string) *http.Request {
	l.mu.Lock()
	if !slices.Contains(l.sent, token) {
		if len(l.sent) == 4 { // the last ones are enough: what is older is good for nothing
			l.sent = slices.Clone(l.sent[1:])
		}
		l.sent = append(l.sent, token)
	}
	l.mu.Unlock()
	out := req.Clone(req.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	return out
}

// Secrets are the tokens that the server was shown, and may say back.
func (l *Login) Secrets() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.sent)
}

// notRenewed is why what the server refused, and is kept still, was not renewed the last
// time; nil if it was not tried, or is tried now.
func (l *Login) notRenewed(r *record) error {
	l.mu.Lock()
	w := l.under
	l.mu.Unlock()
	if w == nil || w.refused != r.Access {
		return nil
	}
	select {
	case <-w.done:
		return w.err
	default:
		return nil
	}
}

// Refused is what to tell who made a request that the server refused, with what a person
// types; empty if a login would change nothing.
func (l *Login) Refused(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		r, err := l.here()
		switch {
		case err != nil:
			return fmt.Sprintf("The login to %s cannot be read (%s): a person types: %s", shown(l.url), printable(err.Error()), Command(l.url))
		case r == nil:
			return fmt.Sprintf("Not logged in to %s, which wants to know who asks: a person types: %s", shown(l.url), Command(l.url))
		case r.Ended != "":
			return fmt.Sprintf("Not logged in to %s any more (%s): a person types: %s", shown(l.url), r.Ended, Command(l.url))
		}
		if err := l.notRenewed(r); err != nil {
			return "The server did not take the request, and " + err.Error()
		}
		return fmt.Sprintf("Not logged in to %s any more, as it does not take the login that is there: a person types: %s", shown(l.url), Command(l.url))
	case http.StatusForbidden:
		c := challengeIn(resp.Header)
		if c.fault != "insufficient_scope" {
			return ""
		}
		lacks := "more than it has"
		if len(c.scopes) > 0 {
			lacks = "the scope " + strings.Join(c.scopes, " ")
		}
		return fmt.Sprintf("The login to %s does not reach for this, which takes %s: a person types: %s", shown(l.url), lacks, Command(l.url, c.scopes...))
	}
	return ""
}
