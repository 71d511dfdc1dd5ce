package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/outbox"
	"github.com/sayso-dev/sayso/internal/outbox/chat"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/server"
)

// outbox is what tells people elsewhere, as the policy says.
func (a *app) outbox(e *local.Engine, logger *slog.Logger) (*outbox.Outbox, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program, which sends to chats: %w", err)
	}
	return outbox.New(outbox.Options{
		Folder: a.paths.Notices(),
		Inbox:  e.Inbox(sayso.Actor{Principal: "sayso", Kind: sayso.PrincipalAdmin, Channel: "broker"}),
		Targets: func() ([]outbox.Target, error) {
			p, err := e.Policy.Policy()
			if err != nil {
				return nil, err
			}
			return a.targets(p.Notices()), nil
		},
		Link:     a.link,
		Redactor: e.Redactor,
		Chat:     chat.Process(program, "notices", "carry"),
		Log:      logger,
		Now:      a.now,
	}), nil
}

// targets are who is told as the policy says.
func (a *app) targets(notices []policy.Notice) []outbox.Target {
	var list []outbox.Target
	for _, n := range notices {
		t := outbox.Target{Name: n.Name, Detail: outbox.Detail(n.Detail)}
		for _, on := range n.On {
			t.On = append(t.On, outbox.Kind(on))
		}
		if n.Chat.IsZero() {
			t.Webhook, t.Secret = a.held(n.Webhook, "cat"), a.held(n.Secret, "echo whsec_$(head -c 32 /dev/urandom | base64)")
		} else {
			t.Chat = a.held(n.Chat, "cat")
		}
		list = append(list, t)
	}
	return list
}

// held reads what the policy says the place of, each time anew. written is what
// a person types to write a file that is not there.
func (a *app) held(h policy.Held, written string) func() (string, error) {
	return func() (string, error) {
		switch {
		case h.Text != "":
			return h.Text, nil
		case h.File != "":
			s, err := home.ReadSecret(h.File)
			if errors.Is(err, sayso.ErrNotFound) {
				err = fmt.Errorf("%w; type: (umask 077; %s > %s)", err, written, home.Quoted(home.InFolder(h.File)))
			}
			return s, err
		}
		if v := strings.TrimSpace(a.getenv(h.Env)); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("%w: the variable %s is not set where the server runs", sayso.ErrNotFound, h.Env)
	}
}

// link is where a person finds a request: on the page, if there is one.
func (a *app) link(id sayso.ID) string {
	at := strings.TrimSuffix(a.settings.PublicURL, "/")
	if at == "" {
		text, err := os.ReadFile(a.paths.Address())
		if err != nil {
			return "" // nothing listens where a page would be
		}
		at = strings.TrimSpace(string(text))
	}
	return at + "/r/" + string(id)
}

// noticeDesk shows what could not be delivered, and has it tried again.
type noticeDesk struct{ o *outbox.Outbox }

var _ server.Notices = noticeDesk{}

// List implements server.Notices.
func (d noticeDesk) List(context.Context) (server.NoticeList, error) {
	letters, err := d.o.Letters()
	if err != nil {
		return server.NoticeList{}, err
	}
	list := server.NoticeList{Targets: []server.NoticeTarget{}, Notices: []server.Notice{}}
	for _, l := range letters {
		list.Notices = append(list.Notices, noticeOf(l))
	}
	for _, c := range d.o.Counts() {
		list.Targets = append(list.Targets, server.NoticeTarget{Name: c.Target, Sent: c.Sent, Failed: c.Failed, Died: c.Died, Dropped: c.Dropped, Waiting: c.Waiting, Dead: c.Dead, Gone: c.Gone})
	}
	return list, nil
}

// Retry implements server.Notices.
func (d noticeDesk) Retry(ctx context.Context, id sayso.ID) (server.Notice, error) {
	tried, err := d.o.Retry(ctx, func(l outbox.Letter) bool { return l.ID == id })
	if err != nil {
		return server.Notice{}, err
	}
	return noticeOf(tried[0]), nil
}

func noticeOf(l outbox.Letter) server.Notice {
	n := server.Notice{
		ID: l.ID, ShortID: l.ID.Short(), Target: l.Target, About: string(l.Kind), Request: l.Request, State: wire.NoticeWaiting,
		Attempts: l.Attempts, CreatedAt: l.Made.UTC().Truncate(time.Millisecond), Error: l.Error,
	}
	switch {
	case l.Gone:
		n.State = wire.NoticeGone
		return n
	case l.Dead:
		n.State = wire.NoticeDead
		return n
	}
	next := l.Next.UTC().Truncate(time.Millisecond)
	n.NextAt = &next
	return n
}
