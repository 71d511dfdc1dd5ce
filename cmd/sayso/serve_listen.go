package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
)

// checkAddress refuses addresses at which a token could be read along.
func (a *app) checkAddress() error {
	s := a.settings
	if s.Listen == "none" {
		return nil
	}
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return usage(fmt.Errorf("the address to listen on is %q: %w", s.Listen, err), "sayso serve --listen "+home.DefaultListen)
	}
	proxies, err := a.proxies()
	if err != nil {
		return err
	}
	_, here := address.Loopback(host)
	public, certified := strings.HasPrefix(s.PublicURL, "https://"), s.TLSCert != ""
	name, withPort := "https://NAME", "https://NAME:"+port
	if public {
		name, withPort = s.PublicURL, s.PublicURL
	}
	switch {
	case certified != (s.TLSKey != ""):
		given, missing := "--tls-cert "+s.TLSCert, "--tls-key"
		if !certified {
			given, missing = "--tls-key "+s.TLSKey, "--tls-cert"
		}
		return usage(fmt.Errorf("a certificate and its key belong together, and %s is missing", missing), "sayso serve "+given+" "+missing+" FILE")
	case certified && !public:
		return usage(errors.New("a certificate is for an address, and none was named"), "sayso serve … --public-url https://NAME:"+port)
	case certified:
		return nil
	case !here && (!public || len(proxies) == 0):
		return usage(fmt.Errorf("%w: others reach %s, and plain HTTP is spoken on loopback alone", sayso.ErrNotAllowed, s.Listen),
			"with a certificate, sayso serve --listen "+s.Listen+" --public-url "+withPort+" --tls-cert FILE --tls-key FILE; "+
				"behind a proxy with TLS, sayso serve --listen "+s.Listen+" --public-url "+name+" --proxy "+cmp.Or(s.Proxy, "ITS_ADDRESS"))
	case public && len(proxies) == 0:
		return usage(fmt.Errorf("%w: %s wants TLS, and nothing here speaks it", sayso.ErrInvalid, s.PublicURL),
			"behind a proxy on this machine, sayso serve --public-url "+s.PublicURL+" --proxy 127.0.0.1; or with --tls-cert FILE --tls-key FILE")
	}
	return nil
}

// proxies are the networks of the proxies that were named.
func (a *app) proxies() ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range strings.FieldsFunc(a.settings.Proxy, func(r rune) bool { return r == ',' || r == ' ' }) {
		p, err := netip.ParsePrefix(text)
		if one, wrong := netip.ParseAddr(text); wrong == nil {
			p, err = netip.PrefixFrom(one.Unmap(), one.Unmap().BitLen()), nil
		}
		if err != nil || p.Bits() == 0 {
			return nil, usage(fmt.Errorf("a proxy is an address or a network, not %s", asTyped(text)), "sayso serve --proxy 127.0.0.1,10.0.0.0/24")
		}
		list = append(list, p)
	}
	return list, nil
}

// listen opens the socket and, if it was asked for, the address.
func (a *app) listen(ctx context.Context) ([]net.Listener, error) {
	socket, err := a.listenSocket(ctx)
	if err != nil {
		return nil, err
	}
	if a.settings.Listen == "none" {
		return []net.Listener{socket}, nil
	}
	l, err := a.listenAddress(ctx)
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return []net.Listener{socket, l}, nil
}

// listenAddress opens the address, with TLS if there is a certificate.
func (a *app) listenAddress(ctx context.Context) (net.Listener, error) {
	var secure *tls.Config
	if a.settings.TLSCert != "" {
		c, err := a.certificate()
		if err != nil {
			return nil, err
		}
		secure = c.config()
	}
	network := "tcp"
	if at, err := netip.ParseAddrPort(a.settings.Listen); err == nil && at.Addr().Is4() {
		network = "tcp4" // 0.0.0.0 would be every address of IPv6, too
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, network, a.settings.Listen)
	if err != nil {
		return nil, hint(err, "sayso serve --listen 127.0.0.1:0, or --listen none")
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	return l, nil
}

// listenSocket opens the socket, in a folder that is closed to others. What a
// server that died left there is taken away; a server that lives is not.
func (a *app) listenSocket(ctx context.Context) (net.Listener, error) {
	path := a.paths.Socket()
	if err := home.MakeSocketFolder(path); err != nil {
		return nil, err
	}
	if local.Answers(ctx, path) {
		return nil, hint(fmt.Errorf("%w: a server runs already, on %s", sayso.ErrConflict, path), "sayso status")
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
