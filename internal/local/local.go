// Package local opens what a program on this machine works with: a running
// server through its socket if one answers, else the database itself with a
// broker of its own. Both give the same Gate and the same Inbox.
//
// The hook starts on every call of an agent, so that nothing here may be slow
// to load: no server, no metrics, no highlighter.
package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/home"
)

// Options say what to open. The zero Options are fine.
type Options struct {
	// Server is the base URL of a server elsewhere; empty for this machine.
	Server string
	// TokenFile holds the token to act with; empty for our own.
	TokenFile string
	// Direct opens the database even if a server runs.
	Direct bool
	// Mode is the mode where none was set; interactive if empty. Where the
	// policy names a stricter one, that one holds.
	Mode sayso.Mode
	// KeepContent is how long content is kept after its request ended; 30 days if
	// zero, for ever if negative.
	KeepContent time.Duration
	// Version is the release of this program.
	Version string
	// Checkpoint says that this program stays up and tidies the database.
	Checkpoint bool
	// Opened is told of each request that begins to wait for people in a broker
	// of ours. It must return at once.
	Opened func(sayso.Request)
}

// Local is an open door to the gate. It may be used from many goroutines.
type Local struct {
	paths home.Paths
	o     Options

	mu      sync.Mutex // guards what follows
	clients map[who]*client.Client
	rules   *Rules  // of this machine, where a server serves
	engine  *Engine // nil while a server serves
	socket  string  // empty if the database is open
}

// who tells clients apart: each acts for one principal.
type who struct {
	kind sayso.PrincipalKind
	name string
}

// Open opens the gate: the server that the options name, the one that answers
// on this machine's socket, or the database.
func Open(ctx context.Context, paths home.Paths, o Options) (*Local, error) {
	l := &Local{paths: paths, o: o, clients: map[who]*client.Client{}}
	if o.Server != "" {
		return l, nil
	}
	if !o.Direct && Answers(ctx, paths.Socket()) {
		l.socket = paths.Socket()
		return l, nil
	}
	_, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Answers reports whether somebody listens on a socket of ours.
func Answers(ctx context.Context, path string) bool {
	if st, err := os.Lstat(path); err != nil || st.Mode().Type() != os.ModeSocket {
		return false
	}
	if home.CheckSocketFolder(path) != nil {
		return false // somebody else may have put it there
	}
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return false
	}
	_ = c.Close() // it was there; nothing was said
	return true
}

// open opens the database, once.
func (l *Local) open(ctx context.Context) (*Engine, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine != nil {
		return l.engine, nil
	}
	e, err := OpenEngine(ctx, l.paths, l.o)
	if err != nil {
		return nil, err
	}
	l.engine, l.socket = e, ""
	return e, nil
}

// Where says what is open: server and its address, or database and its file.
func (l *Local) Where() (what, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.o.Server != "":
		return "server", l.o.Server
	case l.engine != nil:
		return "database", l.paths.Database()
	}
	return "server", l.socket
}

// Engine returns the broker with its log if the database is open.
func (l *Local) Engine() (*Engine, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine, l.engine != nil
}

// Wanted are the folders that the policy in force names, and that the facts
// about a call must say where they are. A server elsewhere says itself what it
// wants.
func (l *Local) Wanted() sayso.FactsWanted {
	l.mu.Lock()
	rules := l.rules
	switch {
	case l.engine != nil:
		rules = l.engine.Policy
	case l.o.Server != "":
		l.mu.Unlock()
		return sayso.FactsWanted{}
	case rules == nil:
		rules = NewRules(l.paths)
		l.rules = rules
	}
	l.mu.Unlock()
	return rules.Wanted()
}

// Gate returns the gate for a requester. If a server on this machine dies, the
// gate opens the database and goes on there: a call that waits is taken up
// under its own id.
func (l *Local) Gate(ctx context.Context, a sayso.Actor) (sayso.Gate, error) {
	a, err := l.actor(a)
	if err != nil {
		return nil, err
	}
	if e, ok := l.Engine(); ok {
		return e.Gate(a), nil
	}
	c, err := l.client(a)
	if err != nil {
		return nil, err
	}
	if l.o.Server != "" {
		return c, nil
	}
	return &steady{local: l, first: c, actor: a}, nil
}

// Inbox returns the inbox for a person or a requester.
func (l *Local) Inbox(ctx context.Context, a sayso.Actor) (sayso.Inbox, error) {
	a, err := l.actor(a)
	if err != nil {
		return nil, err
	}
	if e, ok := l.Engine(); ok {
		return e.Inbox(a), nil
	}
	return l.client(a)
}

// actor is who acts: whose token was given, or who was named.
func (l *Local) actor(a sayso.Actor) (sayso.Actor, error) {
	if l.o.TokenFile == "" || l.o.Server != "" {
		return a, nil
	}
	secret, err := home.ReadToken(l.o.TokenFile)
	if err != nil {
		return sayso.Actor{}, err
	}
	t, err := l.paths.Tokens().Authenticate(secret, time.Now())
	if err != nil {
		return sayso.Actor{}, fmt.Errorf("%s: %w", l.o.TokenFile, err)
	}
	return t.Actor(a.Channel), nil
}

// client returns the client that acts for somebody.
func (l *Local) client(a sayso.Actor) (*client.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := who{a.Kind, a.Principal}
	if c := l.clients[key]; c != nil {
		return c, nil
	}
	secret, err := l.token(a)
	if err != nil {
		return nil, err
	}
	base := l.o.Server
	o := &client.Options{Version: l.o.Version}
	if base == "" {
		base, o.Retry = l.socket, time.Second // the database is there if the server is not
	}
	c, err := client.New(base, secret, o)
	if err != nil {
		return nil, err
	}
	l.clients[key] = c
	return c, nil
}

// token is the token of an actor: the one that was given, or our own, which is
// made where there is none yet.
func (l *Local) token(a sayso.Actor) (string, error) {
	if l.o.TokenFile != "" {
		return home.ReadToken(l.o.TokenFile)
	}
	if l.o.Server != "" {
		return "", fmt.Errorf("%w: a server elsewhere wants a token; type: --token-file FILE", sayso.ErrNotAllowed)
	}
	if err := l.paths.Mint(time.Now(), a); err != nil {
		return "", err
	}
	return l.paths.OwnToken(a)
}

// Close closes what is open.
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, c := range l.clients {
		errs = append(errs, c.Close())
	}
	if l.engine != nil {
		errs = append(errs, l.engine.Close())
	}
	return errors.Join(errs...)
}
