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

// Upstream is a server behind a [Front]: a program of this machine, of which each
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
	// Roots are who may vouch for the server; nil for those of the system.
	Roots *x509.CertPool

	// Owners are those whose tokens may use the server; all if there are none.
	Owners []string
}

// upstream is a server behind a front.
type upstream struct {
	Upstream
	f      *Front
	known  *known
	client *http.Client // nil for a program
	own    [][]byte     // what no client is told that the server says back

	mu     sync.Mutex          // guards alones
	alones map[string]*session // of requests that stand alone, by their owners
}

var pathName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// open looks whether a server can stand behind a front.
func (u Upstream) open(f *Front) (*upstream, error) {
	if err := u.Options.complete(); err != nil {
		return nil, err
	}
	if !pathName.MatchString(u.Name) {
		return nil, rpc.Invalid("a server that stands in a path has a name of letters, digits and .-_")
	}
	if (u.URL == "") == (len(u.Args) == 0) {
		return nil, rpc.Invalid(u.Name + " is either a program or an address")
	}
	up := &upstream{Upstream: u, f: f, known: newKnown(), own: u.ours(), alones: map[string]*session{}}
	if u.URL != "" {
		return up, up.dialer()
	}
	return up, nil
}

// serves reports whether the owner of a token may use the server.
func (up *upstream) serves(owner string) bool {
	return len(up.Owners) == 0 || slices.Contains(up.Owners, owner)
}

// plain is the text of an error, as a client may see it.
func (up *upstream) plain(err error) string {
	return strings.TrimSuffix(redact.Scrub(string(up.without([]byte(up.Options.Plain(err).Error())))), ".")
}

// begin begins a session of an owner.
func (up *upstream) begin(ctx context.Context, owner string) (*session, error) {
	s, err := up.start(ctx, owner, up.Session+"-"+strings.ToLower(rand.Text()[:10]), false)
	if err == nil {
		if err = up.ready(ctx); err != nil {
			s.end("The server cannot be reached.")
		}
	}
	return s, err
}

// alone is the session of an owner's requests that stand alone. For the gate they
// are in one session, so that what waits for a person is taken up by the same call
// made again; and a program answers all of them.
func (up *upstream) alone(ctx context.Context, owner string) (*session, error) {
	s, err := up.standing(ctx, owner)
	if err != nil {
		return nil, err
	}
	return s, up.ready(ctx)
}

func (up *upstream) standing(ctx context.Context, owner string) (*session, error) {
	up.mu.Lock()
	defer up.mu.Unlock()
	if s := up.alones[owner]; s != nil && !s.ended() {
		return s, nil
	}
	sum := sayso.HashOf("sayso/owner/1", []byte(owner))
	s, err := up.start(ctx, owner, up.Session+"-"+hex.EncodeToString(sum[:5]), true)
	if err == nil {
		up.alones[owner] = s
	}
	return s, err
}

// start begins a session, with the program that it talks to.
func (up *upstream) start(ctx context.Context, owner, named string, alone bool) (*session, error) {
	s := up.session(owner, named, alone)
	if err := up.f.add(s); err != nil {
		s.leave()
		return nil, err
	}
	if up.client != nil {
		s.reach(&remote{up: up, stops: map[string]context.CancelFunc{}})
		return s, nil
	}
	p, err := up.program(ctx)
	if err != nil {
		s.end("The server did not begin.")
		return nil, err
	}
	if !s.reach(p) {
		p.end()
		return nil, errEnded
	}
	s.work.Go(func() {
		r := s.talk.between(toClient{s: s}, p.in)
		err := p.process.Read(func(from io.Reader) error { return r.FromServer(s.ctx, from) })
		if err != nil {
			up.Options.Note(up.Name + " is stopped: " + up.plain(err))
		}
		s.end("The server ended.")
	})
	return s, nil
}

// nowhere is the way to a server that did not begin.
type nowhere struct{}

func (nowhere) way(*session, *stream, http.Header, string) outlet { return nil }
func (nowhere) end()                                              {}

// pipes is the way to a server that is a program of this machine.
type pipes struct {
	up      *upstream
	process *child.Process
	in      line
}

// program starts one, as what it is now.
func (up *upstream) program(ctx context.Context) (*pipes, error) {
	identity, err := Identity(up.Args)
	if err != nil {
		return nil, err
	}
	if now, ok := up.known.is(); !ok || string(now) != string(identity) {
		if err := up.known.meet(ctx, up.Options, identity); err != nil {
			return nil, err
		}
	}
	p, err := child.Start(child.Command{Args: up.Args, Env: up.Env, Stderr: up.Stderr})
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", up.Name, err)
	}
	up.f.runs(p, true)
	return &pipes{up, p, line{lines.NewSink(p.In)}}, nil
}

func (p *pipes) way(*session, *stream, http.Header, string) outlet { return p.in }

// end tells the program that nobody sends anything any more, and waits for it.
func (p *pipes) end() {
	_ = p.process.In.Close() // which tells it to end
	if p.up.f.ctx.Err() != nil {
		p.process.Signal(syscall.SIGTERM) // the gateway ends, and does not wait long
	}
	p.process.Leave()
	p.process.Close()
	p.up.f.runs(p.process, false)
}
