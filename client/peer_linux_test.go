package client_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
)

// listenAs listens on a socket as another user, which wants the administrator.
func listenAs(t *testing.T, uid uintptr) (net.Listener, string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("this test listens as another user, which root alone may; type: sudo -E go test ./client")
	}
	dir, err := os.MkdirTemp("/tmp", "peer-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path, keep := filepath.Join(dir, "s"), ^uintptr(0)
	runtime.LockOSThread() // users are a matter of threads to Linux
	defer runtime.UnlockOSThread()
	if _, _, no := unix.RawSyscall(unix.SYS_SETRESUID, keep, uid, keep); no != 0 {
		t.Skip("root may not become another user in this container; start it with docker run --cap-add SETUID, then type: go test ./client")
	}
	l, err := net.Listen("unix", path)
	if _, _, no := unix.RawSyscall(unix.SYS_SETRESUID, keep, 0, keep); no != 0 {
		t.Fatal(no) // and the thread is spoilt
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, path
}

// The attack: another user of the machine gets to the place of the socket first
// and waits for the tokens of those who connect.
func TestClient_saysNothingToAStranger(t *testing.T) {
	l, path := listenAs(t, 65534)
	said := make(chan string, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			text := make([]byte, 4096)
			n, _ := c.Read(text)
			said <- string(text[:n])
			_ = c.Close()
		}
	}()
	refused := func(how string, err error) {
		t.Helper()
		if !errors.Is(err, sayso.ErrUnavailable) || !strings.Contains(err.Error(), "user 65534 listens, not you") {
			t.Errorf("%s: %v", how, err)
		}
		if heard := <-said; heard != "" {
			t.Errorf("%s: a stranger heard %q", how, heard)
		}
	}
	c, err := client.New(path, secret, &client.Options{Wait: true, Retry: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = c.Inbox().Head(ctx)
	refused("a request", err)
	for _, err = range c.Inbox().Follow(ctx, 0, sayso.EventQuery{}) {
		break
	}
	refused("a stream", err)
	_, err = client.Dial(ctx, path, secret, nil)
	refused("a WebSocket", err)
}
