package gateway

import (
	"context"
	"net/http"
	"time"
)

// A session is the party of a server that speaks HTTP, behind a [Front].

func (s *session) life() context.Context { return s.ctx }

func (s *session) runs(do func()) { s.work.Go(do) }

func (s *session) says(w *remoteWay) *Relay { return s.talk.between(toClient{s, w.home}, w) }

// awaits reports whether a request is not answered yet, by whomever it was made: the
// client, or a task.
func (s *session) awaits(m *message) bool {
	call, here := s.talk.awaits(m)
	return !here && (call || s.asks(m))
}

// wants reports whether a request is not answered yet, nor cancelled.
func (s *session) wants(m *message) bool {
	if !s.awaits(m) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.open[m.key()]
	return st == nil || !st.unwanted
}

// turned has the client come back for the answer, as the server has us.
func (s *session) turned(m *message, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.open[m.key()]; st != nil {
		st.comeBack(after)
	}
}

// reached leaves it to the answer to the client.
func (s *session) reached(w *remoteWay, resp *http.Response, err error) { w.up.heard(s.ctx, resp, err) }

// refused has the client's request answered as the server did.
func (s *session) refused(w *remoteWay, resp *http.Response) {
	status := resp.StatusCode
	var demand []string
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		if !w.up.PassAuthorization {
			status = http.StatusBadGateway // what is wrong is not with the client
			break
		}
		for _, what := range resp.Header["Www-Authenticate"] {
			demand = append(demand, string(w.up.without([]byte(what))))
		}
	case status/100 != 4:
		status = http.StatusBadGateway
	}
	w.home.refuse(status, demand)
	if resp.StatusCode == http.StatusNotFound && !s.alone() && w.session() != "" {
		s.end("The server ended the session.")
	}
}

// forgotten leaves it to the client to begin another session.
func (s *session) forgotten(*remoteWay, *message, string) sequel { return isRefused }
