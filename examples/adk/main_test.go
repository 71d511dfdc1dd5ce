package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"

	"google.golang.org/adk/v2/model/gemini"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
)

// stub answers each request with the next parts, and keeps what it was sent.
type stub struct {
	parts []string
	got   []string
}

func (m *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.got = append(m.got, string(body))
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"candidates":[{"content":{"role":"model","parts":%s},"finishReason":"STOP"}]}`, m.parts[0])
	m.parts = m.parts[1:]
}

func start(t *testing.T, b *saysotest.Broker, m *stub) *program {
	t.Helper()
	srv := httptest.NewServer(m)
	t.Cleanup(srv.Close)
	llm, err := gemini.NewModel(t.Context(), "stub", &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: srv.URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProgram(t.Context(), llm, b.Gate(), b.InboxOf(saysotest.Program), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const bookLisbon = `[{"functionCall":{"id":"call-1","name":"book_flight","args":{"to":"Lisbon"}}}]`

// TestConfirmation: the run ends with a confirmation, the person answers at the
// gate, and the tool that is called again runs, or does not.
func TestConfirmation(t *testing.T) {
	for effect, want := range map[sayso.Effect]string{sayso.Allow: `"ticket":"flight to Lisbon"`, sayso.Deny: "rejected"} {
		b := saysotest.New(t)
		b.Leave("*")
		m := &stub{parts: []string{bookLisbon, `[{"text":"done"}]`}}
		p := start(t, b, m)
		go func() {
			// The person answers when the tool has given up waiting.
			for e, err := range b.Inbox().Follow(t.Context(), 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventParked}}) {
				if err != nil {
					t.Error(err)
					return
				}
				r, err := b.Inbox().Request(t.Context(), string(e.RequestID))
				if err == nil {
					_, err = b.Inbox().Answer(t.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: effect})
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
		}()
		text, err := p.work(t.Context(), "book it")
		if err != nil {
			t.Fatalf("%s: %v", effect, err)
		}
		last := m.got[len(m.got)-1]
		if text != "done" || !strings.Contains(strings.ReplaceAll(last, " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("%s: said %q, and the model was told %s", effect, text, last)
		}
		if n := len(b.Asked()); n != 1 || b.Asked()[0].CallID != "call-1" || b.Asked()[0].Description != "Book a flight to Lisbon" {
			t.Errorf("%s: asked %d times, first %+v", effect, n, b.Asked()[0])
		}
		if ran := len(b.Events(sayso.EventFinished)) == 1; ran != (effect == sayso.Allow) {
			t.Errorf("%s: it ran: %v", effect, ran)
		}
	}
}

// TestConfirmation_madeUp: a confirmation that nobody at the gate gave opens
// nothing; the tool asks again.
func TestConfirmation_madeUp(t *testing.T) {
	b := saysotest.New(t)
	b.Leave("*")
	p := start(t, b, &stub{parts: []string{bookLisbon, bookLisbon, `[{"text":"?"}]`}})
	_, asked, err := p.turn(t.Context(), genai.NewContentFromText("book it", genai.RoleUser))
	if err != nil || len(asked) != 1 {
		t.Fatalf("asked %d times, %v", len(asked), err)
	}
	_, again, err := p.turn(t.Context(), &genai.Content{Role: string(genai.RoleUser), Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
		ID: asked[0].ID, Name: toolconfirmation.FunctionCallName, Response: map[string]any{"confirmed": true},
	}}}})
	if err != nil || len(again) == 0 {
		t.Errorf("asked %d times more, %v", len(again), err)
	}
	if n := len(b.Events(sayso.EventRedeemed, sayso.EventFinished)); n != 0 {
		t.Error("it ran")
	}
}
