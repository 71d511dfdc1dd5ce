package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// observer is who follows the log for the metrics and the log lines. It only
// ever reads.
var observer = sayso.Actor{Principal: "sayso", Kind: sayso.PrincipalAdmin, Channel: "broker"}

// observed are the types of events that metrics are made from.
var observed = []sayso.EventType{
	sayso.EventRequested, sayso.EventResolved, sayso.EventExpired, sayso.EventWithdrawn, sayso.EventParked, sayso.EventTaken,
}

// Observe follows the log until ctx ends, for the metrics and for one line in
// the log for each request that people are asked about and each decision.
// [Server.Serve] does this by itself.
func (s *Server) Observe(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.observe(ctx)
		if ctx.Err() != nil {
			return
		}
		s.log.WarnContext(ctx, "metrics stand still", "error", err)
		pause := time.NewTimer(time.Second)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

func (s *Server) observe(ctx context.Context) error {
	_, inbox := s.door(observer)
	head, err := inbox.Head(ctx)
	if err != nil {
		return err
	}
	open, err := inbox.Requests(ctx, sayso.RowQuery{States: openOnly, Oldest: true, Limit: 10_000})
	if err != nil {
		return err
	}
	s.metrics.board.begin(open)
	w := watcher{s: s, b: s.metrics.board, m: s.metrics}
	for e, err := range inbox.Follow(ctx, head.Seq, sayso.EventQuery{Types: observed}) {
		if err != nil {
			return err
		}
		w.see(ctx, &e)
	}
	return errEnded
}

// watcher turns events into metrics and log lines.
type watcher struct {
	s *Server
	b *board
	m *metrics
}

// openAsk is what is kept of an open request.
type openAsk struct {
	at          time.Time
	tool        string
	interrupted bool
}

func (w *watcher) see(ctx context.Context, e *sayso.Event) {
	switch e.Type {
	case sayso.EventRequested:
		w.requested(ctx, e)
	case sayso.EventResolved:
		w.resolved(ctx, e)
	case sayso.EventExpired, sayso.EventWithdrawn:
		state := string(e.Type[len("approval."):])
		w.m.unanswered.WithLabelValues(state).Inc()
		ask, _ := w.b.close(e.RequestID)
		w.asked()
		w.line(ctx, e, ask, state)
	case sayso.EventParked:
		var p sayso.Parked
		if jcs.UnmarshalLenient(e.Payload, &p) == nil && p.Cause != sayso.ParkedPatience && w.b.interrupt(e.RequestID, true) {
			w.m.interrupted.Inc()
		}
	case sayso.EventTaken:
		if w.b.interrupt(e.RequestID, false) {
			w.m.recovered.Inc()
		}
	}
}

func (w *watcher) requested(ctx context.Context, e *sayso.Event) {
	var p struct {
		Tool string `json:"tool"`
	}
	if jcs.UnmarshalLenient(e.Payload, &p) != nil {
		return
	}
	w.m.calls.Inc()
	w.b.open(e.RequestID, openAsk{at: e.At.Wall, tool: p.Tool})
	if w.s.log.Enabled(ctx, slog.LevelInfo) {
		w.s.log.InfoContext(ctx, "requested", "session", e.SessionID, "call", e.CallID, "tool", p.Tool, "request", e.RequestID)
	}
}

func (w *watcher) resolved(ctx context.Context, e *sayso.Event) {
	var p sayso.Resolved
	if jcs.UnmarshalLenient(e.Payload, &p) != nil {
		return
	}
	ask, known := w.b.close(e.RequestID)
	effect := p.Effect.String()
	w.m.decisions.WithLabelValues(word(p.Source), effect, causeWord(p.Cause)).Inc()
	if p.Source == sayso.SourcePerson || p.Source == sayso.SourceDeadline {
		w.asked()
	}
	if p.Source == sayso.SourcePerson && known {
		w.m.response.WithLabelValues(effect).Observe(max(e.At.Wall.Sub(ask.at), 0).Seconds())
	}
	w.line(ctx, e, ask, effect)
}

// asked notes that people were asked about a call.
func (w *watcher) asked() {
	w.m.prompts.Inc()
	w.b.prompt()
}

// line is the one line for a decision: never what was asked.
func (w *watcher) line(ctx context.Context, e *sayso.Event, ask openAsk, decision string) {
	if !w.s.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	took := int64(0)
	if !ask.at.IsZero() {
		took = max(e.At.Wall.Sub(ask.at), 0).Milliseconds()
	}
	w.s.log.InfoContext(ctx, "resolved", "session", e.SessionID, "call", e.CallID, "tool", ask.tool, "request", e.RequestID,
		"decision", decision, "response_ms", took)
}

// word keeps the label to the sources there are.
func word(src sayso.Source) string {
	switch src {
	case sayso.SourcePolicy, sayso.SourcePerson, sayso.SourceGrant, sayso.SourceMode, sayso.SourceDeadline:
		return string(src)
	}
	return "other"
}

// causeWord keeps the label to the causes there are.
func causeWord(c sayso.Cause) string {
	switch c {
	case sayso.CauseRule, sayso.CauseDefault, sayso.CauseToolRequired, sayso.CauseToolOptional,
		sayso.CauseNotUnderstood, sayso.CauseSession, sayso.CauseBuiltin:
		return string(c)
	}
	return "other"
}

// board knows which requests are open, and since when.
type board struct {
	age *prometheus.Desc

	mu    sync.Mutex
	asks  map[sayso.ID]openAsk
	calls float64
	asked float64
}

func newBoard() *board {
	return &board{
		age:  prometheus.NewDesc(openRequestsName, "Requests that wait for people, by age.", []string{"age"}, nil),
		asks: map[sayso.ID]openAsk{},
	}
}

// begin starts over with the requests that are open.
func (b *board) begin(open []sayso.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asks = make(map[sayso.ID]openAsk, len(open))
	for i := range open {
		b.asks[open[i].ID] = openAsk{at: open[i].CreatedAt, tool: open[i].Tool}
	}
}

func (b *board) open(id sayso.ID, ask openAsk) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	b.asks[id] = ask
}

func (b *board) close(id sayso.ID) (openAsk, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ask, ok := b.asks[id]
	delete(b.asks, id)
	return ask, ok
}

// interrupt notes whether a request is without its caller, and reports whether
// that is new.
func (b *board) interrupt(id sayso.ID, on bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	ask, ok := b.asks[id]
	if !ok || ask.interrupted == on {
		return false
	}
	ask.interrupted = on
	b.asks[id] = ask
	return true
}

func (b *board) prompt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
}

func (b *board) promptRate() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls == 0 {
		return 0
	}
	return 100 * b.asked / b.calls
}

// ages are the bounds by which open requests are counted.
var ages = []struct {
	name string
	most time.Duration
}{{"1m", time.Minute}, {"10m", 10 * time.Minute}, {"1h", time.Hour}, {"1d", 24 * time.Hour}, {"older", 1<<63 - 1}}

// Describe implements [prometheus.Collector].
func (b *board) Describe(ch chan<- *prometheus.Desc) { ch <- b.age }

// Collect implements [prometheus.Collector].
func (b *board) Collect(ch chan<- prometheus.Metric) {
	counts := make([]float64, len(ages))
	now := time.Now()
	b.mu.Lock()
	for _, ask := range b.asks {
		for i, a := range ages {
			if now.Sub(ask.at) <= a.most {
				counts[i]++
				break
			}
		}
	}
	b.mu.Unlock()
	for i, a := range ages {
		ch <- prometheus.MustNewConstMetric(b.age, prometheus.GaugeValue, counts[i], a.name)
	}
}
