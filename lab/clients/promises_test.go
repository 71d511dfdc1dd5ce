package clients_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/server"
	"github.com/sayso-dev/sayso/store/memory"
)

// python is the process of the client for Python.
func python(t testing.TB) *bridge {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3; type: apt-get install python3")
	}
	return start(t, "Python", "python3", "driver.py")
}

func TestPromises_inPython(t *testing.T) { promises(t, python(t)) }

// promises has the promises of Gate and Inbox tested through a client, half of
// them over a Unix socket.
func promises(t *testing.T, b *bridge) {
	saysotest.TestGateInbox(t, func(t *testing.T, p sayso.Policy) saysotest.Doors {
		log := memory.New(nil)
		engine, err := broker.New(log, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { engine.Close(); log.Close() })
		network, address := "tcp", "127.0.0.1:0"
		if len(t.Name())%2 == 0 {
			network, address = "unix", filepath.Join(t.TempDir(), "s")
		}
		return serve(t, engine, network, address, b)
	})
}

// serve puts a server before an engine, and clients of another language before
// the server.
func serve(t *testing.T, engine *broker.Broker, network, address string, b *bridge) saysotest.Doors {
	t.Helper()
	var mu sync.Mutex
	actors := map[string]sayso.Actor{}
	s, err := server.New(func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return engine.Gate(a), engine.Inbox(a) },
		&server.Options{Authenticate: func(token string) (sayso.Actor, error) {
			mu.Lock()
			defer mu.Unlock()
			if a, ok := actors[token]; ok {
				return a, nil
			}
			return sayso.Actor{}, errors.New("no such token")
		}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }() // ends below
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	base := address
	if network == "tcp" {
		base = "http://" + listener.Addr().String()
	}
	return func(a sayso.Actor) (sayso.Gate, sayso.Inbox) {
		mu.Lock()
		defer mu.Unlock()
		token := "sayso_" + string(a.Kind) + "_" + a.Principal
		actors[token] = a
		d := &driven{b: b, address: base, token: token, retry: 30 * time.Second, wrong: t.Errorf}
		return d, d
	}
}
