package server

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// span begins a span for a request, within the trace that it came with. It
// holds the route and the status, and nothing of what was asked.
func (s *Server) span(x *exchange) (end func(status int)) {
	if s.o.Tracer == nil {
		return func(int) {}
	}
	ctx := propagation.TraceContext{}.Extract(x.r.Context(), propagation.HeaderCarrier(x.r.Header))
	ctx, span := s.o.Tracer.Start(ctx, "sayso", trace.WithSpanKind(trace.SpanKindServer))
	x.r = x.r.WithContext(ctx)
	return func(status int) {
		span.SetName(x.name())
		span.SetAttributes(attribute.String("http.route", x.name()), attribute.Int("http.response.status_code", status))
		if status >= 500 {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
