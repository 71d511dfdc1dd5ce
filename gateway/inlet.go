package gateway

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/sayso-dev/sayso/internal/lines"
)

// Remote is a server that speaks HTTP, as a client on standard input and output would
// start a program.
type Remote struct {
	URL    string
	Header http.Header // goes with each request to it, and nowhere else
	// Plain has a server on another machine be spoken with over plain HTTP, along
	// which everybody on the way reads.
	Plain bool
	// Roots are who may vouch for the server; nil for those of the system.
	Roots *x509.CertPool
	// Signals that would end a program end the conversation; nil for none.
	Signals <-chan os.Signal
}

// draining is how long what the server has to answer is waited for when the client
// has closed its end.
var draining = 30 * time.Second // less in tests

// Serve relays between the client, whose ends are in and out, and the server, until
// the client has closed its end or a signal comes.
func (u Remote) Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) (End, error) {
	d, err := u.inlet(ctx, o, out)
	if err != nil {
		return End{}, err
	}
	relay := d.talk.between(d.out, d)
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = relay.FromClient(d.ctx, in) // whatever ended it, nothing more comes
		d.drain()
	}()
	var end End
	for waits := true; waits; {
		select {
		case <-left:
			waits = false
		case <-d.ctx.Done():
			waits = false
		case sig := <-u.Signals:
			if s, ok := sig.(syscall.Signal); ok && slices.Contains(ending, s) {
				end, waits = End{Status: 128 + int(s), Signal: s}, false
			}
		}
	}
	d.end()
	_ = relay.Close(ctx) // what it could not record is found by its lease
	return end, d.out.wrong()
}

// ending are the signals that end a program that knows none of them.
var ending = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT}

// inlet is the one client of a [Remote]. It is the outlet to the server, and the
// party for whom that is talked to.
type inlet struct {
	up   *upstream
	talk *conversation
	out  *mouth
	ctx  context.Context
	done context.CancelFunc
	work sync.WaitGroup
	slow chan struct{} // taken by what nobody waits for, as long as the server has not taken it

	session *remote // what belongs to the session that the client began
	alone   *remote // requests that stand alone

	mu     sync.Mutex       // guards what follows
	open   map[string]*sent // requests that the server has, by the keys of their ids
	size   int              // bytes of them
	hello  []byte           // with what the client began its session
	spoken string           // the version that it got
	began  bool             // it said so
	tongue int              // messages that are on their way to the client
	away   bool             // it could not be reached the last time
	full   bool             // it took nothing that nobody waits for, the last time
	proven bool             // a request was taken in the session
	closed bool
	empty  chan struct{} // closed when nothing is open any more; nil while that is no matter

	renewing sync.Mutex // held while a session is begun anew
}

// sent is a request that the server has.
type sent struct {
	alone bool
	lasts bool // it is answered when it ends, and not before
	call  bool // whether it is answered is known to who holds calls
	size  int
}

// inlet opens the way to the server. Nothing is sent yet.
func (u Remote) inlet(ctx context.Context, o Options, out io.Writer) (*inlet, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := checkURL(u.URL, u.Plain); err != nil {
		return nil, err
	}
	identity, err := identify(u.URL, nil) // its key may change: the system knows who may vouch for it
	if err != nil {
		return nil, err
	}
	up := &upstream{Upstream: Upstream{Options: o, URL: u.URL, Header: u.Header, Roots: u.Roots}, known: newKnown()}
	up.own, up.client = up.ours(), up.dials(nil)
	if err := up.known.expect(ctx, o, identity); err != nil {
		return nil, err
	}
	d := &inlet{
		up: up, talk: o.converse(up.known), slow: make(chan struct{}, 64), open: map[string]*sent{},
		session: &remote{up: up, stops: map[string]context.CancelFunc{}}, alone: &remote{up: up, stops: map[string]context.CancelFunc{}},
	}
	d.talk.faults = up.faultless
	d.ctx, d.done = context.WithCancel(context.WithoutCancel(ctx))
	d.out = &mouth{d: d, to: &tap{w: out}}
	d.out.sink = lines.NewSink(d.out.to)
	return d, nil
}

func (d *inlet) life() context.Context { return d.ctx }

func (d *inlet) runs(do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.work.Go(do)
	}
}

func (d *inlet) says(w *remoteWay) *Relay {
	r := d.talk.between(d.out, d)
	r.apart = w.alone
	return r
}

// awaits reports whether a request is not answered yet.
func (d *inlet) awaits(m *message) bool {
	call, here := d.talk.awaits(m)
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.open[m.key()]
	return !here && (call || s != nil && !s.call)
}

// wants reports whether a request is not answered yet: what is cancelled is forgotten.
func (d *inlet) wants(m *message) bool { return d.awaits(m) }

// turned does nothing: pipes stay open.
func (d *inlet) turned(*message, time.Duration) {}

// reached tells a person when the server is not there, once each time.
func (d *inlet) reached(w *remoteWay, resp *http.Response, err error) {
	if d.ctx.Err() != nil {
		return // it is not wanted any more
	}
	d.up.heard(d.ctx, resp, err)
	d.mu.Lock()
	before := d.away
	d.away = err != nil && !errors.Is(err, context.Canceled)
	news := d.away && !before
	d.proven = d.proven || !w.alone && err == nil && resp.StatusCode/100 == 2
	d.mu.Unlock()
	if news {
		d.up.Options.Note(d.up.Name + " cannot be reached (" + d.up.plain(err) + "): does it run, and is its address right? Calls fail until it is there")
	}
}

// refused tells a person what the client cannot do about it.
func (d *inlet) refused(w *remoteWay, resp *http.Response) {
	switch status := resp.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		d.up.Options.Note(fmt.Sprintf("%s refuses with the status %d of HTTP: it wants to know who asks. If it gave you a token, type: --header 'Authorization=Bearer env:VARIABLE'; "+
			"if you log in to it in the client, it cannot go through sayso mcp", d.up.Name, status))
	case status == http.StatusMethodNotAllowed && !w.alone:
		d.up.Options.Note(d.up.Name + " takes no messages there (status 405 of HTTP): is the address right, and is it one for streamable HTTP?")
	}
}

// Pieces takes nothing: only answers of servers are long.
func (d *inlet) Pieces(*outline, func(io.Writer) error) error { return errUnjudged }

// Send sends one message of the client. What becomes of it there, the client hears
// by itself: an error ends no conversation over HTTP.
func (d *inlet) Send(text []byte) error {
	m, err := readMessage(text)
	if err != nil {
		return nil // nothing of that kind comes here
	}
	if !m.request() {
		d.tells(&m)
		return nil
	}
	w := d.way(&m)
	if m.method == beginMethod && !w.alone {
		d.begins(&m)
	}
	if !d.takes(&m, w.alone) {
		_ = d.says(w).fromServer(d.ctx, failure(m.id, codeInternal, "Refused: too many requests are not answered yet, or too long ones. Nothing ran."))
		return nil
	}
	w.asks(&m)
	return nil
}

// way is the way that a message takes: with the session, unless it says that it
// stands alone.
func (d *inlet) way(m *message) *remoteWay {
	o, err := readOutside(m)
	if err == nil && o.version >= statelessSince && visible(o.version) {
		return &remoteWay{remote: d.alone, by: d, alone: true, version: o.version}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return &remoteWay{remote: d.session, by: d, version: d.spoken}
}

// takes makes room for a request.
func (d *inlet) takes(m *message, alone bool) bool {
	d.talk.mu.Lock()
	call := d.talk.calls[m.key()] != nil
	d.talk.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) >= maxUnanswered || len(d.open) > 0 && d.size+len(m.line) > maxAsked {
		return false
	}
	if d.open[m.key()] == nil {
		d.size += len(m.line)
		d.open[m.key()] = &sent{alone: alone, lasts: m.method == listenMethod, call: call, size: len(m.line)}
	}
	return true
}

const listenMethod = "subscriptions/listen"

// answered forgets a request that is answered, or needs no answer.
func (d *inlet) answered(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.open[key]; s != nil {
		delete(d.open, key)
		d.size -= s.size
	}
	d.drained()
}

// telling counts what is on its way to the client.
func (d *inlet) telling(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tongue += n
	d.drained()
}

// drained tells who waits for it that all is answered that can be. The mutex is
// held.
func (d *inlet) drained() {
	if d.empty == nil || d.tongue > 0 {
		return
	}
	for _, s := range d.open {
		if !s.lasts {
			return
		}
	}
	close(d.empty)
	d.empty = nil
}

// drain waits until the server has answered what it was asked.
func (d *inlet) drain() {
	empty := make(chan struct{})
	d.mu.Lock()
	d.empty = empty
	d.drained()
	d.mu.Unlock()
	late := time.NewTimer(draining)
	defer late.Stop()
	select {
	case <-empty:
	case <-d.ctx.Done():
	case <-late.C:
	}
}

// tells sends a message that nothing answers. Only what begins a session is waited
// for, as the server takes nothing before it.
func (d *inlet) tells(m *message) {
	w := d.way(m)
	switch m.method {
	case begunMethod:
		d.mu.Lock()
		d.began = true
		d.mu.Unlock()
		ctx, cancel := context.WithTimeout(d.ctx, slowest)
		defer cancel()
		d.told(w.tell(ctx, m))
		return
	case cancelledMethod:
		if d.cancels(m, w) {
			return
		}
	}
	if !d.room() {
		return
	}
	d.runs(func() {
		defer func() { <-d.slow }()
		ctx, cancel := context.WithTimeout(d.ctx, slowest)
		defer cancel()
		d.told(w.tell(ctx, m))
	})
}

// room makes room for a message that nobody waits for. A server that takes none of
// them is waited for once, and not long: what else the client says is not kept by it,
// and the message is lost.
func (d *inlet) room() bool {
	select {
	case d.slow <- struct{}{}:
		d.fills(false)
		return true
	default:
	}
	d.mu.Lock()
	full := d.full
	d.mu.Unlock()
	if full {
		return false
	}
	late := time.NewTimer(pause)
	defer late.Stop()
	select {
	case d.slow <- struct{}{}:
		return true
	case <-d.ctx.Done():
	case <-late.C:
		if d.fills(true) {
			d.up.Options.Note(d.up.Name + " does not take the messages that nothing answers, as about progress: until it does, they are lost")
		}
	}
	return false
}

// fills takes down whether there is no room, and reports whether that is news.
func (d *inlet) fills(full bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	news := d.full != full
	d.full = full
	return news
}

// told notes that a message was lost.
func (d *inlet) told(err error) {
	if err != nil && d.ctx.Err() == nil {
		d.up.Options.Note("a message to " + d.up.Name + " was lost: " + d.up.plain(err))
	}
}

// cancels takes back a request that the server has, and reports whether that is all:
// one that stands alone is taken back by closing its stream. In a session the server
// is told as well.
func (d *inlet) cancels(m *message, w *remoteWay) bool {
	id, err := unwanted(*m)
	if err != nil {
		return false
	}
	key := (&message{id: id}).key()
	d.mu.Lock()
	s := d.open[key]
	stateless := s != nil && s.alone || s == nil && d.hello == nil
	d.mu.Unlock()
	d.answered(key) // it need not be
	if stateless {
		(&remoteWay{remote: d.alone}).cancel(m)
		return true
	}
	w.cancel(m) // first: the server may be slow to hear of it
	return false
}

// end ends what is open, and the session at the server.
func (d *inlet) end() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.done()
	d.session.end()
	d.work.Wait()
	d.up.client.CloseIdleConnections()
}

// errMouth is a client that was sent half a message: whatever comes behind it would
// be read as a part of it.
var errMouth = errors.New("an answer of the server broke off in the middle, and what the client has of it cannot be taken back")

// mouth is the outlet to the client.
type mouth struct {
	d    *inlet
	sink *lines.Sink
	to   *tap
}

// Send sends one message.
func (c *mouth) Send(text []byte) error {
	if m, err := readMessage(text); err == nil && m.response() {
		c.d.greets(&m)
		c.d.answered(m.key()) // before the client has it, and uses the id again
	}
	c.d.telling(1)
	defer c.d.telling(-1)
	return c.failed(c.sink.Send(text))
}

// Pieces sends one answer as it comes.
func (c *mouth) Pieces(o *outline, copy func(io.Writer) error) error {
	c.d.telling(1)
	defer c.d.telling(-1)
	err := c.sink.Pieces(func(io.Writer) error {
		c.to.wrote = false
		err := copy(c.to)
		if err != nil && c.to.wrote {
			c.to.wrong = fmt.Errorf("%w: %w", errMouth, err)
		}
		return err
	})
	if c.wrong() != nil {
		c.d.done()
	}
	if id := o.answers(); id != nil {
		c.d.answered((&message{id: id}).key())
	}
	return err
}

// failed ends the conversation where the client takes nothing any more.
func (c *mouth) failed(err error) error {
	if err != nil {
		c.d.done()
	}
	return err
}

// wrong is why the client can be told nothing more, if that is not its own doing.
func (c *mouth) wrong() (err error) {
	_ = c.sink.Pieces(func(io.Writer) error { err = c.to.wrong; return nil })
	return err
}

// tap writes until something went wrong in the middle of a message. The sink in
// front of it has one write at a time.
type tap struct {
	w     io.Writer
	wrote bool
	wrong error
}

func (t *tap) Write(p []byte) (int, error) {
	if t.wrong != nil {
		return 0, t.wrong
	}
	t.wrote = t.wrote || len(p) > 0
	return t.w.Write(p)
}
