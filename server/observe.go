package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/status"
)

// observer is who follows the log for the metrics and the log lines. It only
// ever reads.
var observer = sayso.Actor{Principal: "sayso", Kind: sayso.PrincipalAdmin, Channel: "broker"}

// observedTypes are the types of events that metrics are made from, and what tells
// that something is to be forgotten. Requests are
// followed for their log line alone: they are the largest events, and their
// ids tell when they were made.
var observedTypes = []sayso.EventType{
	sayso.EventResolved, sayso.EventExpired, sayso.EventWithdrawn, sayso.EventParked, sayso.EventTaken, sayso.EventContentErased,
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
	w := eventObserver{s: s, m: s.metrics, tools: map[sayso.ID]string{}, interrupted: map[sayso.ID]bool{}}
	types := observedTypes
	if s.log.Enabled(ctx, slog.LevelInfo) {
		types = append([]sayso.EventType{sayso.EventRequested}, types...)
	}
	for e, err := range inbox.Follow(ctx, head.Seq, sayso.EventQuery{Types: types}) {
		if err != nil {
			return err
		}
		w.observe(ctx, &e)
	}
	return errLogEnded
}

// eventObserver turns events into metrics and log lines.
type eventObserver struct {
	s           *Server
	m           *metrics
	tools       map[sayso.ID]string // of requests that have their first log line
	interrupted map[sayso.ID]bool   // requests whose caller went away
}

func (w *eventObserver) observe(ctx context.Context, e *sayso.Event) {
	switch e.Type {
	case sayso.EventRequested:
		w.requested(ctx, e)
	case sayso.EventResolved:
		w.resolved(ctx, e)
	case sayso.EventExpired, sayso.EventWithdrawn:
		state := string(e.Type[len("approval."):])
		w.m.unanswered.WithLabelValues(state).Inc()
		w.m.callDecided(true)
		w.logDecision(ctx, e, state)
	case sayso.EventParked:
		var p sayso.Parked
		if jcs.UnmarshalLenient(e.Payload, &p) == nil && p.Cause != sayso.ParkedPatience && !w.interrupted[e.RequestID] {
			w.interrupted[e.RequestID] = true
			w.m.interrupted.Inc()
		}
	case sayso.EventTaken:
		if w.interrupted[e.RequestID] {
			delete(w.interrupted, e.RequestID)
			w.m.recovered.Inc()
		}
	case sayso.EventContentErased:
		w.s.eventCache.forget(e.Seq) // whoever erased it
	}
}

func (w *eventObserver) requested(ctx context.Context, e *sayso.Event) {
	var p struct {
		Tool string `json:"tool"`
	}
	if jcs.UnmarshalLenient(e.Payload, &p) != nil {
		return
	}
	w.tools[e.RequestID] = p.Tool
	w.s.log.InfoContext(ctx, "requested", "session", e.SessionID, "call", e.CallID, "tool", p.Tool, "request", e.RequestID)
}

func (w *eventObserver) resolved(ctx context.Context, e *sayso.Event) {
	var p struct {
		Effect sayso.Effect `json:"effect"`
		Source sayso.Source `json:"source"`
		Cause  sayso.Cause  `json:"cause"`
	}
	if jcs.UnmarshalLenient(e.Payload, &p) != nil {
		return
	}
	effect := p.Effect.String()
	w.m.decisions.WithLabelValues(sourceLabel(p.Source), effect, causeLabel(p.Cause)).Inc()
	w.m.callDecided(p.Source == sayso.SourcePerson || p.Source == sayso.SourceDeadline)
	if p.Source == sayso.SourcePerson {
		w.m.response.WithLabelValues(effect).Observe(responseTime(e).Seconds())
	}
	w.logDecision(ctx, e, effect)
}

// responseTime is the time from a request to the event that ended it.
func responseTime(e *sayso.Event) time.Duration { return max(e.At.Wall.Sub(e.RequestID.Time()), 0) }

// logDecision is the one line for a decision: never what was asked.
func (w *eventObserver) logDecision(ctx context.Context, e *sayso.Event, decision string) {
	tool := w.tools[e.RequestID]
	delete(w.tools, e.RequestID)
	delete(w.interrupted, e.RequestID)
	if !w.s.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	log := w.s.log.With("session", e.SessionID, "call", e.CallID)
	if tool != "" { // it was asked before this server ran
		log = log.With("tool", tool)
	}
	log.InfoContext(ctx, "resolved", "request", e.RequestID, "decision", decision, "response_ms", responseTime(e).Milliseconds())
}

// sourceLabel keeps the label to the sources there are.
func sourceLabel(src sayso.Source) string {
	switch src {
	case sayso.SourcePolicy, sayso.SourcePerson, sayso.SourceGrant, sayso.SourceMode, sayso.SourceDeadline:
		return string(src)
	}
	return "other"
}

// causeLabel keeps the label to the causes there are.
func causeLabel(c sayso.Cause) string {
	switch c {
	case sayso.CauseRule, sayso.CauseDefault, sayso.CauseToolRequired, sayso.CauseToolOptional,
		sayso.CauseNotUnderstood, sayso.CauseSession, sayso.CauseBuiltin:
		return string(c)
	}
	return "other"
}

// openRequestCollector counts the open requests by age, when somebody wants to know.
type openRequestCollector struct {
	desc, truncated *prometheus.Desc
	count           func(context.Context) (status.Open, error)
}

// newOpenRequestCollector is the metric of the requests behind a door.
func newOpenRequestCollector(door func(sayso.Actor) (sayso.Gate, sayso.Inbox)) *openRequestCollector {
	return &openRequestCollector{
		desc:      prometheus.NewDesc(openRequestsName, "Requests that wait for people, by age.", []string{"age"}, nil),
		truncated: prometheus.NewDesc(openRequestsName+"_cut", "1 if more requests wait for people than are counted.", nil, nil),
		count: func(ctx context.Context) (status.Open, error) {
			_, inbox := door(observer)
			return status.Waiting(ctx, inbox, time.Now())
		},
	}
}

// Describe implements [prometheus.Collector].
func (o *openRequestCollector) Describe(ch chan<- *prometheus.Desc) { ch <- o.desc; ch <- o.truncated }

// Collect implements [prometheus.Collector].
func (o *openRequestCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	open, err := o.count(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(o.desc, err)
		return
	}
	cut := 0.0
	if open.Cut {
		cut = 1
	}
	ch <- prometheus.MustNewConstMetric(o.truncated, prometheus.GaugeValue, cut)
	for _, a := range open.Ages {
		ch <- prometheus.MustNewConstMetric(o.desc, prometheus.GaugeValue, float64(a.Count), a.Age)
	}
}
