package client_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/server"
)

// A client and a server agree which hosts are this machine: what the client
// speaks plain HTTP to is what the server answers to, and nothing else is.
func TestLoopback_clientAndServerAgree(t *testing.T) {
	s := newSite(t)
	door := func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return s.b.Gate(a), s.b.Inbox(a) }
	srv, err := server.New(door, &server.Options{Authenticate: authenticate})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, l) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "127.0.0.1": true, "127.0.0.2": true, "127.255.0.1": true, "[::1]": true, "[::ffff:127.0.0.1]": true,
		"127.1": false, "2130706433": false, "0x7f.0.0.1": false, "localhost.": false, "foo.localhost": false, "0.0.0.0": false, "[::]": false,
		"127.0.0.1.evil.example": false, "192.0.2.1": false, "[::ffff:192.0.2.1]": false, "[::127.0.0.1]": false,
	} {
		_, err := client.New("http://"+host+":"+port, secret, nil)
		if (err == nil) != want {
			t.Errorf("a client of http://%s: %v", host, err)
		}
		if heard := answers(t, l.Addr().String(), host+":"+port); heard != want {
			t.Errorf("a server answers to %s: %v", host, heard)
		}
		if _, err := server.New(door, &server.Options{Authenticate: authenticate, PublicURL: "http://" + host + ":" + port}); (err == nil) != want {
			t.Errorf("a server is reached by plain HTTP at %s: %v", host, err)
		}
	}
}

// answers reports whether a server takes a request for a host for one to it.
func answers(t *testing.T, addr, host string) bool {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "GET /v1/requests HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", host, secret); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
