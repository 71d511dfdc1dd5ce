package server

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// openRequestsName begins the names of what only those see who may see the
// requests of others.
const openRequestsName = "sayso_open_requests"

// metrics are what /metrics shows. Labels are words of ours alone, never ids,
// paths or commands.
type metrics struct {
	registry *prometheus.Registry

	response    *prometheus.HistogramVec // by effect
	decisions   *prometheus.CounterVec   // by source, effect and cause
	calls       prometheus.Counter
	prompts     prometheus.Counter
	recovered   prometheus.Counter
	interrupted prometheus.Counter
	unanswered  *prometheus.CounterVec // by state
	delivery    prometheus.Histogram
	openList    prometheus.Histogram
	http        *prometheus.HistogramVec // by route and class of status
	commit      prometheus.Histogram
	appends     prometheus.Histogram

	decidedCalls, askedCalls atomic.Int64 // calls that were decided, and those that people were asked about
}

// Bounds of buckets, in seconds.
var (
	fastBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5}
	slowBuckets = []float64{.01, .1, .5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400}

	countBuckets = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} // not seconds
)

func newMetrics(more ...prometheus.Collector) (*metrics, error) {
	m := &metrics{
		registry:    prometheus.NewRegistry(),
		response:    histograms("sayso_approval_response_seconds", "Time from a request to the answer of a person.", slowBuckets, "effect"),
		decisions:   counters("sayso_decisions_total", "Decisions, by what they came from.", "source", "effect", "cause"),
		calls:       counter("sayso_calls_total", "Calls at the gate that were decided."),
		prompts:     counter("sayso_prompts_total", "Calls that people were asked about."),
		recovered:   counter("sayso_recovered_total", "Interrupted requests that were taken up again."),
		interrupted: counter("sayso_interrupted_total", "Requests whose caller went away or died."),
		unanswered:  counters("sayso_unanswered_total", "Requests that ended without an answer.", "state"),
		delivery:    histogram("sayso_event_delivery_seconds", "Time from an event to its being written to a follower.", fastBuckets),
		openList:    histogram("sayso_open_list_seconds", "Time to list open requests.", fastBuckets),
		http:        histograms("sayso_http_request_seconds", "Time of HTTP requests, waiting for people included.", append(fastBuckets, slowBuckets[7:]...), "route", "status"),
		commit:      histogram("sayso_commit_seconds", "Time of a commit to the log.", fastBuckets),
		appends:     histogram("sayso_commit_appends", "Appends that one commit took together.", countBuckets),
	}
	prompted := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sayso_prompts_per_100_calls", Help: "Of 100 calls, how many people were asked about.",
	}, m.promptRate)
	var errs []error
	for _, c := range append([]prometheus.Collector{
		m.response, m.decisions, m.calls, m.prompts, m.recovered, m.interrupted, m.unanswered, m.delivery,
		m.openList, m.http, m.commit, m.appends, prompted, collectors.NewGoCollector(),
	}, more...) {
		errs = append(errs, m.registry.Register(c))
	}
	return m, errors.Join(errs...)
}

// callDecided notes that a call was decided, and whether people were asked.
func (m *metrics) callDecided(asked bool) {
	m.calls.Inc()
	m.decidedCalls.Add(1)
	if asked {
		m.prompts.Inc()
		m.askedCalls.Add(1)
	}
}

// committed notes one commit to the log.
func (m *metrics) committed(appends int, took time.Duration) {
	m.appends.Observe(float64(appends))
	m.commit.Observe(took.Seconds())
}

func (m *metrics) promptRate() float64 {
	all := m.decidedCalls.Load()
	if all == 0 {
		return 0
	}
	return 100 * float64(m.askedCalls.Load()) / float64(all)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

var classes = [...]string{"other", "1xx", "2xx", "3xx", "4xx", "5xx"}

// requestServed notes one HTTP request.
func (m *metrics) requestServed(r *route, status int, took time.Duration) {
	if r == nil {
		m.http.WithLabelValues("none", classes[status/100%len(classes)]).Observe(took.Seconds())
		return
	}
	m.http.WithLabelValues(r.pattern, classes[status/100%len(classes)]).Observe(took.Seconds())
}

// delivered notes that a new event, made at a time, reached a follower.
func (m *metrics) delivered(made time.Time) {
	m.delivery.Observe(max(time.Since(made), 0).Seconds())
}
