package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/web"
)

func (a *app) openCommand() *cobra.Command {
	return &cobra.Command{
		Use: "open", GroupID: "answer", Short: "prints an address that opens the page, signed in", Args: cobra.NoArgs,
		Long: `Prints an address of the page with a code in it. Open it in your browser within
two minutes: the page changes the code into a token of its own, and the code is
spent. The page is that of the server that runs on this machine.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.openPage(c.Context()) },
	}
}

func (a *app) openPage(ctx context.Context) error {
	if err := a.noAgent("signing in"); err != nil {
		return err
	}
	if !web.Built() {
		return hint(errors.New("this build has no page"), "make install, in the sources and with Node 20; or sayso watch, in a terminal")
	}
	address, err := a.pageAddress(ctx)
	if err != nil {
		return err
	}
	code, err := a.paths.LoginCode(a.now(), a.person())
	if err != nil {
		return err
	}
	link := address + "/#" + code
	if a.json {
		return a.printJSON(struct {
			Address string `json:"address"`
		}{link})
	}
	a.print("%s", link)
	a.note("good once, for %s; it signs you in as %s", home.CodeLife, a.person().Principal)
	return nil
}

// pageAddress is where the server that runs now has its page.
func (a *app) pageAddress(ctx context.Context) (string, error) {
	if !local.Answers(ctx, a.paths.Socket()) {
		return "", hint(fmt.Errorf("%w: no server runs, and the page is a server's", sayso.ErrUnavailable), "sayso serve")
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
