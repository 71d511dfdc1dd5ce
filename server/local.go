package server

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
)

// health says that the process answers.
func (s *Server) health(*exchange) (any, error) { return &wire.Status{Status: "ok"}, nil }

// ready says that the log can be read.
func (s *Server) ready(x *exchange) (any, error) {
	ctx, cancel := context.WithTimeout(x.ctx(), 2*time.Second)
	defer cancel()
	if s.stopping.Err() != nil {
		return nil, errStopping
	}
	_, inbox := s.door(observer)
	if _, err := inbox.Head(ctx); err != nil {
		s.log.WarnContext(ctx, "not ready", "error", err)
		return nil, sayso.ErrUnavailable
	}
	return &wire.Status{Status: "ready"}, nil
}

// exposeMetrics writes the metrics in the text format of Prometheus. Who shows
// no token, or that of somebody who asks, is not told of open requests.
func (s *Server) exposeMetrics(x *exchange) (any, error) {
	families, err := s.metrics.registry.Gather()
	if err != nil { // what could be gathered is shown all the same
		s.log.WarnContext(x.ctx(), "some metrics are missing", "error", err)
	}
	var text bytes.Buffer
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	enc := expfmt.NewEncoder(&text, format)
	for _, f := range families {
		if (x.caller == nil || !x.caller.actor.Kind.Looks()) && strings.HasPrefix(f.GetName(), openRequestsName) {
			continue
		}
		if err := enc.Encode(f); err != nil {
			return nil, err
		}
	}
	x.w.Header().Set("Content-Type", string(format))
	x.status = http.StatusOK
	_, _ = x.w.Write(text.Bytes())
	return nil, errServed
}

// document serves the description of this API.
func (s *Server) document(x *exchange) (any, error) {
	text, err := Document()
	if err != nil {
		return nil, err
	}
	x.w.Header()["Content-Type"] = jsonType
	x.status = http.StatusOK
	_, _ = x.w.Write(text)
	return nil, errServed
}
