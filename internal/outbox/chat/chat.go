// Package chat sends one text to one chat, by a shoutrrr address.
//
// The senders of shoutrrr take no context, follow redirects, read what they are
// sent to its end, and some run without a time limit. So a process of its own
// calls [Send], once, and is ended when it takes too long: see [Process]. In that
// process every HTTP client that a sender may use is put under a guard.
package chat

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/sayso-dev/sayso/inspect/address"
)

// services are those that speak HTTP by clients that can be guarded. The others
// of shoutrrr (mail, mqtt, the terminal) are not served.
var services = []string{
	"bark", "discord", "generic", "googlechat", "lark", "mattermost", "ntfy", "opsgenie", "pagerduty",
	"pushbullet", "pushover", "slack", "teams", "telegram", "twilio", "wecom", "zulip",
}

// Services lists what an address may begin with.
func Services() []string { return slices.Clone(services) }

var (
	errAddress = errors.New("the address cannot be read; it begins with one of " + strings.Join(services, "://, ") + "://")
	errRefused = errors.New("the chat answered with something else than yes, or not at all")
)

// Send sends a text to a chat. It changes how the whole process speaks HTTP, so
// that nothing else should run in it. Errors are in words of ours and do not say
// where the text went.
func Send(ctx context.Context, where, text string) error {
	scheme, _, _ := strings.Cut(where, "://")
	if name, _, _ := strings.Cut(scheme, "+"); !slices.Contains(services, name) {
		return errAddress
	}
	g := &guard{ctx: ctx}
	g.everywhere()
	service, err := new(router.ServiceRouter).Locate(where)
	if err != nil {
		return errAddress
	}
	g.put(service)
	err = service.Send(text, &types.Params{})
	if why := g.why(); why != nil {
		return why
	}
	if err != nil {
		return errRefused // its text holds the address
	}
	return nil
}

// mayGo reports whether a text may go to an address: encrypted, or to this
// machine.
func mayGo(u *url.URL) bool {
	_, loopback := address.Loopback(u.Host)
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}

// clients are how services are reached that have HTTP clients of their own.
type (
	settable interface{ SetHTTPClient(client *http.Client) }
	gettable interface{ GetHTTPClient() *http.Client }
)

// put guards the client that a service has of its own. All others use what the
// whole process uses.
func (g *guard) put(service types.Service) {
	if s, ok := service.(settable); ok {
		s.SetHTTPClient(&http.Client{Transport: g})
	}
	if s, ok := service.(gettable); ok {
		if c := s.GetHTTPClient(); c != nil {
			c.Transport = g
		}
	}
}
