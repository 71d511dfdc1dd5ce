package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/lines"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// Options say what a relay works with. Gate, Pins, Name and Session are
// required.
type Options struct {
	Gate sayso.Gate
	Pins Pins
	// Actor is who asks.
	Actor sayso.Actor
	// Name is the server's name, under which policies and pins know it.
	Name string
	// Client is whose token the client presented; empty if it presented none.
	Client string
	// Identity is what the server is: its command line and its program. Nil pins
	// none.
	Identity sayso.Args
	// Session is the session of all calls.
	Session string
	// Facts say where calls run.
	Facts facts.Options
	// Cwd is the directory that calls run in.
	Cwd string
	// Wanted says which folders the policy in force names; nil for none.
	Wanted func() sayso.FactsWanted
	// Off reports whether the gate was switched off, so that calls pass unasked;
	// nil for never.
	Off func() bool
	// Patience is how long a call with a progress token waits for people, and
	// Impatience how long one without: then it is answered that nothing is decided
	// yet, and may be made again. 50 minutes and 50 seconds by default.
	Patience, Impatience time.Duration
	// Calls know what tasks of an earlier process were about; nil for nobody.
	Calls Calls
	// Elicits puts questions to the person at the client; nil for never.
	Elicits sayso.Elicits
	// Note is told what a person should know, in a line; nil for nobody.
	Note func(string)
	// Plain makes the text of an error fit for an agent; nil leaves it.
	Plain func(error) error
}

const (
	patience   = 50 * time.Minute
	impatience = 50 * time.Second // clients that know no progress wait a minute
	heartbeat  = 15 * time.Second
	// grace is how long calls that need no person have left when the client has
	// closed its end.
	grace = 500 * time.Millisecond
)

// maxMessage is the largest message that is looked at whole. A longer one of the
// client is refused; one of the server passes in pieces, see [outline].
var maxMessage = 16 << 20 // less in tests

// Relay stands between one client and one server.
type Relay struct {
	*conversation
	client     sender // to it
	server     sender
	noProgress bool // the client hears nothing until it is answered
	stateless  bool // what comes this way belongs to stateless requests
	// recheck reports a client that may not ask any more; nil where that cannot happen.
	recheck func() error
}

// sender takes messages for one side, each whole before the next.
type sender interface {
	Send(message []byte) error
	// Pieces takes one answer as it comes. The outline is ahead of what is copied,
	// and says what it answers once that is known.
	Pieces(o *outline, copy func(io.Writer) error) error
}

// lineSender is a sender of which all that reads it reads everything.
type lineSender struct{ *lines.Sink }

func (l lineSender) Pieces(_ *outline, copy func(io.Writer) error) error { return l.Sink.Pieces(copy) }

// conversation is what one client and one server have to do with each other,
// whatever ways their messages take.
type conversation struct {
	o           Options
	trust       *serverTrust          // of the server
	sessionless bool                  // the client can be asked nothing
	redactError func(message) message // what of an answer that is an error the client is told; nil for all

	mu     sync.Mutex // guards what follows
	calls  map[string]*heldCall
	judged map[string]int         // answers of the server that people are asked about, by the keys of their ids
	rounds map[sayso.Digest]round // calls that run and wait for their client, by the server's state
	tasks  map[sayso.ID]*task
	// What is done to the answers to requests of the client, by their ids.
	rewrites    map[string]func(*message) ([]byte, error)
	serverTasks bool                 // the server does, too
	questions   map[string]*question // that were put to the person at the client
	clientForms bool                 // the client shows forms
	clientName  string               // what the client calls itself
	closed      bool                 // nothing more is begun

	ctx    context.Context // ends with the conversation, and with it who waits for tasks
	cancel context.CancelFunc

	callIDPrefix string         // begins the ids of calls whose host gave them none
	callCount    atomic.Uint64  // of those
	holding      sync.WaitGroup // calls that wait
	holds        chan func()    // to the goroutine that has none, see [conversation.startHold]
	idle         atomic.Bool    // there is one
	reporting    sync.WaitGroup // reports, and what the server asks for
	skipped      atomic.Int64   // lines of the server that were no messages
	rejecting    atomic.Int64   // answers of ours that are on their way to the server

	outcomes []sayso.Outcome // that were not reported yet; the mutex guards them
	flush    chan struct{}   // closed when they wait for no others
}

// newConversation begins a conversation with a server of which this is known.
func (o Options) newConversation(k *serverTrust) *conversation {
	life, end := context.WithCancel(context.Background())
	return &conversation{
		o: o, trust: k, ctx: life, cancel: end, tasks: map[sayso.ID]*task{}, rewrites: map[string]func(*message) ([]byte, error){}, questions: map[string]*question{},
		calls: map[string]*heldCall{}, judged: map[string]int{}, rounds: map[sayso.Digest]round{}, flush: make(chan struct{}), holds: make(chan func()), callIDPrefix: "mcp-" + strings.ToLower(rand.Text()[:10]),
	}
}

// newRelay is the relay of one client and one server whose messages take these
// ways. What was said on other ways counts for it, too.
func (c *conversation) newRelay(client, server sender) *Relay {
	return &Relay{conversation: c, client: client, server: server}
}

// New returns a relay that writes to the client and to the server.
func New(o Options, client, server io.Writer) (*Relay, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	return o.newConversation(newServerTrust()).newRelay(lineSender{lines.NewSink(client)}, lineSender{lines.NewSink(server)}), nil
}

// setDefaults puts what is usual where nothing was said.
func (o *Options) setDefaults() error {
	if o.Gate == nil || o.Pins == nil || o.Name == "" || o.Session == "" {
		return rpc.Invalid("a relay needs a gate, pins, a name and a session")
	}
	if o.Patience <= 0 {
		o.Patience = patience
	}
	if o.Impatience <= 0 {
		o.Impatience = impatience
	}
	if o.Wanted == nil {
		o.Wanted = func() sayso.FactsWanted { return sayso.FactsWanted{} }
	}
	if o.Off == nil {
		o.Off = func() bool { return false }
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Plain == nil {
		o.Plain = func(err error) error { return err }
	}
	return nil
}

// Begin compares what the server is with what is trusted under its name.
func (r *Relay) Begin(ctx context.Context) error {
	return r.trust.checkIdentity(ctx, r.o, r.o.Identity)
}

// FromClient relays what the client sends, until it sends no more. What people
// are asked about then stays parked.
func (r *Relay) FromClient(ctx context.Context, from io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := r.readClient(ctx, lines.NewReader(from, maxMessage))
	stop := time.AfterFunc(grace, func() { cancel(); r.cancel() })
	defer stop.Stop()
	r.holding.Wait()
	return err
}

func (r *Relay) readClient(ctx context.Context, in *lines.Reader) error {
	for {
		line, whole, err := in.Next()
		if err != nil {
			return ignoreClosed(err)
		}
		if !whole {
			if err := in.Skip(); err != nil {
				return ignoreClosed(err)
			}
			line, err = nil, r.sendClient(errorResponse(nil, codeInvalidRequest, "Refused: a message may have "+strconv.Itoa(maxMessage)+" bytes. Nothing ran."))
		} else {
			err = r.fromClient(ctx, line)
		}
		if err != nil {
			return err
		}
	}
}

// ignoreClosed is nil where an end of the relay was closed.
func ignoreClosed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

const (
	callMethod        = "tools/call"
	initializeMethod  = "initialize"
	initializedMethod = "notifications/initialized"
	discoverMethod    = "server/discover"
	cancelledMethod   = "notifications/cancelled"
	samplingMethod    = "sampling/createMessage"
)

// fromClient relays one message of the client. An error ends the relay.
func (r *Relay) fromClient(ctx context.Context, line []byte) error {
	m, err := readStrict(line)
	if err == nil && rpc.PosesAs(m.method, []string{callMethod}) {
		err = rpc.Invalid("a method is called nearly like " + callMethod)
	}
	switch {
	case err != nil:
		return r.sendClient(errorResponse(idOf(line), codeInvalidRequest, "Refused: the message could not be read strictly ("+err.Error()+"). Nothing ran."))
	case m.method == callMethod:
		return r.handleCall(ctx, m)
	case m.method == cancelledMethod && r.cancelHeld(m):
		return nil // the server never heard of it
	case m.method == initializeMethod:
		r.handleInitialize(m)
	case m.isResponse() && r.handleElicitResult(ctx, &m):
		return nil // the server asked nothing
	case m.method == discoverMethod:
		r.handleDiscover(m)
	case slices.Contains(taskMethods, m.method):
		if ours, err := r.handleTask(ctx, m); ours {
			return err
		}
	}
	if m.method == cancelledMethod {
		r.forgetForwarded(ctx, m) // before its way ends, which would be told as an answer
	}
	return r.server.Send(line)
}

// idOf is the id of a message that was refused, if it has one that is certain.
func idOf(line []byte) []byte {
	m, err := readMessage(line)
	if err != nil || !m.isRequest() {
		return nil
	}
	return m.id
}

// sendClient sends a message of ours to the client.
func (r *Relay) sendClient(message []byte) error { return r.client.Send(message) }

// background runs do, unless the relay is at its end.
func (r *Relay) background(group *sync.WaitGroup, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		group.Go(do)
	}
}

// Close waits until all that was begun has ended, and ends the session. The
// contexts of FromClient and FromServer must have ended before, or what they
// read.
func (r *Relay) Close(ctx context.Context) error {
	r.cancel()
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	r.mu.Unlock()
	r.holding.Wait()
	if first {
		close(r.flush)
	}
	r.reporting.Wait()
	r.reportAllLost(ctx)
	ctx, cancel := enforce.Late(ctx)
	defer cancel()
	return r.o.Gate.End(ctx, r.o.Session)
}
