package gateway

import (
	"context"
	"net/http"
	"time"
)

// A session is the requester of a server that speaks HTTP, behind a [Handler].

func (s *session) baseContext() context.Context { return s.ctx }

func (s *session) spawn(do func()) { s.wg.Go(do) }

func (s *session) relayFor(w *httpSender) *Relay {
	return s.conv.newRelay(streamSender{s, w.stream}, w)
}

// watch looks after a request that is sent now, by whomever it was made: the client, or a
// task.
func (s *session) watch(m *message) (isOpen func() bool) {
	call, _ := s.conv.callState(m)
	sent := s.unansweredStream(m)
	return func() bool {
		now, here := s.conv.callState(m)
		return !here && (call != nil && now == call || sent != nil && s.unansweredStream(m) == sent)
	}
}

// isWanted reports whether a request is not answered yet, nor cancelled.
func (s *session) isWanted(m *sentRequest) bool {
	if !m.isOpen() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.open[m.key()]
	return st == nil || !st.cancelled
}

// handleStreamClosed has the client reconnect for the answer, as the server has us.
func (s *session) handleStreamClosed(m *message, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.open[m.key()]; st != nil {
		st.askReconnect(after)
	}
}

// handleResponse leaves it to the answer to the client.
func (s *session) handleResponse(w *httpSender, resp *http.Response, err error) {
	w.up.recordAnswered(s.ctx, resp, err)
}

// handleRejected has the client's request answered as the server did.
func (s *session) handleRejected(w *httpSender, resp *http.Response) {
	status := resp.StatusCode
	var demand []string
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		if !w.up.PassAuthorization {
			status = http.StatusBadGateway // what is wrong is not with the client
			break
		}
		for _, what := range resp.Header["Www-Authenticate"] {
			demand = append(demand, string(w.up.redactSecrets([]byte(what))))
		}
	case status/100 != 4:
		status = http.StatusBadGateway
	}
	w.stream.setError(status, demand)
	if resp.StatusCode == http.StatusNotFound && !s.isStateless() && w.sessionID() != "" {
		s.end("The server ended the session.")
	}
}

// handleSessionLost leaves it to the client to begin another session.
func (s *session) handleSessionLost(*httpSender, *sentRequest, string) recovery { return notRecovered }
