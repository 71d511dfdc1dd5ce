//go:build unix

package machine

import (
	"bufio"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server is `sayso serve` on the machine.
type Server struct {
	cmd  *exec.Cmd
	Addr string // of its loopback port; empty if it has none

	mu   sync.Mutex
	said strings.Builder
	done chan struct{}
}

// Serve starts a server and waits until it listens. listen is an address, or
// none for the socket alone.
func (m *Machine) Serve(listen string, more ...string) *Server {
	m.t.Helper()
	s := &Server{cmd: m.Command(append([]string{"serve", "--listen", listen}, more...)...), done: make(chan struct{})}
	out, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	want := 1
	if listen != "none" {
		want = 2
	}
	ready := make(chan bool, 1)
	go func() { // ends with the server
		defer close(s.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, addr, ok := strings.Cut(lines.Text(), "listening on "); ok {
				if strings.Contains(addr, ":") {
					s.Addr = addr
				}
				if want--; want == 0 {
					ready <- true
				}
			}
			s.mu.Lock()
			s.said.WriteString(lines.Text() + "\n")
			s.mu.Unlock()
		}
		_ = s.cmd.Wait() // how it ended is not asked
	}()
	m.t.Cleanup(s.Kill)
	select {
	case <-ready:
	case <-s.done:
		m.t.Fatalf("the server ended: %s", s.Said())
	case <-time.After(time.Minute):
		m.t.Fatalf("the server does not listen: %s", s.Said())
	}
	return s
}

// Said is what the server printed so far.
func (s *Server) Said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// Signal sends the server a signal, and waits for nothing.
func (s *Server) Signal(sig syscall.Signal) { _ = s.cmd.Process.Signal(sig) } // it may have ended by itself

// End sends the server a signal and waits for its end.
func (s *Server) End(sig syscall.Signal) {
	_ = s.cmd.Process.Signal(sig) // it may have ended by itself
	<-s.done
}

// Kill kills the server.
func (s *Server) Kill() { s.End(syscall.SIGKILL) }
