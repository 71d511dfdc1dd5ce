package gateway

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/child"
	"github.com/sayso-dev/sayso/internal/lines"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/redact"
)

// Upstream is a server behind a [Handler]: a program of this machine, of which each
// session has one of its own, or a server that speaks HTTP itself. Its Session is
// what the names of the sessions of its calls begin with.
type Upstream struct {
	Options

	Args   []string // of the program
	Env    []string // of the program; ours if nil
	Stderr io.Writer

	URL    string      // of the server, in the place of a program
	Header http.Header // goes with each request to it, and nowhere else
	// PassAuthorization has the client's Authorization go to the server; then the
	// client's own token for us is in another header.
	PassAuthorization bool
	// Login has requests to the server go with what a person logged in with; nil if
	// nobody did.
	Login Login
	// Roots are who may vouch for the server; nil for those of the system.
	Roots *x509.CertPool

	// Owners are those whose tokens may use the server; all if there are none.
	Owners []string
}

// upstream is a server behind a handler.
type upstream struct {
	Upstream
	handler *Handler
	trust   *serverTrust
	client  *http.Client // nil for a program
	secrets [][]byte     // what no client is told that the server says back

	mu        sync.Mutex          // guards stateless
	stateless map[string]*session // of stateless requests, by their owners
}

var pathName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// open looks whether a server can stand behind a handler.
func (u Upstream) open(f *Handler) (*upstream, error) {
	if err := u.Options.setDefaults(); err != nil {
		return nil, err
	}
	if !pathName.MatchString(u.Name) {
		return nil, rpc.Invalid("a server that stands in a path has a name of letters, digits and .-_")
	}
	if (u.URL == "") == (len(u.Args) == 0) {
		return nil, rpc.Invalid(u.Name + " is either a program or an address")
	}
	up := &upstream{Upstream: u, handler: f, trust: newServerTrust(), secrets: u.secretsOf(), stateless: map[string]*session{}}
	if u.URL != "" {
		return up, up.setClient()
	}
	return up, nil
}

// serves reports whether the owner of a token may use the server.
func (up *upstream) serves(owner string) bool {
	return len(up.Owners) == 0 || slices.Contains(up.Owners, owner)
}

// errorText is the text of an error, as a client may see it.
func (up *upstream) errorText(err error) string {
	return strings.TrimSuffix(redact.Scrub(string(up.redactSecrets([]byte(up.Options.Plain(err).Error())))), ".")
}

// newSession begins a session of an owner.
func (up *upstream) newSession(ctx context.Context, owner string) (*session, error) {
	s, err := up.startSession(ctx, owner, up.Session+"-"+strings.ToLower(rand.Text()[:10]), false)
	if err == nil {
		if err = up.verify(ctx); err != nil {
			s.end("The server cannot be reached.")
		}
	}
	return s, err
}

// statelessSession is the session of an owner's stateless requests. For the gate they
// are in one session, so that what waits for a person is taken up by the same call
// made again; and a program answers all of them.
func (up *upstream) statelessSession(ctx context.Context, owner string) (*session, error) {
	s, err := up.startStateless(ctx, owner)
	if err != nil {
		return nil, err
	}
	return s, up.verify(ctx)
}

func (up *upstream) startStateless(ctx context.Context, owner string) (*session, error) {
	up.mu.Lock()
	defer up.mu.Unlock()
	if s := up.stateless[owner]; s != nil && !s.isClosed() {
		return s, nil
	}
	sum := sayso.HashOf("sayso/owner/1", []byte(owner))
	s, err := up.startSession(ctx, owner, up.Session+"-"+hex.EncodeToString(sum[:5]), true)
	if err == nil {
		up.stateless[owner] = s
	}
	return s, err
}

// startSession begins a session, with the program that it talks to.
func (up *upstream) startSession(ctx context.Context, owner, named string, alone bool) (*session, error) {
	s := up.makeSession(owner, named, alone)
	if err := up.handler.add(s); err != nil {
		s.cancel()
		return nil, err
	}
	if up.client != nil {
		s.setTransport(&httpTransport{up: up, cancels: map[string]*context.CancelFunc{}})
		return s, nil
	}
	p, err := up.startProgram(ctx)
	if err != nil {
		s.end("The server did not begin.")
		return nil, err
	}
	if !s.setTransport(p) {
		p.close()
		return nil, errSessionEnded
	}
	s.wg.Go(func() {
		r := s.conv.newRelay(streamSender{s: s}, p.stdin)
		err := p.process.Read(func(from io.Reader) error { return r.FromServer(s.ctx, from) })
		if err != nil {
			up.Options.Note(up.Name + " is stopped: " + up.errorText(err))
		}
		s.end("The server ended.")
	})
	return s, nil
}

// noTransport is the way to a server that did not begin.
type noTransport struct{}

func (noTransport) sender(*session, *stream, http.Header, string) sender { return nil }
func (noTransport) close()                                               {}

// stdioTransport is the way to a server that is a program of this machine.
type stdioTransport struct {
	up      *upstream
	process *child.Process
	stdin   lineSender
}

// startProgram starts one, as what it is now.
func (up *upstream) startProgram(ctx context.Context) (*stdioTransport, error) {
	identity, err := Identity(up.Args)
	if err != nil {
		return nil, err
	}
	if now, ok := up.trust.identityTrusted(); !ok || string(now) != string(identity) {
		if err := up.trust.checkIdentity(ctx, up.Options, identity); err != nil {
			return nil, err
		}
	}
	p, err := child.Start(child.Command{Args: up.Args, Env: up.Env, Stderr: up.Stderr})
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", up.Name, err)
	}
	up.handler.setRunning(p, true)
	return &stdioTransport{up, p, lineSender{lines.NewSink(p.In)}}, nil
}

func (p *stdioTransport) sender(*session, *stream, http.Header, string) sender { return p.stdin }

// close tells the program that nobody sends anything any more, and waits for it.
func (p *stdioTransport) close() {
	_ = p.process.In.Close() // which tells it to end
	if p.up.handler.ctx.Err() != nil {
		p.process.Signal(syscall.SIGTERM) // the gateway ends, and does not wait long
	}
	p.process.Leave()
	p.process.Close()
	p.up.handler.setRunning(p.process, false)
}
