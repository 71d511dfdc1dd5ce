// Package server puts a [sayso.Gate] and a [sayso.Inbox] on the network: HTTP,
// server-sent events and a WebSocket, as /openapi.json describes them.
//
// Every route and every upgrade passes the same guard before anything else:
// the host must be one of ours, a browser must come from our own page, bodies
// must be JSON, and the caller must show a token. Cookies never authorise. A
// [Server] answers a principal with what the Gate and the Inbox of that
// principal answer; it keeps no state of requests of its own, but for
// admissions that wait a minute for their presentation.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/internal/wire"
)

// TokenInfo is what is known of a token.
type TokenInfo = wire.TokenInfo

// NewToken is what an admin wants a token to be.
type NewToken = wire.NewToken

// PolicyInfo says which policy is in force.
type PolicyInfo = wire.PolicyInfo

// What the routes of [LookBack] take and give.
type (
	Explain     = wire.Explain
	Explanation = wire.Explanation
	Replay      = wire.Replay
	Replayed    = wire.Replayed
	PolicyFiles = wire.PolicyFiles
)

// Machine is what the machine of the server knows of its gate.
type Machine = status.Machine

// LookBack says what the policy makes of calls, for a principal that answers, of
// what that principal may see. Errors are those of package sayso.
type LookBack interface {
	// Explain says why a call, or a request of the log, comes out as it does.
	Explain(ctx context.Context, a sayso.Actor, want Explain) (Explanation, error)
	// Replay says which calls since a time would have come out otherwise if a text
	// had been the person's policy file. It records and changes nothing.
	Replay(ctx context.Context, a sayso.Actor, text string, since time.Time) (Replayed, error)
	// Files is the text of the policy in force. Its tokens are the server's work.
	Files() (PolicyFiles, error)
}

// SignIn is a code that somebody wants a token for.
type SignIn struct {
	Code   string
	Origin string // of the page; empty for other programs
	Device string // what the browser is and where it runs, as it says; empty for other programs
}

// What is known of notices to targets elsewhere.
type (
	Notice       = wire.Notice
	NoticeTarget = wire.NoticeTarget
	NoticeList   = wire.Notices
)

// Notices is what could not be delivered to targets elsewhere. Errors are those
// of package sayso.
type Notices interface {
	// List returns who is told, and what could not be delivered.
	List(ctx context.Context) (NoticeList, error)
	// Retry has a notice tried again, and returns it.
	Retry(ctx context.Context, id sayso.ID) (Notice, error)
}

// Tokens is where tokens are kept. Errors are those of package sayso.
type Tokens interface {
	// List returns all tokens, without their secrets.
	List(ctx context.Context) ([]TokenInfo, error)
	// Create makes a token and returns its secret, which is shown once.
	Create(ctx context.Context, want NewToken) (secret string, made TokenInfo, err error)
	// Revoke ends a token.
	Revoke(ctx context.Context, id string) error
}

// Options are what a server may be told. Authenticate is required.
type Options struct {
	// Authenticate returns who shows a token. An error means that nobody does.
	// It is called for each request.
	Authenticate func(token string) (sayso.Actor, error)
	// Login changes a code that is good once into a token, and Logout ends the
	// caller's own. Without them the routes are not there. A token that a page
	// gets is to be bound to the origin of the page, empty for other programs:
	// Authenticate then returns it with the actor.
	Login  func(SignIn) (token string, err error)
	Logout func(token string) error
	// Tokens serves the admin's routes; nil for none.
	Tokens Tokens
	// Policy says which policy is in force; nil for no such route.
	Policy func() PolicyInfo
	// Machine is asked for each status; nil for nothing but figures.
	Machine func() Machine
	// LookBack serves the routes that show, explain and replay the policy; nil for
	// none.
	LookBack LookBack
	// Notices serves the routes on notices to targets elsewhere; nil for none.
	Notices Notices
	// Pins serves the routes on the definitions of MCP servers and their tools;
	// nil for none.
	Pins Pins
	// PublicURL is the address people type when it is not loopback, behind TLS.
	PublicURL string
	// Proxies are those that speak TLS to people and plain HTTP to us. What they
	// say of where a request came from, and how, counts; what anybody else says
	// of it does not. Without one, plain HTTP is for this machine alone.
	Proxies []netip.Prefix
	// AllowedHosts are further values of the Host header, with their port if
	// they have one.
	AllowedHosts []string
	// Page serves what is no route, to browsers; nil for nothing.
	Page http.Handler
	// Logger gets one line for each request that people were asked about and
	// each decision, and errors; nil for none.
	Logger *slog.Logger
	// Version is the release of this program; empty for one that is no release.
	Version string
	// Commits has the log tell of its commits, for the metrics, as the one of
	// package store/sqlite does; nil for a log that does not.
	Commits func(tell func(appends int, took time.Duration))
	// Trace makes a span of each request; nil for none.
	Trace Trace

	limits limits // others in tests
}

// limits are what nobody has had reason to set.
type limits struct {
	heartbeat  time.Duration // between two signs of life of a quiet stream, and two looks at the token of a long connection
	stall      time.Duration // that a reader may take nothing before its connection is closed
	body       time.Duration // that the body of a request may take to arrive
	operations int           // that one WebSocket may have under way
}

// Server is an [http.Handler].
type Server struct {
	o            Options
	door         func(sayso.Actor) (sayso.Gate, sayso.Inbox)
	routes       *routeNode
	guard        *requestGuard
	reservations *reservations
	operations   *concurrencyLimiter
	streams      *streamCounter
	feeds        *sharedFeeds
	metrics      *metrics
	eventCache   eventCache
	loginLimiter *rateLimiter
	served       *servedContent
	log          *slog.Logger

	stopping context.Context // ends when the server stops
	stop     context.CancelCauseFunc
}

// New returns a server for what is behind door, which returns the Gate and the
// Inbox of a principal.
func New(door func(sayso.Actor) (sayso.Gate, sayso.Inbox), opts *Options) (*Server, error) {
	if door == nil || opts == nil || opts.Authenticate == nil {
		return nil, fmt.Errorf("%w: a server needs a door and a way to authenticate", sayso.ErrInvalid)
	}
	o := *opts
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	setDefault(&o.limits.heartbeat, 15*time.Second)
	setDefault(&o.limits.stall, 10*time.Second)
	setDefault(&o.limits.body, 30*time.Second)
	setDefault(&o.limits.operations, 1<<17)
	g, err := newGuard(o.PublicURL, o.AllowedHosts, o.Proxies)
	if err != nil {
		return nil, err
	}
	s := &Server{
		o: o, door: door, guard: g, reservations: newReservations(), operations: newConcurrencyLimiter(), streams: newStreamCounter(), feeds: newSharedFeeds(), log: o.Logger,
		loginLimiter: newRateLimiter(maxWrongCodes, time.Minute), served: newServedContent(),
	}
	s.stopping, s.stop = context.WithCancelCause(context.Background())
	if s.metrics, err = newMetrics(append(noticeMetrics(o.Notices), newOpenRequestCollector(door))...); err != nil {
		return nil, err
	}
	if o.Commits != nil {
		o.Commits(s.metrics.committed)
	}
	s.routes = buildTree(s.offeredRoutes())
	return s, nil
}

func setDefault[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// offeredRoutes is the routes that these options offer.
func (s *Server) offeredRoutes() []route {
	var offered []route
	for _, r := range allRoutes() {
		if r.isEnabled == nil || r.isEnabled(&s.o) {
			offered = append(offered, r)
		}
	}
	return offered
}

// Serve answers on the listeners until ctx ends, then lets short requests
// finish and tells long ones to come back. It also follows the log for the
// metrics and the log lines. It returns nil when it was asked to stop.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	h := s.HTTP()
	h.BaseContext = func(net.Listener) context.Context { return base }
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- h.Serve(l) }()
	}
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	watched := make(chan struct{})
	go func() { defer close(watched); s.Observe(watching) }()
	defer func() { unwatch(); <-watched }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.stop(errStopping)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if down := h.Shutdown(grace); down != nil {
		down = h.Close()
		if err == nil {
			err = down
		}
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// HTTP is an [http.Server] with the limits that these routes want.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 3 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
