package server

import (
	"bytes"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
)

func (o *Options) SetHeartbeat(d time.Duration) { o.limits.heartbeat = d }
func (o *Options) SetStall(d time.Duration)     { o.limits.stall = d }
func (o *Options) SetBody(d time.Duration)      { o.limits.body = d }
func (o *Options) SetOperations(n int)          { o.limits.operations = n }

// Texts are the texts of events that are kept.
type Texts struct{ texts }

func (t *Texts) Send(e sayso.Event) error { return t.item(&e).err }
func (t *Texts) Erased(by sayso.Seq)      { t.forget(by) }

// Keep reports whether the text of any event has such a part.
func (t *Texts) Keep(part string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.kept {
		k := &t.kept[i]
		if bytes.Contains(slices.Concat(k.payload, k.text.frame), []byte(part)) {
			return true
		}
	}
	return false
}
