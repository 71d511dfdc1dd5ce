package outbox

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sayso-dev/sayso/inspect/address"
)

// Failure says why a notice was not delivered, in words of ours: what a target
// answers, and where it is, may hold secrets and is told to nobody.
type Failure struct {
	Why   string
	Final bool          // it need not be tried again
	After time.Duration // for which the target asks to be left alone
}

func (f *Failure) Error() string { return f.Why }

// patience is how long a target may take.
const patience = 15 * time.Second

// newClient makes a client that goes where it is sent and nowhere else.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: Proxy, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
			DialContext: (&net.Dialer{Timeout: patience}).DialContext, TLSHandshakeTimeout: patience, ExpectContinueTimeout: time.Second,
		},
	}
}

// Proxy is what stands before a target by the environment: before this machine nothing
// does, whose name the rule of the environment knows in lower case alone.
func Proxy(r *http.Request) (*url.URL, error) {
	if _, here := address.Loopback(r.URL.Host); here {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// post sends a message to a webhook. Of the answer nothing but the status is
// read.
func post(ctx context.Context, client *http.Client, where, secrets, id string, at time.Time, body []byte) error {
	if !mayGo(where) {
		return &Failure{Why: "the address is none that begins with https://, or leads to this machine"}
	}
	signature, err := signatures(secrets, id, at, body)
	if err != nil {
		return &Failure{Why: err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, where, bytes.NewReader(body))
	if err != nil {
		return &Failure{Why: "the address cannot be read"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "sayso")
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	req.Header.Set("Webhook-Signature", signature)
	resp, err := client.Do(req)
	if err != nil {
		return &Failure{Why: because(err)}
	}
	_ = resp.Body.Close() // what it says is not read
	return judge(resp)
}

// mayGo reports whether a notice may go to an address: encrypted, or to this
// machine.
func mayGo(where string) bool {
	u, err := url.Parse(where)
	if err != nil || u.Host == "" {
		return false
	}
	_, loopback := address.Loopback(u.Host)
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}

// judge says what a status means.
func judge(resp *http.Response) error {
	f := &Failure{Why: "it answered with status " + strconv.Itoa(resp.StatusCode)}
	switch status := resp.StatusCode; {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		f.Why += ", which leads elsewhere; notices go to the address that was configured alone"
	case status == http.StatusGone:
		f.Why, f.Final = f.Why+", which says that it wants no more", true
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		if s, err := strconv.ParseUint(strings.TrimSpace(resp.Header.Get("Retry-After")), 10, 20); err == nil {
			f.After = time.Duration(s) * time.Second
		}
	}
	return f
}

// because says what went wrong without saying where.
func because(err error) string {
	var certificate *tls.CertificateVerificationError
	var dns *net.DNSError
	var errno syscall.Errno
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("it did not answer within %s", patience)
	case errors.As(err, &certificate):
		return "its certificate does not hold"
	case errors.As(err, &dns):
		return "its name is not known"
	case errors.As(err, &errno):
		return "no connection: " + errno.Error()
	}
	return "what came back is not HTTP, or broke off"
}
