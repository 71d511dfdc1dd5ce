package tool

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// WebFetch is the name of the fetch tool.
const WebFetch = "web-fetch"

// What holds unless [FetchOptions] say otherwise.
const (
	FetchTimeout = 30 * time.Second
	FetchSize    = 2 << 20 // bytes of a page
	FetchHops    = 5       // redirects
)

// FetchOptions change how pages are fetched. The zero value means the defaults.
type FetchOptions struct {
	// Timeout is how long one hop may take, people not counted; 0 means
	// [FetchTimeout].
	Timeout time.Duration
	// Size is how many bytes of a page are taken; 0 means [FetchSize].
	Size int64
	// Hops is how many redirects are followed; 0 means [FetchHops], below zero
	// none is.
	Hops int
	// Local lists what is fetched although it is on this machine or network, as
	// HOST:PORT. Policy and people are asked about it as about anything else.
	Local []string
	// Agent is the User-Agent; empty for sayso.
	Agent string
	// Roots are the authorities that certificates are checked by; nil for those
	// of the system.
	Roots *x509.CertPool
	// Resolve looks the addresses of a host up; nil for the system's way.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Fetch is a tool that gets pages of the web. It is a [Set], a [Describer] and
// an [Asker]; every page asks, and policy says which need not.
//
// A URL is read strictly and once, and what was read is what is fetched; one
// that programs read differently is refused. A host is looked up once, after the
// page was let through, and the connection goes to an address that was looked
// at. Where one of the addresses is on this machine or network, nothing is
// fetched unless the options list it. Each redirect is a call of its own at the
// gate, with the same limits. No cookie is kept, no proxy is used, and nothing
// but GET is sent.
type Fetch struct {
	o     FetchOptions
	local map[string]bool
}

// NewFetch returns a fetch tool. Nil options are the defaults.
func NewFetch(o *FetchOptions) *Fetch {
	f := &Fetch{local: map[string]bool{}}
	if o != nil {
		f.o = *o
	}
	if f.o.Timeout <= 0 {
		f.o.Timeout = FetchTimeout
	}
	if f.o.Size <= 0 {
		f.o.Size = FetchSize
	}
	if f.o.Hops == 0 {
		f.o.Hops = FetchHops
	}
	if f.o.Agent == "" {
		f.o.Agent = "sayso"
	}
	if f.o.Resolve == nil {
		f.o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	for _, l := range f.o.Local {
		f.local[strings.ToLower(l)] = true
	}
	return f
}

// Tools implements [Describer].
func (f *Fetch) Tools() []Definition {
	return []Definition{{WebFetch, "Get a page of the web.", sayso.KindFetch,
		schema(`"url":{"type":"string","description":"An http or https URL."}`, `"url"`)}}
}

// Call implements [Set], without a gate: any page that is not local is fetched.
func (f *Fetch) Call(ctx context.Context, c sayso.Call) (Result, error) { return bare(ctx, f, c) }

// Ask implements [Asker]. It is about the first page; redirects are asked about
// as they come.
func (f *Fetch) Ask(ctx context.Context, c sayso.Call) (*Ask, error) { return planAsks(ctx, f, c) }

type fetchArgs struct {
	URL string `json:"url"`
}

func (f *Fetch) plan(_ context.Context, c sayso.Call) (*plan, error) {
	if c.Tool != WebFetch {
		return nil, unknown(c.Tool)
	}
	var a fetchArgs
	if err := arguments(c, &a); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Tool, err)
	}
	u, err := f.read(a.URL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Tool, err)
	}
	return f.hop(c, u, 0), nil
}

// read reads a URL, once.
func (f *Fetch) read(text string) (address.URL, error) {
	u := address.Parse(text)
	if u.Odd != "" {
		return u, fmt.Errorf("%w: %s: programs may read this URL differently: %s", sayso.ErrInvalid, printable(text), u.Odd)
	}
	if u.Local && !f.local[hostPort(u)] {
		return u, f.refuse(u, "")
	}
	return u, nil
}

// refuse is the error of a URL that leads to this machine or network.
func (f *Fetch) refuse(u address.URL, where string) error {
	if where != "" {
		where = " (" + where + ")"
	}
	return fmt.Errorf("%w: %s%s is on this machine or network; list %s among the local addresses to fetch from it",
		sayso.ErrNotAllowed, u.Host, where, hostPort(u))
}

func hostPort(u address.URL) string { return net.JoinHostPort(u.Host, strconv.Itoa(u.Port)) }

// hop plans one request; n redirects were followed before.
func (f *Fetch) hop(c sayso.Call, u address.URL, n int) *plan {
	title := "Fetch "
	if n > 0 {
		title = "Follow a redirect to "
	}
	ask := &Ask{
		ToolAsk: sayso.ToolAsk{Required: true, Description: title + u.String()},
		Present: func(context.Context) (*sayso.Presentation, error) {
			return new(present.PlainText("GET " + u.String() + "\nfrom " + hostPort(u))), nil
		},
	}
	var to string
	p := &plan{parts: onePart(part{call: c, ask: ask})}
	p.run = func(ctx context.Context) (r Result, err error) {
		r, to, err = f.get(ctx, u)
		if err != nil {
			err = fmt.Errorf("%s: %s: %w", WebFetch, u, err)
		}
		return r, err
	}
	p.next = func(context.Context) (*plan, error) {
		if to == "" {
			return nil, nil
		}
		return f.follow(c, u, to, n+1)
	}
	return p
}

// follow plans the hop that a redirect leads to, as a call of its own.
func (f *Fetch) follow(c sayso.Call, from address.URL, to string, n int) (*plan, error) {
	if n > f.o.Hops {
		return nil, fmt.Errorf("%s: %w: more than %d redirects", WebFetch, sayso.ErrNotAllowed, max(f.o.Hops, 0))
	}
	text, err := target(from, to)
	var u address.URL
	if err == nil {
		u, err = f.read(text)
	}
	if err == nil {
		c.Args, err = jcs.Marshal(fetchArgs{u.String()})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: redirect from %s: %w", WebFetch, from, err)
	}
	if c.CallID != "" {
		base, _, _ := strings.Cut(c.CallID, "/hop-")
		c.CallID = base + "/hop-" + strconv.Itoa(n)
	}
	return f.hop(c, u, n), nil
}

// target is the URL that a Location header stands for.
func target(from address.URL, to string) (string, error) {
	base, err := url.Parse(from.String())
	if err != nil {
		return "", fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	ref, err := url.Parse(to)
	if err != nil {
		return "", fmt.Errorf("%w: its target cannot be read", sayso.ErrInvalid)
	}
	if ref.Scheme != "" {
		return to, nil // as it is written: nothing is tidied before it is judged
	}
	if strings.Contains(to, `\`) {
		return "", fmt.Errorf("%w: its target holds a backslash", sayso.ErrInvalid)
	}
	return base.ResolveReference(ref).String(), nil
}

// get sends one request, to an address that was looked at, and returns the page
// or where it redirects to.
func (f *Fetch) get(ctx context.Context, u address.URL) (r Result, to string, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	addrs, err := f.lookUp(ctx, u)
	if err != nil {
		return r, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return r, "", err
	}
	req.Header.Set("User-Agent", f.o.Agent)
	req.Header.Set("Accept", "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1")
	client := &http.Client{
		Transport:     f.transport(addrs, u.Port),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return r, "", plainError(err)
	}
	defer resp.Body.Close() // only read
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return Result{Text: "redirects to " + printable(to)}, to, nil
	}
	r, err = f.page(resp)
	return r, "", err
}

// plainError is the error of a request without the URL, which is said already.
func plainError(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// page is what a server answered.
func (f *Fetch) page(resp *http.Response) (Result, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, f.o.Size+1))
	if err != nil {
		return Result{}, fmt.Errorf("after %d bytes: %w", len(body), err)
	}
	more := int64(len(body)) > f.o.Size
	if more {
		body = body[:f.o.Size]
	}
	if !isText(body) || !utf8.Valid(wholeEnd(body)) {
		return Result{Text: fmt.Sprintf("%s\n[%d bytes of %s, which are no text]\n", resp.Status, len(body), printable(resp.Header.Get("Content-Type")))}, nil
	}
	text := string(wholeEnd(body))
	if more {
		text += fmt.Sprintf("\n[cut after %d bytes]\n", len(text))
	}
	if resp.StatusCode >= 400 {
		return Result{}, fmt.Errorf("the server answered %s:\n%s", resp.Status, text)
	}
	return Result{Text: text}, nil
}

// lookUp returns the addresses of a host, all of which may be connected to.
func (f *Fetch) lookUp(ctx context.Context, u address.URL) ([]netip.Addr, error) {
	var addrs []netip.Addr
	var err error
	if ip, literal := netip.ParseAddr(u.Host); literal == nil {
		addrs = []netip.Addr{ip}
	} else if addrs, err = f.o.Resolve(ctx, u.Host); err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("%w: %s has no address", sayso.ErrNotFound, u.Host)
	}
	for _, ip := range addrs {
		if address.Local(ip) && !f.local[hostPort(u)] {
			return nil, f.refuse(u, ip.String())
		}
	}
	return addrs, nil
}

// transport connects to the given addresses and to nothing else, whatever the
// name of the host would lead to by now.
func (f *Fetch) transport(addrs []netip.Addr, port int) *http.Transport {
	t := &http.Transport{
		DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 256 << 10,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			d := net.Dialer{Timeout: max(f.o.Timeout/time.Duration(len(addrs)), time.Second)}
			var errs []error
			for _, ip := range addrs {
				c, err := d.DialContext(ctx, network, netip.AddrPortFrom(ip.Unmap(), uint16(port)).String())
				if err == nil {
					return c, nil
				}
				errs = append(errs, err)
			}
			return nil, errors.Join(errs...)
		},
	}
	if f.o.Roots != nil {
		t.TLSClientConfig = tlsWith(f.o.Roots)
	}
	return t
}
