package server

import (
	"bytes"
	"regexp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sayso-dev/sayso"
)

func (o *Options) SetHeartbeat(d time.Duration) { o.limits.heartbeat = d }
func (o *Options) SetStall(d time.Duration)     { o.limits.stall = d }
func (o *Options) SetBody(d time.Duration)      { o.limits.body = d }
func (o *Options) SetOperations(n int)          { o.limits.operations = n }

// Texts are the texts of events that are kept.
type Texts struct{ eventCache }

func (t *Texts) Send(e sayso.Event) error { return t.streamEvent(&e).err }
func (t *Texts) Erased(by sayso.Seq)      { t.forget(by) }

// Keep reports whether the text of any event has such a part.
func (t *Texts) Keep(part string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.entries {
		k := &t.entries[i]
		if bytes.Contains(slices.Concat(k.payload, k.text.frame), []byte(part)) {
			return true
		}
	}
	return false
}

var fqName = regexp.MustCompile(`fqName: "(sayso_\w+)"`)

// MetricNames are the names of what /metrics can show, in order.
func (s *Server) MetricNames() []string {
	ch := make(chan *prometheus.Desc)
	go func() { defer close(ch); s.metrics.registry.Describe(ch) }()
	var names []string
	for d := range ch {
		if m := fqName.FindStringSubmatch(d.String()); m != nil { // and not one of the runtime
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}
