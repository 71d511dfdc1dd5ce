package outbox

import "time"

// Quick has an outbox look more often, and wait for a target for less long.
func (o *Outbox) Quick(patience time.Duration) *Outbox {
	o.tick, o.client.Timeout = 5*time.Millisecond, patience
	return o
}

// Most sets how many letters to one target are tried again and again.
func (o *Outbox) Most(n int) { o.most = n }

// Signatures is what a message is signed with.
var Signatures = signatures

// Quiet is a text as a chat may be shown it.
var Quiet = quiet

// Pauses are the times between attempts.
var Pauses = pauses

// Begun is how many targets have begun, and are named still.
func (o *Outbox) Begun() (n int, err error) {
	p, err := o.book.read()
	for _, s := range p.Targets {
		if s.Gone.IsZero() {
			n++
		}
	}
	return n, err
}

// Rarely has an outbox look every so often at what others may have changed.
func (o *Outbox) Rarely(d time.Duration) { o.tick = d }
