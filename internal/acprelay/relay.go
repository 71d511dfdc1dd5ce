// Package acprelay stands between an editor and an agent that speak the Agent Client
// Protocol, and answers the agent's questions for permission from the gate.
//
// Every line is passed on as it came, both ways and in its order, but for four kinds:
// a request for permission is judged, asked about in the one inbox and answered
// here, so that the editor does not see it unless it is to be asked as well; what the
// agent has the editor do (write a file, read one, run a command) is judged too, and
// passed on when it was allowed and that is on the record, or refused here; an answer to
// what the editor was never shown is left out; and so is what is no message of the
// protocol. The rest is only listened to: which folder a session works in, what the
// agent tells of its calls, when a turn is cancelled, how a command ended.
//
// What the messages mean is in package agent/acp; who asks the gate is package drive.
//
// The agent decides what it asks, and what it does by itself and not through the editor
// is not seen. Whoever needs a wall has the agent's own hook, or a gateway before its
// tools.
package acprelay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/acp"
	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/lines"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// maxMessage is the longest message that is passed on. It is held whole, as a request
// for permission may stand anywhere in it.
var maxMessage = 256 << 20 // less in tests

// Options say what a relay works with. Gate is required.
type Options struct {
	Gate sayso.Gate
	// Inbox is where the requests of the gate's principal are found; nil for nowhere.
	Inbox sayso.Inbox
	// Name is the agent's name in calls; empty for what it calls itself.
	Name string
	// Workspace is the root of the project in every session; empty for the folder that
	// the editor names when it begins one.
	Workspace string
	// Facts say where calls run.
	Facts facts.Options
	// Wanted says which folders the policy in force names; nil for none.
	Wanted func() sayso.FactsWanted
	// Patience is how long a call waits for people; zero until there is a decision.
	Patience time.Duration
	// Off reports whether the gate was switched off, so that the editor is asked; nil
	// for never.
	Off func() bool
	// Actor is who asks, and Editor where the person is asked at the editor as well;
	// nil for nowhere.
	Actor  sayso.Actor
	Editor sayso.Elicits
	// Note is told what a person should know, in a line; nil for nobody.
	Note func(string)
	// Plain makes the text of an error fit for an agent; nil leaves it.
	Plain func(error) error
}

// Relay stands between one editor and one agent.
type Relay struct {
	o      Options
	editor *lines.Sink // to it
	agent  *lines.Sink
	told   acp.Told // of the one reader of the agent

	answering sync.WaitGroup // what the editor said
	idPrefix  string         // with which our own ids begin

	mu             sync.Mutex                // guards what follows
	desks          map[string]*drive.Desk    // by the root of the project
	held           map[string]*held          // by the agent's id of the request
	heldBytes      int                       // of the lines of what is held
	sessions       *recent[string]           // by our name for it: the folder it works in
	newSessions    *recent[string]           // by the editor's id of the request: the folder of a session that is to begin
	editorRequests map[string]*editorRequest // by our id: what the editor may be asked, or was
	late           []string                  // our ids of what the editor was asked and has not answered, and is over; the oldest first
	asked          *recent[asked]            // by call: our ids of what was asked about it
	runs           *recent[run]              // by the agent's id of the request: what the editor does
	terminals      *recent[run]              // by terminal: the command that runs in it
	seenSessions   *recent[bool]             // sessions, as they are called here
	initializeID   string                    // the editor's id of the request with which it begins
	peer           acp.Peer
	editorGone     bool // the editor is
	skipped        int
}

// held is a request of the agent that waits for the gate.
type held struct {
	key, session  string
	desk          *drive.Desk
	reply         func(sayso.Decision, error) []byte
	cancelled     []byte
	editorRequest *editorRequest // a question at the editor; nil if it is not asked
	pass          []byte         // what the editor is to do, once that is allowed; nil for a request for permission
	run           run
	size          int // of its line
}

// The most that is remembered of each.
const (
	maxSessions = 4096
	maxAsked    = 4096 // calls that were asked about and have not ended
	maxRuns     = 4096
)

// New returns a relay that writes to the editor and to the agent.
func New(o Options, editor, agent io.Writer) (*Relay, error) {
	if o.Gate == nil {
		return nil, fmt.Errorf("%w: a relay needs a gate", sayso.ErrInvalid)
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
	return &Relay{
		o: o, editor: lines.NewSink(editor), agent: lines.NewSink(agent),
		desks: map[string]*drive.Desk{}, held: map[string]*held{}, sessions: newRecent[string](maxSessions), newSessions: newRecent[string](maxSessions),
		idPrefix: newIDPrefix(), editorRequests: map[string]*editorRequest{}, asked: newRecent[asked](maxAsked), runs: newRecent[run](maxRuns), terminals: newRecent[run](maxRuns),
		seenSessions: newRecent[bool](maxSessions),
	}, nil
}

// FromAgent relays what the agent sends, until it sends no more.
func (r *Relay) FromAgent(ctx context.Context, from io.Reader) error {
	return eachLine(from, func(line []byte) error { return r.fromAgent(ctx, line) })
}

// FromEditor relays what the editor sends, until it sends no more. What the agent
// waits for then is cancelled.
func (r *Relay) FromEditor(ctx context.Context, from io.Reader) error {
	err := eachLine(from, func(line []byte) error { return r.fromEditor(ctx, line) })
	r.mu.Lock()
	r.editorGone = true
	r.mu.Unlock()
	r.cancelHeld(func(*held) bool { return true }, false, "the editor is gone")
	return err
}

// eachLine calls do with each line.
func eachLine(from io.Reader, do func([]byte) error) error {
	in := lines.NewReader(from, maxMessage)
	for {
		line, whole, err := in.Next()
		if err == nil && !whole {
			err = fmt.Errorf("%w: a message has more than %s bytes, and was not passed on", sayso.ErrInvalid, strconv.Itoa(maxMessage))
		}
		if err == nil {
			err = do(line)
		}
		if err != nil {
			return ignoreClosed(err)
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

// fromAgent relays one message of the agent. An error ends the relay.
func (r *Relay) fromAgent(ctx context.Context, line []byte) error {
	m, err := acp.Read(line)
	if err != nil {
		return r.skipUnreadable(line, err)
	}
	switch {
	case m.Request() && r.isOwnID(m.Key()):
		r.noteSkipped("the agent", errDuplicateID)
		return nil
	case m.Method == acp.Ask && m.Request():
		return r.handlePermissionRequest(ctx, &m)
	case m.Method == acp.Ask:
		r.noteSkipped("the agent", errors.New("it asks for permission and wants no answer"))
		return nil
	case m.Errand():
		return r.handleErrand(ctx, &m)
	case m.Method == acp.CancelRequest && r.cancelRequest(&m):
		return nil
	case m.Method == acp.Update:
		r.recordToolCall(ctx, &m)
	case m.Request():
		r.recordTerminalRequest(&m)
	case m.Response():
		r.recordAgent(&m)
	}
	return r.editor.Send(line)
}

// skipUnreadable leaves out a line of the agent that is no message, and tells the editor
// if it waits for it.
func (r *Relay) skipUnreadable(line []byte, why error) error {
	r.noteSkipped("the agent", why)
	if id := rpc.SoleID(line); id != nil {
		return r.editor.Send(acp.Refuse(id, why))
	}
	return nil
}

// maxNotedSkips is how many lines that are no messages are told of.
const maxNotedSkips = 8

// noteSkipped tells that a line is left out.
func (r *Relay) noteSkipped(whose string, why error) {
	r.mu.Lock()
	r.skipped++
	n := r.skipped
	r.mu.Unlock()
	if n <= maxNotedSkips {
		r.o.Note("a line of " + whose + " is left out: " + why.Error())
	}
}

// fromEditor relays one message of the editor. An error ends the relay.
func (r *Relay) fromEditor(ctx context.Context, line []byte) error {
	m, err := acp.Read(line)
	if err != nil {
		r.noteSkipped("the editor", err)
		return nil
	}
	if m.Response() && r.handleEditorAnswer(ctx, &m) {
		return nil
	}
	if m.Response() {
		r.recordEnd(ctx, &m)
	}
	r.recordSession(&m)
	err = r.agent.Send(line)
	if m.Method == acp.CancelSession {
		session := m.Session().ID
		r.cancelHeld(func(h *held) bool { return h.session == session }, false, "the turn was cancelled in the editor")
	}
	return err
}

// isHeld reports whether a request of the agent waits for the gate.
func (r *Relay) isHeld(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[key] != nil
}

// recordSession takes down which sessions the editor begins, and where.
func (r *Relay) recordSession(m *acp.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch m.Method {
	case acp.Initialize:
		r.initializeID = m.Key()
	case acp.NewSession, acp.ForkSession:
		if m.Request() {
			r.newSessions.put(m.Key(), m.Session().Cwd)
		}
	case acp.LoadSession, acp.ResumeSession:
		s := m.Session()
		r.sessions.put(acp.SessionName(s.ID), s.Cwd)
	}
}

// recordAgent takes down what an answer of the agent says of itself, and of a session.
func (r *Relay) recordAgent(m *acp.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := m.Key()
	if key == r.initializeID {
		r.peer, _ = m.Agent()
		r.initializeID = ""
	}
	if cwd, ok := r.newSessions.take(key); ok {
		if s := m.Session(); s.ID != "" {
			r.sessions.put(acp.SessionName(s.ID), cwd)
		}
	}
}

// recordToolCall takes down what the agent tells of a call, and records how one ended.
func (r *Relay) recordToolCall(ctx context.Context, m *acp.Message) {
	session, c, ok := r.told.Hear(m)
	if !ok {
		return
	}
	r.withdrawChanged(m, session, c.ID)
	if !c.Over() {
		return
	}
	r.mu.Lock()
	about, _ := r.asked.take(acp.CallKey(session, c.ID))
	desk := r.desk(r.workspace(session))
	r.mu.Unlock()
	for _, id := range about.ids {
		desk.Ended(ctx, acp.SessionName(session), id, sayso.Outcome{Failed: c.Failed()})
	}
}

// Close ends what waits, which then is parked, and the sessions.
func (r *Relay) Close(ctx context.Context) {
	r.mu.Lock()
	desks, met := r.desks, r.seenSessions
	r.mu.Unlock()
	for _, d := range desks {
		d.Close(ctx, "")
	}
	r.answering.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for session := range met.by {
		_ = r.o.Gate.End(ctx, session) // one that is not ended is ended by its age
	}
}
