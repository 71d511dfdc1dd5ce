package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/local"
)

// open opens the gate for a person: a running server, or the database. A
// database that was not there is told of: the person may have meant another one.
func (a *app) open(ctx context.Context) (*local.Local, error) {
	_, err := os.Lstat(a.paths.Database())
	fresh := errors.Is(err, fs.ErrNotExist)
	l, err := a.openWith(ctx, local.Options{})
	if err != nil {
		return nil, err
	}
	if _, ours := l.Engine(); ours && fresh {
		a.note("there was no log yet; one is begun in %s", a.paths.State)
	}
	return l, nil
}

// openWith opens the gate as o says, completed by the settings.
func (a *app) openWith(ctx context.Context, o local.Options) (*local.Local, error) {
	o.TokenFile, o.Version, o.KeepContent = a.settings.TokenFile, versionOf(), a.settings.Keep
	if !o.Direct {
		o.Server = a.settings.Server
	}
	if err := serverAddress(o.Server); err != nil {
		return nil, err
	}
	if err := tokenFile(o.TokenFile); err != nil {
		return nil, err
	}
	if o.Server != "" && o.TokenFile == "" {
		return nil, hint(fmt.Errorf("%w: a server elsewhere wants a token", sayso.ErrNotAllowed),
			"on its machine, sayso token create --name NAME --kind person; keep what it prints in a file that only you may read; then --token-file FILE")
	}
	l, err := local.Open(ctx, a.paths, o)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// serverAddress says what is wrong with the address of a server; empty is this
// machine.
func serverAddress(address string) error {
	if address == "" {
		return nil
	}
	if err := client.CheckAddress(address); err != nil {
		return usage(fmt.Errorf("%s: %w", asTyped(address), err), "--server https://HOST")
	}
	return nil
}

// tokenFile says what is wrong with the name of a file of a token, if that can
// be seen from outside; empty is none.
func tokenFile(path string) error {
	if path == "" {
		return nil
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage(fmt.Errorf("there is no token file %s", path), "is there a typo in the path? A token is made with sayso token create --name NAME --kind person > FILE")
	case err == nil && st.IsDir():
		return usage(fmt.Errorf("%s is a folder, not the file of a token", path), "--token-file FILE")
	}
	return nil // reading it says the rest
}

// withInbox opens the gate for a person, runs do, and closes it again.
func (a *app) withInbox(ctx context.Context, who sayso.Actor, do func(sayso.Inbox) error) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	in, err := l.Inbox(ctx, who)
	if err == nil {
		sweep(ctx, l)
		err = do(in)
	}
	return errors.Join(err, l.Close())
}

// sweep records what nobody was there to record, where no server does.
func sweep(ctx context.Context, l *local.Local) {
	if e, ok := l.Engine(); ok {
		_ = e.Sweep(ctx) // nothing depends on it; the next one tries again
	}
}

// typedID reads an id as people type it: in any case, with the letters that
// ids do not have taken for the digits that they look like.
func typedID(s string) string {
	return strings.NewReplacer("o", "0", "i", "1", "l", "1").Replace(strings.ToLower(strings.TrimSpace(s)))
}

// find returns the request that was meant. An id that means several is refused
// with what it may mean.
func find(ctx context.Context, in sayso.Inbox, typed string) (sayso.Request, error) {
	r, err := in.Request(ctx, typedID(typed))
	switch {
	case errors.Is(err, sayso.ErrConflict):
		return r, hint(err, "type more of it: the first four characters are not enough here")
	case errors.Is(err, sayso.ErrNotFound):
		return r, hint(fmt.Errorf("request %s: %w", asTyped(typed), sayso.ErrNotFound), "sayso inbox")
	case errors.Is(err, sayso.ErrInvalid):
		return r, hint(err, "sayso inbox")
	}
	return r, err
}

// refuseAgent refuses an answer that comes from under an agent, and records
// that it was tried. nil means that no agent can be seen.
func (a *app) refuseAgent(ctx context.Context, typed string, e sayso.Effect) error {
	why := a.noAgent("answering")
	if why == nil {
		return nil
	}
	if err := a.recordAttempt(ctx, typed, e); err != nil {
		return errors.Join(why, fmt.Errorf("and it could not be recorded: %w", err))
	}
	return why
}

// recordAttempt has the broker refuse the answer, which puts it into the log.
func (a *app) recordAttempt(ctx context.Context, typed string, e sayso.Effect) error {
	l, err := a.openWith(ctx, local.Options{Direct: true})
	if err != nil {
		return err
	}
	who := a.person()
	who.Channel = broker.ChannelAgentProcess
	in, err := l.Inbox(ctx, who)
	if err == nil {
		err = attempt(ctx, in, typed, e)
	}
	return errors.Join(err, l.Close())
}

func attempt(ctx context.Context, in sayso.Inbox, typed string, e sayso.Effect) error {
	r, err := find(ctx, in, typed)
	if err != nil {
		return err
	}
	_, err = in.Answer(ctx, r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: e})
	if errors.Is(err, sayso.ErrNotAllowed) {
		return nil // refused and recorded
	}
	return err
}
