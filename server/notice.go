package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
)

// notices lists what could not be delivered, of the requests that the caller may
// see.
func (s *Server) notices(ctx context.Context, c *caller, _ *wire.Nothing) (any, error) {
	if s.o.Notices == nil {
		return nil, sayso.ErrNotFound
	}
	list, err := s.o.Notices.List(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[sayso.ID]bool{}
	shown := []Notice{}
	for _, n := range list.Notices {
		see, known := seen[n.Request]
		if !known {
			if see, err = s.seesNotice(ctx, c, &n); err != nil {
				return nil, err
			}
			seen[n.Request] = see
		}
		if see {
			shown = append(shown, n)
		}
	}
	return &wire.Notices{Targets: append([]wire.NoticeTarget{}, list.Targets...), Notices: shown}, nil
}

// seesNotice reports whether a notice is about what the caller may see. What is
// about no request is about all of them.
func (s *Server) seesNotice(ctx context.Context, c *caller, n *Notice) (bool, error) {
	if n.Request == "" {
		return true, nil
	}
	_, err := c.inbox.Request(ctx, string(n.Request))
	if errors.Is(err, sayso.ErrNotAllowed) || errors.Is(err, sayso.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// retry has one notice tried again.
func (s *Server) retry(ctx context.Context, c *caller, in *wire.ByID) (any, error) {
	if s.o.Notices == nil {
		return nil, sayso.ErrNotFound
	}
	list, err := s.o.Notices.List(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list.Notices, func(n Notice) bool { return string(n.ID) == in.ID })
	if i < 0 {
		return nil, sayso.ErrNotFound
	}
	if see, err := s.seesNotice(ctx, c, &list.Notices[i]); err != nil || !see {
		return nil, errors.Join(err, sayso.ErrNotFound)
	}
	tried, err := s.o.Notices.Retry(ctx, list.Notices[i].ID)
	if err != nil {
		return nil, err
	}
	return &tried, nil
}

// noticeCollector are the metrics of notices.
type noticeCollector struct {
	list           func(context.Context) (wire.Notices, error)
	sent, now, not *prometheus.Desc
}

// noticeMetrics are the metrics of who is told elsewhere; none if nobody can be.
func noticeMetrics(n Notices) []prometheus.Collector {
	if n == nil {
		return nil
	}
	return []prometheus.Collector{&noticeCollector{
		list: n.List,
		sent: prometheus.NewDesc("sayso_notices_total", "Notices: delivered, attempts that failed, given up, dropped.", []string{"target", "outcome"}, nil),
		now:  prometheus.NewDesc("sayso_notices_waiting", "Notices that are tried again.", []string{"target"}, nil),
		not:  prometheus.NewDesc("sayso_notices_dead", "Notices that were given up and are kept.", []string{"target"}, nil),
	}}
}

// Describe implements [prometheus.Collector].
func (m *noticeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.sent, m.now, m.not} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *noticeCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	list, err := m.list(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(m.sent, err)
		return
	}
	for _, t := range list.Targets {
		for outcome, n := range map[string]int{"delivered": t.Sent, "failed": t.Failed, "given_up": t.Died, "dropped": t.Dropped} {
			ch <- prometheus.MustNewConstMetric(m.sent, prometheus.CounterValue, float64(n), t.Name, outcome)
		}
		ch <- prometheus.MustNewConstMetric(m.now, prometheus.GaugeValue, float64(t.Waiting), t.Name)
		ch <- prometheus.MustNewConstMetric(m.not, prometheus.GaugeValue, float64(t.Dead), t.Name)
	}
}
