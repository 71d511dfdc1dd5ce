package drive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/saysotest"
)

// server speaks as opencode's does: it asks for permissions, lists those that wait,
// and takes each answer once. The real one is driven in lab/hosts.
type server struct {
	mu      sync.Mutex
	waits   map[string]string // permission: command
	streams chan chan string
	replies chan string
}

func newServer() *server {
	return &server{waits: map[string]string{}, streams: make(chan chan string, 8), replies: make(chan string, 64)}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, password, _ := r.BasicAuth(); password != "secret" {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch id, _ := strings.CutPrefix(r.URL.Path, "/permission/"); {
	case r.URL.Path == "/event":
		s.mu.Unlock()
		s.stream(w, r)
		s.mu.Lock()
	case r.URL.Path == "/permission":
		var all []string
		for id := range s.waits {
			all = append(all, asking(id))
		}
		fmt.Fprintf(w, "[%s]", strings.Join(all, ","))
	case strings.HasSuffix(id, "/reply"):
		id = strings.TrimSuffix(id, "/reply")
		body, _ := io.ReadAll(r.Body)
		if s.waits[id] == "" {
			http.Error(w, `{"_tag":"PermissionNotFoundError"}`, http.StatusNotFound)
			s.replies <- id + " late"
			return
		}
		delete(s.waits, id)
		s.replies <- id + " " + string(body)
		fmt.Fprint(w, "true")
	case strings.Contains(r.URL.Path, "/message/"):
		id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		input, _ := json.Marshal(map[string]string{"command": s.waits["per_"+id]})
		fmt.Fprintf(w, `{"info":{},"parts":[{"type":"tool","tool":"bash","callID":"call_%s","state":{"input":%s}}]}`, id, input)
	case r.URL.Path == "/mcp":
		fmt.Fprint(w, `{}`)
	case r.URL.Path == "/experimental/tool/ids":
		fmt.Fprint(w, `["bash"]`)
	case strings.HasPrefix(r.URL.Path, "/session/"):
		fmt.Fprintf(w, `{"id":%q,"agent":"build"}`, strings.TrimPrefix(r.URL.Path, "/session/"))
	default:
		http.NotFound(w, r)
	}
}

// stream sends what a test puts into it, until it is closed.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	events := make(chan string, 64)
	fmt.Fprint(w, "data: {\"type\":\"server.connected\",\"properties\":{}}\n\n")
	w.(http.Flusher).Flush()
	s.streams <- events
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			fmt.Fprintf(w, "data: %s\n\n", e)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// wait has a permission wait, for a command.
func (s *server) wait(id, command string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits["per_"+id] = command
}

func asking(id string) string {
	n := strings.TrimPrefix(id, "per_")
	return fmt.Sprintf(`{"id":"per_%s","sessionID":"ses_1","permission":"bash","patterns":["x"],"metadata":{},"always":[],"tool":{"messageID":"%s","callID":"call_%s"}}`, n, n, n)
}

func event(id string) string { return `{"type":"permission.asked","properties":` + asking(id) + `}` }

// follow follows a server before a gate.
func follow(t *testing.T, s *server, b *saysotest.Broker, allowed func(callID string) (bool, error)) (stream chan string) {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	if allowed == nil {
		allowed = func(string) (bool, error) { return false, nil }
	}
	o := &drive.Opencode{
		URL: web.URL, Password: "secret", Dir: "/w", Desk: drive.NewDesk(drive.Options{Gate: b.Gate()}),
		Allowed: func(_ context.Context, _, callID string) (bool, error) { return allowed(callID) },
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = o.Follow(ctx, func() {})
	}()
	t.Cleanup(func() { cancel(); <-done; o.Desk.Close(context.Background(), "") })
	return <-s.streams
}

// until waits for an event of a type.
func until(t *testing.T, b *saysotest.Broker, want sayso.EventType) sayso.Event {
	t.Helper()
	for e, err := range b.Inbox().Follow(t.Context(), 0, sayso.EventQuery{Types: []sayso.EventType{want}}) {
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	t.Fatal("the log ended")
	return sayso.Event{}
}

func TestOpencode_answers(t *testing.T) {
	b := saysotest.New(t)
	b.Approve("bash:true*")
	b.Deny("bash:false*", "use make")
	s := newServer()
	stream := follow(t, s, b, func(id string) (bool, error) {
		if id == "call_broken" {
			return true, errors.New("the log cannot be read")
		}
		return id == "call_plugin", nil
	})
	for _, tt := range []struct{ id, command, want string }{
		{"yes", "true", `per_yes {"reply":"once"}`},
		{"no", "false", "use make"},
		{"plugin", "false", `per_plugin {"reply":"once"}`}, // it was allowed there
		{"broken", "true", "Could not find out"},
	} {
		s.wait(tt.id, tt.command)
		stream <- event(tt.id)
		stream <- event(tt.id) // told twice, answered once
		if got := <-s.replies; !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.id, got)
		}
	}
	select {
	case got := <-s.replies:
		t.Errorf("answered twice: %s", got)
	default:
	}
}

// What was asked while nobody followed is in the list.
func TestOpencode_again(t *testing.T) {
	b := saysotest.New(t)
	b.Approve("bash:true*")
	s := newServer()
	stream := follow(t, s, b, nil)
	s.wait("missed", "true")
	close(stream)
	<-s.streams
	if got := <-s.replies; got != `per_missed {"reply":"once"}` {
		t.Errorf("answered %s", got)
	}
}

// Somebody else answers: our request is withdrawn, and a yes that comes later is
// not handed on.
func TestOpencode_othersAnswer(t *testing.T) {
	b := saysotest.New(t)
	opened := make(chan struct{}, 1)
	b.Answer(func(sayso.Request) sayso.Answer {
		opened <- struct{}{}
		<-t.Context().Done() // nobody answers here
		return sayso.Answer{}
	})
	s := newServer()
	stream := follow(t, s, b, nil)
	s.wait("theirs", "true")
	stream <- event("theirs")
	<-opened
	stream <- `{"type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_theirs","reply":"always"}}`
	until(t, b, sayso.EventWithdrawn)
	select {
	case got := <-s.replies:
		t.Errorf("answered all the same: %s", got)
	default:
	}
}

// A call that is over is asked about no more.
func TestOpencode_ended(t *testing.T) {
	b := saysotest.New(t)
	opened := make(chan struct{}, 1)
	b.Answer(func(sayso.Request) sayso.Answer {
		opened <- struct{}{}
		<-t.Context().Done()
		return sayso.Answer{}
	})
	s := newServer()
	stream := follow(t, s, b, nil)
	s.wait("over", "true")
	stream <- event("over")
	<-opened
	stream <- `{"type":"message.part.updated","properties":{"part":{"type":"tool","sessionID":"ses_2","callID":"call_over","state":{"status":"error"}}}}` // of another session
	stream <- `{"type":"message.part.updated","properties":{"part":{"type":"tool","sessionID":"ses_1","callID":"call_over","state":{"status":"error"}}}}`
	until(t, b, sayso.EventWithdrawn)
}

// How a call ended is on its record.
func TestOpencode_outcome(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	s := newServer()
	stream := follow(t, s, b, nil)
	s.wait("ran", "true")
	stream <- event("ran")
	<-s.replies
	for _, session := range []string{"ses_2", "ses_1"} { // the first has a call of the same id
		stream <- fmt.Sprintf(`{"type":"message.part.updated","properties":{"part":{"type":"tool","sessionID":%q,"callID":"call_ran","state":{"status":%q}}}}`,
			session, map[string]string{"ses_1": "completed", "ses_2": "error"}[session])
	}
	if e := until(t, b, sayso.EventFinished); !strings.Contains(string(e.Payload), `"failed":false`) {
		t.Errorf("on the record: %s", e.Payload)
	}
}
