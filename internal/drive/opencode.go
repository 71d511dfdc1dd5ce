package drive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/opencode"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/sse"
)

// Opencode drives a server of opencode that was started for us, with our plugin
// and with permissions that ask for everything.
//
// The plugin asks the gate before each call, and hands edits over. What the
// server then asks for by itself is the second wall: of a call that was allowed at
// the plugin it is granted, once; of any other it is put to the gate here. So a
// call runs where both let it, and neither fails open without the other.
type Opencode struct {
	Screen
	Desk     *Desk
	URL      string // of the server
	Password string
	Dir      string // that it was opened in
	// Allowed says that a call was allowed at the plugin, and did not end yet.
	Allowed func(ctx context.Context, session, callID string) (bool, error)

	mu      sync.Mutex // guards what follows
	seen    map[string]bool
	waiting map[string]run    // by question: the call that it is about, in its own session
	roots   map[string]string // by session: the one that it was begun from, in which its calls are asked about
	session string
}

// overlay asks for everything, whatever the configuration says: the rules of a
// session count last. Nobody sits there who could be asked otherwise.
const overlay = `{"permission":[{"permission":"*","pattern":"*","action":"ask"},{"permission":"question","pattern":"*","action":"deny"}]}`

// Session is the one that was made for what the person said; empty before.
func (o *Opencode) Session() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.session
}

// Say says something to the agent and shows what it says when it has ended.
func (o *Opencode) Say(ctx context.Context, text string) error {
	if o.Session() == "" {
		made, err := o.call(ctx, http.MethodPost, "/session", []byte(overlay))
		if err != nil {
			return err
		}
		var s struct {
			ID string `json:"id"`
		}
		if err := jcs.UnmarshalLenient(made, &s); err != nil || s.ID == "" {
			return fmt.Errorf("%w: opencode made a session without an id: %w", sayso.ErrInvalid, err)
		}
		o.mu.Lock()
		o.session = s.ID
		o.mu.Unlock()
	}
	said, err := jcs.Marshal(map[string]any{"parts": []any{map[string]string{"type": "text", "text": text}}})
	if err != nil {
		return err
	}
	answer, err := o.call(ctx, http.MethodPost, "/session/"+url.PathEscape(o.Session())+"/message", said)
	if err != nil {
		return err
	}
	o.raw(answer)
	words, failure, err := opencode.Answer(answer)
	if err == nil && failure != "" {
		err = fmt.Errorf("%w: opencode: %s", sayso.ErrUnavailable, failure)
	}
	if words != "" {
		o.says([]string{words})
	}
	return err
}

// Unasked names what opencode's agents may do without its own question, whatever
// the overlay says: the configuration of the folder says otherwise.
func (o *Opencode) Unasked(ctx context.Context) ([]string, error) {
	text, err := o.call(ctx, http.MethodGet, "/agent", nil)
	if err != nil {
		return nil, err
	}
	var agents []struct {
		Name  string          `json:"name"`
		Rules []opencode.Rule `json:"permission"`
	}
	if err := jcs.UnmarshalLenient(text, &agents); err != nil {
		return nil, err
	}
	var all []string
	for _, a := range agents {
		all = append(all, opencode.Unasked(a.Rules)...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// again is how long it takes until a stream that broke is opened again.
const again = 200 * time.Millisecond

// Follow answers what the server asks for until ctx ends. following is called
// each time that nothing can be missed any more. A stream that breaks is opened
// again, and what waits is listed then: it may have been asked meanwhile.
func (o *Opencode) Follow(ctx context.Context, following func()) error {
	for {
		err := o.follow(ctx, following)
		if ctx.Err() != nil {
			return nil
		}
		o.note("opencode's events broke off (" + err.Error() + "); they are followed again")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(again):
		}
	}
}

func (o *Opencode) follow(ctx context.Context, following func()) error {
	res, err := o.do(ctx, http.MethodGet, "/event", nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was read as far as it goes
	events := sse.NewReader(res.Body, maxLine)
	if _, err := events.Next(); err != nil { // the server says that we are connected
		return err
	}
	if err := o.list(ctx); err != nil {
		return err
	}
	following()
	for {
		e, err := events.Next()
		if err != nil {
			return err
		}
		o.raw(e.Data)
		o.event(ctx, e.Data)
	}
}

// list takes up what waits.
func (o *Opencode) list(ctx context.Context) error {
	text, err := o.call(ctx, http.MethodGet, "/permission", nil)
	if err != nil {
		return err
	}
	var open []sayso.Args
	if err := jcs.UnmarshalLenient(text, &open); err != nil {
		return err
	}
	for _, p := range open {
		o.asked(ctx, p)
	}
	return nil
}

func (o *Opencode) event(ctx context.Context, text []byte) {
	e, err := opencode.ParseTold(text)
	if err != nil {
		o.note("opencode said what cannot be read: " + err.Error())
		return
	}
	switch {
	case e.Asked != nil:
		o.asked(ctx, e.Asked)
	case e.Replied != "":
		if o.Desk.Withdraw(e.Replied, "answered at opencode: "+e.Reply) {
			o.note("somebody answered at opencode, and not here: " + e.Reply)
		}
	case e.Ended != "":
		o.ended(ctx, e)
	}
}

// ended records how a call ended that was allowed here, and takes back what waits
// for one that is over.
func (o *Opencode) ended(ctx context.Context, e opencode.Told) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Desk.Ended(ctx, o.roots[e.Session], e.Ended, sayso.Outcome{Failed: e.Failed})
	for id, call := range o.waiting {
		if call == (run{e.Session, e.Ended}) && o.Desk.Withdraw(id, "opencode ended the call") {
			delete(o.waiting, id)
		}
	}
}

// asked answers a permission, each once. One that cannot be read waits for ever,
// and so does its call.
func (o *Opencode) asked(ctx context.Context, text []byte) {
	p, err := opencode.ParsePermission(text)
	if err != nil {
		o.note("opencode asks for what cannot be read, and gets no answer: " + err.Error())
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen, o.waiting, o.roots = map[string]bool{}, map[string]run{}, map[string]string{}
	}
	if o.seen[p.ID] {
		return
	}
	o.seen[p.ID] = true
	go o.judge(ctx, p) // ends with its answer, or with ctx
}

func (o *Opencode) judge(ctx context.Context, p opencode.Permission) {
	c, err := o.about(ctx, p)
	if err == nil {
		var allowed bool
		if allowed, err = o.Allowed(ctx, c.Session, c.CallID); allowed && err == nil {
			err = o.reply(ctx, p, sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}, nil)
			if err != nil && ctx.Err() == nil {
				o.note("opencode was not told that a call may run: " + err.Error())
			}
			return
		}
	}
	if err != nil {
		if err := o.reply(ctx, p, sayso.Decision{}, o.Desk.o.Plain(err)); err != nil && ctx.Err() == nil {
			o.note("opencode was not told that a call may not run, and waits: " + err.Error())
		}
		return
	}
	o.mu.Lock()
	o.waiting[p.ID], o.roots[p.Session] = run{p.Session, c.CallID}, c.Session
	o.mu.Unlock()
	o.Desk.Ask(ctx, Question{
		Key: p.ID, Call: c,
		Present: func(f sayso.Facts) *sayso.Presentation {
			shown := opencode.Present(c, f, facts.Content)
			return &shown
		},
		Answer: func(d sayso.Decision, err error) error { return o.reply(ctx, p, d, err) },
	})
}

// about is the call that a permission is a part of.
func (o *Opencode) about(ctx context.Context, p opencode.Permission) (c sayso.Call, err error) {
	at := opencode.At{Directory: o.Dir, Root: p.Session}
	for id := p.Session; id != ""; {
		text, err := o.call(ctx, http.MethodGet, "/session/"+url.PathEscape(id), nil)
		if err != nil {
			return c, err
		}
		var s struct {
			ID     string `json:"id"`
			Parent string `json:"parentID"`
			Agent  string `json:"agent"`
		}
		if err := jcs.UnmarshalLenient(text, &s); err != nil || s.ID != id {
			return c, fmt.Errorf("%w: the session of a permission: %w", sayso.ErrInvalid, err)
		}
		if id == p.Session {
			at.Agent = s.Agent
		}
		at.Root, id = s.ID, s.Parent
	}
	var message []byte
	if p.Tool != nil {
		var own []string
		if at.Servers, own, err = o.tools(ctx); err != nil {
			return c, err
		}
		at.Registered = func(tool string) bool { return slices.Contains(own, tool) }
		path := "/session/" + url.PathEscape(p.Session) + "/message/" + url.PathEscape(p.Tool.Message)
		if message, err = o.call(ctx, http.MethodGet, path, nil); err != nil {
			return c, err
		}
	}
	return p.Call(message, at)
}

// tools are the MCP servers that are connected, and the tools that are of none.
func (o *Opencode) tools(ctx context.Context) (servers, own []string, err error) {
	text, err := o.call(ctx, http.MethodGet, "/mcp", nil)
	if err != nil {
		return nil, nil, err
	}
	var states map[string]struct {
		Status string `json:"status"`
	}
	if err := jcs.UnmarshalLenient(text, &states); err != nil {
		return nil, nil, err
	}
	for name, s := range states {
		if s.Status == "connected" {
			servers = append(servers, name)
		}
	}
	if text, err = o.call(ctx, http.MethodGet, "/experimental/tool/ids", nil); err != nil {
		return nil, nil, err
	}
	return servers, own, jcs.UnmarshalLenient(text, &own)
}

// reply answers a permission. Where somebody else was first, theirs stands.
func (o *Opencode) reply(ctx context.Context, p opencode.Permission, d sayso.Decision, err error) error {
	o.mu.Lock()
	delete(o.waiting, p.ID)
	o.mu.Unlock()
	_, err = o.call(ctx, http.MethodPost, "/permission/"+url.PathEscape(p.ID)+"/reply", opencode.PermissionReply(d, err))
	var status statusError
	if errors.As(err, &status) && status.code == http.StatusNotFound {
		o.note("somebody answered at opencode before the gate did")
		return nil
	}
	return err
}

// statusError is an answer of the server that is none.
type statusError struct {
	code int
	text string
}

func (e statusError) Error() string { return fmt.Sprintf("opencode answers %d: %s", e.code, e.text) }

// call asks the server something and returns its answer.
func (o *Opencode) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	res, err := o.do(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was read
	text, err := io.ReadAll(io.LimitReader(res.Body, maxLine))
	if err != nil {
		return nil, fmt.Errorf("opencode: %s: %w", path, err)
	}
	return text, nil
}

func (o *Opencode) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, o.URL+path+"?directory="+url.QueryEscape(o.Dir), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth("opencode", o.Password)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 500)) // what it says is for people alone
		_ = res.Body.Close()
		return nil, statusError{res.StatusCode, string(text)}
	}
	return res, nil
}
