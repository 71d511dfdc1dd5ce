package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// What is asked to listen on IPv4 listens there, and nowhere else.
func TestServe_listensWhereItWasTold(t *testing.T) {
	a := demoApp()
	a.settings.Listen = "0.0.0.0:0"
	l, err := a.listenAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if at := l.Addr().String(); !strings.HasPrefix(at, "0.0.0.0:") {
		t.Errorf("it listens on %s", at)
	}
}

// certify writes a certificate for a name that ends at a time, and its key.
func certify(t testing.TB, dir, name string, serial int64, ends time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: ends.Add(-48 * time.Hour), NotAfter: ends, IsCA: true, BasicConstraintsValid: true,
	}
	text, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: text}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		// Replaced as those do that renew certificates: a new file under the old name.
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path+".new", pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
}

// said is what a server writes, line by line.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	grew chan struct{}
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.grew <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

// find waits until something was said, and returns its first group.
func (s *said) find(t *testing.T, pattern string) string {
	t.Helper()
	re, late := regexp.MustCompile(pattern), time.After(time.Minute)
	for {
		s.mu.Lock()
		found, all := re.FindSubmatch(s.text.Bytes()), s.text.String()
		s.mu.Unlock()
		if found != nil {
			return string(found[len(found)-1])
		}
		select {
		case <-s.grew:
		case <-late:
			t.Fatalf("nobody said %s, but\n%s", pattern, all)
		}
	}
}

// servingTLS runs a server with a certificate for box.lan, and returns the address
// that it listens on and what it says.
func servingTLS(t *testing.T, dir string) (address string, heard *said) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	heard = &said{grew: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{
			"serve", "--home", filepath.Join(dir, "home"), "--listen", "127.0.0.1:0", "--public-url", "https://box.lan",
			"--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"),
		}, strings.NewReader(""), io.Discard, heard)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return heard.find(t, `listening on (127\.0\.0\.1:\d+)`), heard
}

// get asks the server for its health, as a browser would, under a name.
func get(t *testing.T, address, url string, header http.Header) (status int, text string, serial int64) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the name is looked at below
	}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.TLS == nil {
		return resp.StatusCode, string(body), 0
	}
	shown := resp.TLS.PeerCertificates[0]
	if err := shown.VerifyHostname("box.lan"); err != nil || resp.TLS.Version < tls.VersionTLS13 {
		t.Errorf("shown: %v, version %x", err, resp.TLS.Version)
	}
	return resp.StatusCode, string(body), shown.SerialNumber.Int64()
}

func TestServe_withItsOwnCertificate(t *testing.T) {
	dir := t.TempDir()
	certify(t, dir, "box.lan", 1, time.Now().Add(time.Hour))
	at, heard := servingTLS(t, dir)
	for _, c := range []struct {
		name, url string
		header    http.Header
		want      int
	}{
		{"under its name", "https://box.lan/v1/head", nil, 401},
		{"from its own page", "https://box.lan/v1/head", http.Header{"Origin": {"https://box.lan"}}, 401},
		{"under another name", "https://evil.example/v1/head", nil, 403},
		{"from another page", "https://box.lan/v1/head", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"from its own page without TLS", "https://box.lan/v1/head", http.Header{"Origin": {"http://box.lan"}}, 403},
		{"without TLS", "http://box.lan/v1/head", nil, 400},
		{"what is this machine's alone", "https://box.lan/metrics", nil, 401},
	} {
		if got, text, _ := get(t, at, c.url, c.header); got != c.want {
			t.Errorf("%s: %d %s, want %d", c.name, got, text, c.want)
		}
	}

	certify(t, dir, "box.lan", 2, time.Now().Add(time.Hour))
	if _, _, serial := get(t, at, "https://box.lan/", nil); serial != 2 {
		t.Errorf("after the files were replaced, certificate %d is shown", serial)
	}
	for name, wrong := range map[string]func(){
		`valid for evil\.example`: func() { certify(t, dir, "evil.example", 3, time.Now().Add(time.Hour)) },
		`ended on`:                func() { certify(t, dir, "box.lan", 4, time.Now().Add(-time.Hour)) },
		`no such file`:            func() { _ = os.Remove(filepath.Join(dir, "key.pem")) },
	} {
		wrong()
		if _, _, serial := get(t, at, "https://box.lan/", nil); serial != 2 {
			t.Errorf("%s: certificate %d is shown", name, serial)
		}
		heard.find(t, `warning: the certificate was not read again: .*(`+name+`)`)
	}
	certify(t, dir, "box.lan", 5, time.Now().Add(time.Hour))
	if _, _, serial := get(t, at, "https://box.lan/", nil); serial != 5 {
		t.Errorf("after the files were mended, certificate %d is shown", serial)
	}
}

func TestServe_refusesCertificates(t *testing.T) {
	for name, c := range map[string]struct {
		host string
		ends time.Duration
		mode os.FileMode
		want string
	}{
		"another name": {"other.lan", time.Hour, 0o600, "valid for other.lan, not box.lan"},
		"at its end":   {"box.lan", -time.Hour, 0o600, "ended on"},
		"an open key":  {"box.lan", time.Hour, 0o644, "chmod 600"},
	} {
		dir := t.TempDir()
		certify(t, dir, c.host, 1, time.Now().Add(c.ends))
		if err := os.Chmod(filepath.Join(dir, "key.pem"), c.mode); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		status := run(t.Context(), []string{
			"serve", "--home", filepath.Join(dir, "home"), "--listen", "127.0.0.1:0", "--public-url", "https://box.lan",
			"--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"),
		}, strings.NewReader(""), io.Discard, &errs)
		if status != exitError || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: %d %s", name, status, errs.String())
		}
	}
}
