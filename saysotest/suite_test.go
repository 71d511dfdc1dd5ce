package saysotest_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/server"
	"github.com/sayso-dev/sayso/store/memory"
	"github.com/sayso-dev/sayso/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// direct is a broker in this process.
func direct(t *testing.T, p sayso.Policy) saysotest.Doors {
	t.Helper()
	log := memory.New(nil)
	b, err := broker.New(log, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(); log.Close() })
	return func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.Gate(a), b.Inbox(a) }
}

func TestPromises_ofTheBroker(t *testing.T) { saysotest.TestGateInbox(t, direct) }

// TestPromises_onAFile has requesters and people in two processes, as far as
// the file can tell.
func TestPromises_onAFile(t *testing.T) {
	saysotest.TestGateInbox(t, func(t *testing.T, p sayso.Policy) saysotest.Doors {
		path := filepath.Join(t.TempDir(), "home", "sayso.db")
		brokers := [2]*broker.Broker{}
		for i := range brokers {
			log, err := sqlite.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if brokers[i], err = broker.New(log, p, nil); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { brokers[i].Close(); log.Close() })
		}
		return func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return brokers[0].Gate(a), brokers[1].Inbox(a) }
	})
}

func TestPromises_overHTTP(t *testing.T) {
	saysotest.TestGateInbox(t, func(t *testing.T, p sayso.Policy) saysotest.Doors {
		return remote(t, direct(t, p), func(addr, token string) (*client.Client, error) { return client.New(addr, token, nil) })
	})
}

func TestPromises_overAWebSocket(t *testing.T) {
	saysotest.TestGateInbox(t, func(t *testing.T, p sayso.Policy) saysotest.Doors {
		return remote(t, direct(t, p), func(addr, token string) (*client.Client, error) {
			return client.Dial(context.Background(), addr, token, nil)
		})
	})
}

// remote puts a server before the doors, and a client before the server.
func remote(t *testing.T, doors saysotest.Doors, dial func(addr, token string) (*client.Client, error)) saysotest.Doors {
	t.Helper()
	var mu sync.Mutex
	actors := map[string]sayso.Actor{}
	s, err := server.New(doors, &server.Options{Authenticate: func(token string) (sayso.Actor, error) {
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }() // ends below
	clients := map[string]*client.Client{}
	t.Cleanup(func() {
		for _, c := range clients {
			c.Close()
		}
		stop()
		if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return func(a sayso.Actor) (sayso.Gate, sayso.Inbox) {
		mu.Lock()
		defer mu.Unlock()
		token := "sayso_" + string(a.Kind) + "_" + a.Principal
		if clients[token] == nil {
			actors[token] = a
			mu.Unlock()
			c, err := dial("http://"+listener.Addr().String(), token)
			mu.Lock()
			if err != nil {
				t.Fatal(err)
			}
			clients[token] = c
		}
		return clients[token].Gate(), clients[token].Inbox()
	}
}
