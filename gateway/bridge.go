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
	// Login has requests to the server go with what a person logged in with; nil if
	// that is not to be.
	Login Login
	// Roots are who may vouch for the server; nil for those of the system.
	Roots *x509.CertPool
	// Signals that would end a program end the conversation; nil for none.
	Signals <-chan os.Signal
}

// drainTimeout is how long what the server has to answer is waited for when the client
// has closed its end.
var drainTimeout = 30 * time.Second // less in tests

// Serve relays between the client, whose ends are in and out, and the server, until
// the client has closed its end or a signal comes.
func (u Remote) Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) (End, error) {
	b, err := u.newBridge(ctx, o, out)
	if err != nil {
		return End{}, err
	}
	relay := b.conv.newRelay(b.out, b)
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = relay.FromClient(b.ctx, in) // whatever ended it, nothing more comes
		b.drain()
	}()
	var end End
	for waits := true; waits; {
		select {
		case <-left:
			waits = false
		case <-b.ctx.Done():
			waits = false
		case sig := <-u.Signals:
			if s, ok := sig.(syscall.Signal); ok && slices.Contains(endSignals, s) {
				end, waits = End{Status: 128 + int(s), Signal: s}, false
			}
		}
	}
	b.close()
	_ = relay.Close(ctx) // what it could not record is found by its lease
	return end, b.out.brokenBy()
}

// endSignals are the signals that end a program that knows none of them.
var endSignals = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT}

// bridge is the one client of a [Remote]. It is the sender to the server, and the
// requester for which the server is called.
type bridge struct {
	up          *upstream
	conv        *conversation
	out         *clientWriter
	ctx         context.Context
	cancel      context.CancelFunc
	wg          sync.WaitGroup
	notifySlots chan struct{} // taken by what nobody waits for, as long as the server has not taken it

	session   *httpTransport // what belongs to the session that the client began
	stateless *httpTransport // stateless requests

	mu          sync.Mutex              // guards what follows
	open        map[string]*openRequest // requests that the server has, by the keys of their ids
	openBytes   int                     // bytes of them
	initialize  []byte                  // with what the client began its session
	version     string                  // the version that it got
	initialized bool                    // it said so
	sending     int                     // messages that are on their way to the client
	unreachable bool                    // it could not be reached the last time
	backlogged  bool                    // it took nothing that nobody waits for, the last time
	losing      bool                    // it did not take the last notification that it was sent
	proven      bool                    // a request was taken in the session
	closed      bool
	drained     chan struct{} // closed when nothing is open any more; nil while that is no matter

	reinitializing sync.Mutex // held while a session is begun anew
}

// openRequest is a request that the server has.
type openRequest struct {
	stateless bool
	longLived bool // it is answered when it ends, and not before
	call      bool // whether it is answered is known to who holds calls
	size      int
}

// newBridge opens the way to the server. Nothing is sent yet.
func (u Remote) newBridge(ctx context.Context, o Options, out io.Writer) (*bridge, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	if err := checkURL(u.URL, u.Plain); err != nil {
		return nil, err
	}
	identity, err := identify(u.URL, nil) // its key may change: the system knows who may vouch for it
	if err != nil {
		return nil, err
	}
	up := &upstream{Upstream: Upstream{Options: o, URL: u.URL, Header: u.Header, Login: u.Login, Roots: u.Roots}, trust: newServerTrust()}
	up.secrets, up.client = up.secretsOf(), up.newClient(nil)
	if err := up.trust.expectIdentity(ctx, o, identity); err != nil {
		return nil, err
	}
	b := &bridge{
		up: up, conv: o.newConversation(up.trust), notifySlots: make(chan struct{}, 64), open: map[string]*openRequest{},
		session: &httpTransport{up: up, cancels: map[string]*context.CancelFunc{}}, stateless: &httpTransport{up: up, cancels: map[string]*context.CancelFunc{}},
	}
	b.conv.redactError = up.redactError
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	b.out = &clientWriter{bridge: b, w: &stickyWriter{w: out}}
	b.out.sink = lines.NewSink(b.out.w)
	return b, nil
}

func (b *bridge) baseContext() context.Context { return b.ctx }

func (b *bridge) spawn(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.wg.Go(do)
	}
}

func (b *bridge) relayFor(w *httpSender) *Relay {
	r := b.conv.newRelay(b.out, b)
	r.stateless = w.stateless
	return r
}

// watch looks after a request that is sent now.
func (b *bridge) watch(m *message) (isOpen func() bool) {
	call, _ := b.conv.callState(m)
	b.mu.Lock()
	defer b.mu.Unlock()
	sent := b.open[m.key()]
	return func() bool {
		now, here := b.conv.callState(m)
		b.mu.Lock()
		defer b.mu.Unlock()
		return !here && (call != nil && now == call || sent != nil && b.open[m.key()] == sent && !sent.call)
	}
}

// isWanted reports whether a request is not answered yet: what is cancelled is forgotten.
func (b *bridge) isWanted(m *sentRequest) bool { return m.isOpen() }

// handleStreamClosed does nothing: pipes stay open.
func (b *bridge) handleStreamClosed(*message, time.Duration) {}

// handleResponse tells a person when the server is not there, once each time.
func (b *bridge) handleResponse(w *httpSender, resp *http.Response, err error) {
	if b.ctx.Err() != nil {
		return // it is not wanted any more
	}
	if isUnsent(err) {
		b.up.Options.Note(b.up.errorText(err))
		return
	}
	b.up.recordAnswered(b.ctx, resp, err)
	b.mu.Lock()
	before := b.unreachable
	b.unreachable = err != nil && !errors.Is(err, context.Canceled)
	news := b.unreachable && !before
	b.proven = b.proven || !w.stateless && err == nil && resp.StatusCode/100 == 2
	b.mu.Unlock()
	if news {
		b.up.Options.Note(b.up.Name + " cannot be reached (" + b.up.errorText(err) + "): does it run, and is its address right? Calls fail until it is there")
	}
}

// handleRejected tells a person what the client cannot do about it.
func (b *bridge) handleRejected(w *httpSender, resp *http.Response) {
	switch status := resp.StatusCode; {
	case b.up.loginText(resp) != "":
		said := b.up.loginText(resp)
		if status == http.StatusUnauthorized {
			said += "; if it gave you a token, give that in the place of a login: --header 'Authorization=Bearer env:VARIABLE'"
		}
		b.up.Options.Note(said)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		b.up.Options.Note(fmt.Sprintf("%s refuses with the status %d of HTTP: it wants to know who asks. If it gave you a token, type: --header 'Authorization=Bearer env:VARIABLE'; "+
			"if people log in to it, type: sayso mcp login URL", b.up.Name, status))
	case (status == http.StatusMethodNotAllowed || status == http.StatusNotFound && !b.isProven()) && !w.stateless:
		b.up.Options.Note(fmt.Sprintf("%s takes no messages there (status %d of HTTP): is the path of its address right? Often it is /mcp or /sse", b.up.Name, status))
	}
}

// isProven reports whether the server took a request in the session.
func (b *bridge) isProven() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proven
}

// Pieces takes nothing: only answers of servers are long.
func (b *bridge) Pieces(*outline, func(io.Writer) error) error { return errTooLong }

// Send sends one message of the client. What becomes of it there, the client hears
// by itself: an error ends no conversation over HTTP.
func (b *bridge) Send(text []byte) error {
	m, err := readMessage(text)
	if err != nil {
		return nil // nothing of that kind comes here
	}
	if !m.isRequest() {
		b.sendNotification(&m)
		return nil
	}
	w := b.senderFor(&m)
	if m.method == initializeMethod && !w.stateless {
		b.handleInitialize(&m)
	}
	if !b.addOpen(&m, w.stateless) {
		_ = b.relayFor(w).fromServer(b.ctx, errorResponse(m.id, codeInternal, "Refused: too many requests are not answered yet, or too long ones. Nothing ran."))
		return nil
	}
	w.sendRequest(&m)
	return nil
}

// senderFor is the way that a message takes: with the session, unless it says that it
// is stateless.
func (b *bridge) senderFor(m *message) *httpSender {
	o, err := readRequestMeta(m)
	if err == nil && o.version >= statelessSince && visible(o.version) {
		return &httpSender{httpTransport: b.stateless, requester: b, stateless: true, version: o.version}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return &httpSender{httpTransport: b.session, requester: b, version: b.version}
}

// addOpen makes room for a request.
func (b *bridge) addOpen(m *message, alone bool) bool {
	b.conv.mu.Lock()
	call := b.conv.calls[m.key()] != nil
	b.conv.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.open) >= maxOpen || len(b.open) > 0 && b.openBytes+len(m.line) > maxOpenBytes {
		return false
	}
	if b.open[m.key()] == nil {
		b.openBytes += len(m.line)
		b.open[m.key()] = &openRequest{stateless: alone, longLived: m.method == listenMethod, call: call, size: len(m.line)}
	}
	return true
}

const listenMethod = "subscriptions/listen"

// removeOpen forgets a request that is answered, or needs no answer.
func (b *bridge) removeOpen(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.open[key]; s != nil {
		delete(b.open, key)
		b.openBytes -= s.size
	}
	b.checkDrained()
}

// addSending counts what is on its way to the client.
func (b *bridge) addSending(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sending += n
	b.checkDrained()
}

// checkDrained tells who waits for it that all is answered that can be. The mutex is
// held.
func (b *bridge) checkDrained() {
	if b.drained == nil || b.sending > 0 {
		return
	}
	for _, s := range b.open {
		if !s.longLived {
			return
		}
	}
	close(b.drained)
	b.drained = nil
}

// drain waits until the server has answered what it was asked.
func (b *bridge) drain() {
	empty := make(chan struct{})
	b.mu.Lock()
	b.drained = empty
	b.checkDrained()
	b.mu.Unlock()
	late := time.NewTimer(drainTimeout)
	defer late.Stop()
	select {
	case <-empty:
	case <-b.ctx.Done():
	case <-late.C:
	}
}

// initializedDelays is how many retry delays a server has to take what begins a session.
const initializedDelays = 5

// sendNotification sends a message that nothing answers. Only what begins a session is waited
// for, as a server may take nothing before it; but not long, as one may never say so.
func (b *bridge) sendNotification(m *message) {
	w := b.senderFor(m)
	switch m.method {
	case initializedMethod:
		b.mu.Lock()
		b.initialized = true
		b.mu.Unlock()
		taken, done := context.WithTimeout(b.ctx, initializedDelays*retryDelay)
		b.spawn(func() {
			defer done()
			b.deliver(m, w)
		})
		<-taken.Done()
		return
	case cancelledMethod:
		if b.cancelRequest(m, w) {
			return
		}
	}
	if !b.acquireSlot() {
		return
	}
	b.spawn(func() {
		defer func() { <-b.notifySlots }()
		b.deliver(m, w)
	})
}

// deliver sends a notification, and gives it up where the server does not take it.
func (b *bridge) deliver(m *message, w *httpSender) {
	ctx, cancel := context.WithTimeout(b.ctx, ioTimeout)
	defer cancel()
	b.noteLost(w.sendNotification(ctx, m))
}

// acquireSlot makes room for a message that nobody waits for. A server that takes none of
// them is waited for once, and not long: what else the client says is not kept by it,
// and the message is lost.
func (b *bridge) acquireSlot() bool {
	select {
	case b.notifySlots <- struct{}{}:
		b.setBacklogged(false)
		return true
	default:
	}
	b.mu.Lock()
	full := b.backlogged
	b.mu.Unlock()
	if full {
		return false
	}
	late := time.NewTimer(retryDelay)
	defer late.Stop()
	select {
	case b.notifySlots <- struct{}{}:
		return true
	case <-b.ctx.Done():
	case <-late.C:
		if b.setBacklogged(true) {
			b.up.Options.Note(b.up.Name + " does not take the messages that nothing answers, as about progress: until it does, they are lost")
		}
	}
	return false
}

// setBacklogged takes down whether there is no room, and reports whether that is news.
func (b *bridge) setBacklogged(full bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := b.backlogged != full
	b.backlogged = full
	return news
}

// noteLost notes that a message was lost: the first of those that are, one after the other.
func (b *bridge) noteLost(err error) {
	if err != nil && b.ctx.Err() != nil {
		return // it is not wanted any more
	}
	b.mu.Lock()
	news := err != nil && !b.losing
	b.losing = err != nil
	b.mu.Unlock()
	if news {
		b.up.Options.Note("a message to " + b.up.Name + " was lost (" + b.up.errorText(err) + "); of others nothing is said until it takes one")
	}
}

// cancelRequest takes back a request that the server has, and reports whether that is all:
// a stateless one is taken back by closing its stream. In a session the server
// is told as well.
func (b *bridge) cancelRequest(m *message, w *httpSender) bool {
	id, err := cancelledID(*m)
	if err != nil {
		return false
	}
	key := (&message{id: id}).key()
	b.mu.Lock()
	s := b.open[key]
	stateless := s != nil && s.stateless || s == nil && b.initialize == nil
	b.mu.Unlock()
	b.removeOpen(key) // it need not be
	if stateless {
		(&httpSender{httpTransport: b.stateless}).cancelRequest(m)
		return true
	}
	w.cancelRequest(m) // first: the server may be slow to hear of it
	return false
}

// close ends what is open, and the session at the server.
func (b *bridge) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	b.session.close()
	b.wg.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	b.up.closeClient(ctx)
}
