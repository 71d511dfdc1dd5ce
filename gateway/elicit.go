package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
)

const (
	elicitMethod = "elicitation/create"
	// elicitDelay is how long a call waits before it is looked whether its client can be
	// asked: most are decided by then, and need no person.
	elicitDelay = 100 * time.Millisecond
	// maxQuestion is how much a person is asked to read in a client, and maxReason
	// how much they may say. What is longer is answered elsewhere.
	maxQuestion = 4000
	maxReason   = 500
	// maxQuestions is how many questions of one conversation are remembered.
	maxQuestions = 256
)

// question is one that was put to the person at the client.
type question struct {
	request sayso.Request
	asked   time.Time
	call    sayso.Digest // in whose answer it stood; zero for one that was a request
	line    []byte
}

// elicitation is the attempt to put a call to the person at its client, while it waits
// for people.
type elicitation struct {
	timer    *time.Timer
	cancel   context.CancelFunc
	done     chan struct{}
	inResult *question // is to stand in the answer to the call
}

// startElicit begins to put a call to the person at its client, if that can be asked.
// aside ends the wait of a call whose question stands in the answer to it.
func (r *Relay) startElicit(ctx context.Context, h *heldCall, aside func()) *elicitation {
	r.mu.Lock()
	form := h.meta.form || !h.meta.current && r.clientForms
	r.mu.Unlock()
	if r.o.Elicits == nil || !form || h.elicited {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &elicitation{cancel: cancel, done: make(chan struct{})}
	p.timer = time.AfterFunc(elicitDelay, func() {
		defer close(p.done)
		r.elicit(ctx, h, p, aside)
	})
	return p
}

// stop ends the attempt. What the client was asked is taken back.
func (p *elicitation) stop() (within *question) {
	if p == nil {
		return nil
	}
	p.cancel()
	if !p.timer.Stop() {
		<-p.done
	}
	return p.inResult
}

// elicit asks the person at the client, if policy permits it.
func (r *Relay) elicit(ctx context.Context, h *heldCall, p *elicitation, aside func()) {
	request, full, err := r.o.Elicits.Elicitable(ctx, r.o.Actor, h.call.Session, h.call.CallID)
	if err != nil || ctx.Err() != nil {
		return
	}
	text, ok := questionText(&request, &full)
	if !ok {
		return
	}
	q := &question{request: request, asked: time.Now()}
	if h.meta.current {
		if q.call, err = h.call.Digest(); err == nil {
			q.line, p.inResult = elicitParams(text), q
			aside()
		}
		return
	}
	id := jsontext.Value(`"sayso-` + rand.Text() + `"`)
	if !r.addQuestion((&message{id: id}).key(), q) {
		return
	}
	_ = r.sendClient(elicitRequest(id, elicitParams(text)))
	<-ctx.Done()
	if r.hasQuestion((&message{id: id}).key()) {
		_ = r.sendClient(cancellation(id))
	}
}

// addQuestion keeps a question until it is answered, unless there are too many.
func (r *Relay) addQuestion(key string, q *question) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, old := range r.questions {
		if time.Since(old.asked) > roundTime && len(r.questions) >= maxQuestions {
			delete(r.questions, k)
		}
	}
	if len(r.questions) >= maxQuestions {
		return false
	}
	r.questions[key] = q
	return true
}

// hasQuestion reports whether a question was not answered. An answer that still comes is
// recorded as one that came too late.
func (r *Relay) hasQuestion(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.questions[key] != nil
}

// handleElicitResult takes what the client answers to a question of ours, and reports whether
// it was one: the server knows nothing of it.
func (r *Relay) handleElicitResult(ctx context.Context, m *message) bool {
	r.mu.Lock()
	q := r.questions[m.key()]
	if q != nil {
		delete(r.questions, m.key())
	}
	r.mu.Unlock()
	if q == nil || !q.call.IsZero() {
		return false
	}
	r.background(&r.reporting, func() { r.recordElicited(ctx, q, m.result) })
	return true
}

// recordElicited records what a person said at the client. A form that was closed, and
// what is no answer, leave the question to be answered elsewhere.
func (r *Relay) recordElicited(ctx context.Context, q *question, answer jsontext.Value) {
	effect, note, ok := readElicitResult(answer)
	if !ok {
		return
	}
	ctx, cancel := enforce.Late(ctx)
	defer cancel()
	if _, err := r.o.Elicits.Elicited(ctx, r.o.Actor, q.request, effect, note, time.Since(q.asked)); err != nil {
		r.o.Note("an answer at the client does not count: " + err.Error())
	}
}

// readElicitResult is what the client answered.
func readElicitResult(answer jsontext.Value) (effect sayso.Effect, note string, ok bool) {
	var a struct {
		Action  string `json:"action"`
		Content struct {
			Decision string `json:"decision"`
			Note     string `json:"note"`
		} `json:"content"`
	}
	if answer.Kind() != '{' || jcs.UnmarshalLenient(answer, &a) != nil {
		return sayso.Deny, "", false
	}
	note = a.Content.Note
	if len(note) > maxReason {
		note = strings.ToValidUTF8(note[:maxReason], "")
	}
	switch {
	case a.Action == "accept" && a.Content.Decision == "allow":
		return sayso.Allow, note, true
	case a.Action == "accept" && a.Content.Decision == "deny", a.Action == "decline":
		return sayso.Deny, note, true
	}
	return sayso.Deny, "", false // cancel, and words that are none
}

// statePrefix begins the states that this gateway makes up.
const statePrefix = "sayso-"

// answerInputRequired answers a call with the question about it; the client makes the call again
// with the answer.
func (r *Relay) answerInputRequired(h *heldCall, q *question) bool {
	state := statePrefix + rand.Text()
	if !r.addQuestion(state, q) {
		return false
	}
	return r.sendClient(resultResponse(h.id, encode(struct {
		Type     string                    `json:"resultType"`
		Requests map[string]jsontext.Value `json:"inputRequests"`
		State    string                    `json:"requestState"`
	}{string(inputRequired), map[string]jsontext.Value{"sayso": encode(struct {
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
	}{elicitMethod, q.line})}, state}))) == nil
}

// takeQuestion takes the answer to a question out of a call that is made again with
// it: what is forwarded is the call without. A state counts once, for the call that
// it was made up for, and for so long.
func (r *Relay) takeQuestion(h *heldCall) (q *question, err error) {
	if !strings.HasPrefix(h.state, statePrefix) {
		return nil, nil
	}
	r.mu.Lock()
	q = r.questions[h.state]
	delete(r.questions, h.state)
	r.mu.Unlock()
	line, err := withoutInput(&h.message)
	if err != nil {
		return nil, err
	}
	m, err := readMessage(line)
	if err != nil {
		return nil, err
	}
	if h.toolCall, err = readCall(m); err != nil {
		return nil, err
	}
	digest, err := h.call.Digest()
	if err != nil || q == nil || q.call.IsZero() || digest != q.call || time.Since(q.asked) > roundTime {
		return nil, err
	}
	return q, nil
}

// withoutInput is a call without what its client put into it for us.
func withoutInput(m *message) ([]byte, error) {
	params := []byte{'{'}
	err := rpc.Members(m.params, nil, func(name string, value jsontext.Value, _ int) error {
		if name == "requestState" || name == "inputResponses" {
			return nil
		}
		if len(params) > 1 {
			params = append(params, ',')
		}
		params = fmt.Appendf(params, "%s:%s", encode(name), value)
		return nil
	})
	return splice(m.line, m.paramsAt, m.paramsAt+len(m.params), append(params, '}')), err
}

// answerIn is what a call says in answer to our question.
func answerIn(responses jsontext.Value) (answer jsontext.Value) {
	if responses.Kind() != '{' {
		return nil
	}
	answer, _, err := memberOf(responses, 0, "sayso")
	if err != nil {
		return nil
	}
	return answer
}

// questionText is the question that a person is asked in a client, if all of it can be
// read there: nothing is cut, and nothing needs a warning.
func questionText(r *sayso.Request, full *sayso.RequestedFull) (string, bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "May the tool %s of %s run?\n", r.Tool, r.Server)
	if r.Titled {
		fmt.Fprintf(&b, "%s\n", r.Description)
	}
	args := jsontext.Value(full.Args)
	if err := args.Indent(); err != nil {
		return "", false
	}
	fmt.Fprintf(&b, "\n%s\n\nAsked by sayso for %s (ticket %s", args, r.Caller, r.ShortID)
	if r.File != "" {
		fmt.Fprintf(&b, ", %s:%d", r.File, r.Line)
	}
	b.WriteString("). Closing this leaves the question open elsewhere.")
	return b.String(), utf8.RuneCountInString(b.String()) <= maxQuestion && len(r.Warnings) == 0 && len(r.Danger) == 0
}

// elicitParams is what a client is asked to show.
func elicitParams(text string) jsontext.Value {
	return encode(struct {
		Message string         `json:"message"`
		Schema  jsontext.Value `json:"requestedSchema"`
	}{text, jsontext.Value(`{"type":"object","properties":{"decision":{"type":"string","title":"Decision","description":"allow: this call, once","enum":["deny","allow"]},` +
		`"note":{"type":"string","title":"Note","description":"What the model is told if it is denied","maxLength":500}},"required":["decision"]}`)})
}

// elicitRequest is a request to the client.
func elicitRequest(id, params jsontext.Value) []byte {
	return encode(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Method  string         `json:"method"`
		Params  jsontext.Value `json:"params"`
	}{"2.0", id, elicitMethod, params})
}
