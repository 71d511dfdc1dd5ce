package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/web"
)

// openOptions are the flags of open.
type openOptions struct {
	qr     bool
	device string
}

func (a *app) openCommand() *cobra.Command {
	var o openOptions
	c := &cobra.Command{
		Use: "open", GroupID: "answer", Short: "prints an address that opens the page, signed in", Args: cobra.NoArgs,
		Long: `Prints an address of the page with a code in it. Open it in your browser within
two minutes: the page changes the code into a token of its own, and the code is
spent. The page is that of the server that runs on this machine.

If phones can reach the server (sayso serve --public-url), the address is drawn
as a QR code too: point the phone's camera at it. sayso token list has the
devices that were let in, and sayso token revoke DEVICE puts one out.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.openPage(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.qr, "qr", false, "draw the address as a QR code, also where nobody seems to look")
	c.Flags().StringVar(&o.device, "device", "", "what to call the device that is let in (default: what its browser says)")
	return c
}

func (a *app) openPage(ctx context.Context, o openOptions) error {
	if err := a.noAgent("signing in"); err != nil {
		return err
	}
	if !web.Built() {
		return hint(errors.New("this build has no page"), "make install, in the sources and with Node 20; or sayso watch, in a terminal")
	}
	page, err := a.pageAddress(ctx)
	if err != nil {
		return err
	}
	near := onlyHere(page)
	if o.qr && near {
		return usage(fmt.Errorf("no phone reaches %s, which is this machine's own", page), "sayso serve --public-url https://NAME, as sayso serve --help says; then sayso open")
	}
	code, err := a.paths.LoginCode(a.now(), a.person(), o.device)
	if err != nil {
		return err
	}
	link := page + "/#" + code
	if a.json {
		return a.printJSON(struct {
			Address string `json:"address"`
		}{link})
	}
	a.print("%s", link)
	if o.qr || !near && isTerminal(a.err) {
		if err := a.drawQR(link); err != nil {
			return err
		}
	}
	if near && isTerminal(a.err) {
		a.note("no QR code, since no phone reaches this address; sayso serve --public-url https://NAME is for phones")
	}
	a.note("good once, for %s; it signs you in as %s", span(home.CodeLife), a.person().Principal)
	return nil
}

// onlyHere reports whether an address is one of this machine alone.
func onlyHere(page string) bool {
	u, err := url.Parse(page)
	if err != nil {
		return true
	}
	_, here := address.Loopback(u.Host)
	return here
}

// drawQR draws a link for a phone, beside the answer.
func (a *app) drawQR(link string) error {
	lines, columns, err := qrLines(link, isTerminal(a.err) && a.getenv("NO_COLOR") == "")
	if err != nil {
		return err
	}
	if have := width(a.err); have > 0 && have < columns {
		a.note("a QR code of this address wants %d columns, and there are %d", columns, have)
		return nil
	}
	for _, line := range lines {
		fmt.Fprintln(a.err, line)
	}
	return nil
}

// pageAddress is where the server that runs now has its page.
func (a *app) pageAddress(ctx context.Context) (string, error) {
	if !local.Answers(ctx, a.paths.Socket()) {
		return "", hint(fmt.Errorf("%w: no server runs, and the page is a server's", sayso.ErrUnavailable), "in another terminal: sayso serve")
	}
	text, err := os.ReadFile(a.paths.Address())
	if errors.Is(err, fs.ErrNotExist) {
		return "", hint(fmt.Errorf("%w: the server that runs listens on no address", sayso.ErrUnavailable), "sayso serve --listen "+home.DefaultListen)
	}
	return strings.TrimSpace(string(text)), err
}

// tellAddress leaves word of where the page is.
func (a *app) tellAddress(listeners []net.Listener) error {
	at := a.address(listeners)
	if at == "" {
		return nil
	}
	return home.Write(a.paths.Address(), []byte(at+"\n"))
}

// address is under which people reach a server that listens there; empty if they
// do not.
func (a *app) address(listeners []net.Listener) string {
	if a.settings.PublicURL != "" {
		return strings.TrimSuffix(a.settings.PublicURL, "/")
	}
	for _, l := range listeners {
		if l.Addr().Network() == "tcp" {
			return "http://" + l.Addr().String()
		}
	}
	return ""
}

// notePage says where the page is, and how to get in.
func (a *app) notePage(listeners []net.Listener) {
	at := a.address(listeners)
	switch {
	case at == "":
		a.note("no page: it wants an address to listen on")
	case !web.Built():
		a.note("no page in this build: make install, with Node 20; answer with sayso watch, in a terminal")
	default:
		a.note("the page is at %s; to sign in, type in another terminal: sayso open", at)
	}
}
