package server

import "context"

// Span is what a trace keeps of one request: the route and the status, and
// nothing of what was asked.
type Span struct {
	Route  string
	Status int
}

// Trace begins the part of a trace that is spent in this server, within the
// trace that the request's traceparent names (W3C Trace Context; empty for
// none), and returns the context to go on with and what ends it. With
// OpenTelemetry it is a Start and an End of its tracer.
type Trace func(ctx context.Context, traceparent string) (context.Context, func(Span))

// startSpan begins a span for a request.
func (x *exchange) startSpan() {
	if x.s.o.Trace == nil {
		return
	}
	var ctx context.Context
	ctx, x.endSpan = x.s.o.Trace(x.r.Context(), x.r.Header.Get("Traceparent"))
	x.r = x.r.WithContext(ctx)
}
