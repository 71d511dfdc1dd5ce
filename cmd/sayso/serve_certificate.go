package main

import (
	"crypto/tls"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

// certificate is what the server shows to prove its name. Its files may be
// replaced while it runs, as those do that renew certificates.
type certificate struct {
	cert, key string // files
	host      string // that people type
	now       func() time.Time
	tell      func(format string, args ...any)

	mu     sync.Mutex // guards what follows
	seen   [2]home.Stamp
	loaded *tls.Certificate
}

// certificate reads the certificate that the settings name.
func (a *app) certificate() (*certificate, error) {
	u, err := url.Parse(a.settings.PublicURL)
	if err != nil {
		return nil, usage(err, "sayso serve --help")
	}
	c := &certificate{cert: a.settings.TLSCert, key: a.settings.TLSKey, host: u.Hostname(), now: a.now, tell: a.note}
	if c.loaded, err = c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// config is how the server speaks TLS. HTTP/2 is left out: a WebSocket and the
// bounds on slow readers want a connection of their own.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}, GetCertificate: c.get}
}

// get returns the certificate of the files as they are now. One that cannot be
// used is told of, and the one before is shown until it can.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := [2]home.Stamp{home.StampOf(c.cert), home.StampOf(c.key)}
	if c.seen[0].Same(now[0]) && c.seen[1].Same(now[1]) {
		return c.loaded, nil
	}
	c.seen = now
	next, err := c.load()
	if err != nil { // often the one file was replaced, and the other is about to be
		c.tell("warning: the certificate was not read again: %v", err)
		return c.loaded, nil
	}
	c.loaded = next
	return next, nil
}

// load reads the files. A certificate for another name is refused, since every
// browser would; so is a key that everybody on the machine may read.
func (c *certificate) load() (*tls.Certificate, error) {
	st, err := os.Stat(c.key)
	if err != nil {
		return nil, hint(err, "name the file of the key: sayso serve --tls-key FILE")
	}
	if st.Mode().Perm()&0o007 != 0 {
		return nil, &home.OpenError{Path: c.key, Mode: st.Mode(), Want: 0o600}
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, hint(fmt.Errorf("%s and %s: %w", c.cert, c.key, err), "name a certificate and its key, in PEM")
	}
	if err := pair.Leaf.VerifyHostname(c.host); err != nil {
		return nil, hint(fmt.Errorf("%w: %s: %w", sayso.ErrInvalid, c.cert, err), "sayso serve --public-url https://NAME, as the certificate has it")
	}
	if !c.now().Before(pair.Leaf.NotAfter) {
		return nil, hint(fmt.Errorf("%w: %s ended on %s", sayso.ErrInvalid, c.cert, pair.Leaf.NotAfter.Local().Format(time.DateTime)), "renew the certificate, then sayso serve")
	}
	return &pair, nil
}
