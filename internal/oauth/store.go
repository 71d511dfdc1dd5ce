package oauth

import (
	"context"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/filelock"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Logins is where the logins to servers are kept: a folder for each, closed to others.
type Logins struct {
	folder string
	client *http.Client
	now    func() time.Time
}

// Open returns the logins that are kept in a folder, which need not be there yet. roots
// are who may vouch for the servers of logins; nil for those of the system.
func Open(folder string, now func() time.Time, roots *x509.CertPool) *Logins {
	return &Logins{folder: folder, client: client(roots), now: now}
}

// Status is how a login stands. It holds nothing that must be kept.
type Status struct {
	URL      string     `json:"url"` // as people may see it
	Issuer   string     `json:"issuer"`
	Scopes   []string   `json:"scopes"`
	Since    time.Time  `json:"since"`
	Expires  *time.Time `json:"expires_at"` // what is sent now; nil if that was not said
	Renewing bool       `json:"renews"`     // it is renewed by itself
	Ended    string     `json:"ended,omitempty"`
	Command  string     `json:"command"` // what logs in again
}

// record is a login as it is kept.
type record struct {
	Version      int       `json:"version"`
	URL          string    `json:"url"`      // of the server, as it is compared
	Resource     string    `json:"resource"` // what tokens are for
	Issuer       string    `json:"issuer"`
	TokenURL     string    `json:"token_url"`
	RevokeURL    string    `json:"revoke_url,omitempty"`
	ClientID     string    `json:"client_id"`
	ClientSecret string    `json:"client_secret,omitempty"`
	Given        bool      `json:"client_given,omitempty"` // by a person
	Port         int       `json:"client_port,omitempty"`  // to which the browser comes back for that client; 0 for any
	InHeader     bool      `json:"client_in_header,omitempty"`
	Near         bool      `json:"near,omitempty"` // the server is on this machine or this network
	Scopes       []string  `json:"scopes,omitempty"`
	Access       string    `json:"access_token"`
	Refresh      string    `json:"refresh_token,omitempty"`
	Expires      time.Time `json:"expires_at,omitzero"`
	Since        time.Time `json:"since"`
	Renewed      time.Time `json:"renewed_at"`
	Ended        string    `json:"ended,omitempty"` // why it can be renewed no more
}

const recordVersion = 1

// valid reports whether what is kept is good for a while.
func (r *record) valid(now time.Time, left time.Duration) bool {
	return r.Access != "" && (r.Expires.IsZero() || now.Add(left).Before(r.Expires))
}

func (r *record) status(now time.Time) Status {
	at, _ := Shown(r.URL)
	s := Status{URL: at, Issuer: r.Issuer, Scopes: r.Scopes, Since: r.Since, Renewing: r.Refresh != "", Ended: r.Ended, Command: Command(r.URL)}
	if !r.Expires.IsZero() {
		s.Expires = &r.Expires
	}
	if s.Ended == "" && !r.valid(now, 0) && r.Refresh == "" {
		s.Ended = "it ran out, and cannot be renewed"
	}
	if s.Scopes == nil {
		s.Scopes = []string{}
	}
	return s
}

// place is the folder of the login to one server.
func (l *Logins) place(server string) string {
	sum := sayso.HashOf("sayso/login/1", []byte(server))
	return filepath.Join(l.folder, hex.EncodeToString(sum[:16]))
}

func loginFile(place string) string { return filepath.Join(place, "login.json") }

// read reads a login; nil if there is none.
func (l *Logins) read(server string) (*record, error) {
	r, err := l.readIn(l.place(server))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, sayso.ErrInvalid):
		return nil, &hinted{err, Command(server)}
	}
	return r, err
}

// readIn reads the login in a folder. One that was put there is none.
func (l *Logins) readIn(place string) (*record, error) {
	text, err := home.Read(loginFile(place))
	if err != nil {
		return nil, err
	}
	var r record
	if err := jcs.Unmarshal(text, &r); err != nil || r.Version != recordVersion || l.place(r.URL) != place {
		return nil, fmt.Errorf("%w: %s is not as this program writes it", sayso.ErrInvalid, loginFile(place)) // what stands in it is not told
	}
	return &r, nil
}

// write replaces a login as a whole. Whoever holds its lock may.
func (l *Logins) write(r *record) error {
	text, err := jcs.Marshal(r)
	if err != nil {
		return err
	}
	place := l.place(r.URL)
	dropUnfinished(place)
	return home.Write(loginFile(place), text)
}

// dropUnfinished removes what somebody left behind who was killed while they wrote.
func dropUnfinished(place string) {
	files, _ := os.ReadDir(place) // what is not there needs no removing
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".new-") {
			_ = os.Remove(filepath.Join(place, f.Name()))
		}
	}
}

// lock has a login for one process alone: it waits for another, which may have been
// stopped, for as long as two exchanges take. Closing what it returns lets go.
func (l *Logins) lock(ctx context.Context, server string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*slowest)
	defer cancel()
	for _, dir := range []string{l.folder, l.place(server)} {
		if err := home.MakeFolder(dir); err != nil {
			return nil, err
		}
	}
	f, err := filelock.WaitFor(ctx, filepath.Join(l.place(server), "lock"), filelock.Exclusive)
	switch {
	case errors.Is(err, context.Canceled):
		return nil, context.Canceled
	case errors.Is(err, filelock.ErrHeld):
		return nil, fmt.Errorf("%w: another program renews the login, and has not come to an end", sayso.ErrUnavailable)
	}
	return f, err
}

// List says how each login stands, in order of their addresses.
func (l *Logins) List() ([]Status, error) {
	dirs, err := os.ReadDir(l.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Status
	var wrong []error
	for _, d := range dirs {
		r, err := l.readIn(filepath.Join(l.folder, d.Name()))
		switch {
		case err == nil:
			all = append(all, r.status(l.now()))
		case !errors.Is(err, fs.ErrNotExist):
			wrong = append(wrong, err)
		}
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.URL, b.URL) })
	return all, errors.Join(wrong...)
}

// Logout forgets the login to a server, and gives back what it was given where the
// server takes that. The error is [sayso.ErrNotFound] if there is none.
func (l *Logins) Logout(ctx context.Context, server string) (givenBack bool, err error) {
	server, err = canonical(server)
	if err != nil {
		return false, err
	}
	nobody := fmt.Errorf("%w: nobody is logged in to %s", sayso.ErrNotFound, shown(server))
	if _, err := os.Lstat(loginFile(l.place(server))); errors.Is(err, fs.ErrNotExist) {
		return false, nobody
	}
	held, err := l.lock(ctx, server)
	if err != nil {
		return false, err
	}
	defer func() { _ = held.Close() }() // nothing was written to it
	r, _ := l.read(server)              // one that cannot be read is forgotten all the same
	dropUnfinished(l.place(server))
	if err := os.Remove(loginFile(l.place(server))); errors.Is(err, fs.ErrNotExist) {
		return false, nobody // any more
	} else if err != nil {
		return false, err
	}
	return r != nil && l.revoke(ctx, r) == nil, nil
}

// hinted is an error with what to type next.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// Hint is what to type.
func (h *hinted) Hint() string { return h.hint }
