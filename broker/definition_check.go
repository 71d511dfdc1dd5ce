package broker

import "github.com/sayso-dev/sayso"

// What is kept of one server: so many tools, so many bytes of their definitions
// and, since a person accepted one of them last, so many changes of tools that
// waited to be accepted already. What a server presents beyond that is not
// trusted, and the record has one event of it and not one for each.
const (
	maxTools          = 1024
	maxToolBytes      = 1 << 20
	maxServerBytes    = 32 << 20
	maxPendingChanges = 64
)

// definitionCheck is what a server presents, compared with what is known of it.
type definitionCheck struct {
	by        sayso.Actor
	server    string
	pins      *sayso.Pins
	batch     *batch
	presented map[string]sayso.Digest // what it says of each tool this time
	tools     int                     // that are known of it
	totals    sayso.Met
}

// check reports whether a definition is trusted, and has it recorded if it is
// new or changed.
func (c *definitionCheck) check(d *sayso.Definition) (trusted bool, err error) {
	pin, digest := c.pins.Of(c.server)[d.Tool], d.Digest()
	if first, twice := c.presented[d.Tool]; twice {
		return first == digest && (pin.Trusted.IsZero() || pin.Trusted == digest), nil
	}
	trusted = pin.Trusted.IsZero() || pin.Trusts(*d)
	if pin.Trusts(*d) || pin.Quarantined == digest {
		c.presented[d.Tool] = digest
		return trusted, nil
	}
	if !c.reserve(&pin, d) {
		return false, c.recordFull(d)
	}
	c.presented[d.Tool] = digest
	t, p := sayso.EventDefinitionQuarantined, sayso.DefinitionSeen{Server: c.server, Tool: d.Tool, Digest: digest, Was: pin.Trusted}
	if trusted {
		t, p.First = sayso.EventDefinitionAccepted, true
	}
	return trusted, c.batch.addDefinition(c.pins, t, c.by, p, d.Text)
}

// reserve reports whether the record has room for a definition, and takes it.
func (c *definitionCheck) reserve(pin *sayso.Pin, d *sayso.Definition) bool {
	next, tools := c.totals, c.tools
	next.Bytes += len(d.Text)
	switch {
	case !pin.Quarantined.IsZero():
		next.Again++
	case pin.Trusted.IsZero():
		tools++
	}
	if len(d.Text) > maxToolBytes || next.Bytes > maxServerBytes || next.Again > maxPendingChanges || tools > maxTools {
		return false
	}
	c.totals, c.tools = next, tools
	return true
}

// recordFull records, once, that a server presented more than is kept of it.
func (c *definitionCheck) recordFull(d *sayso.Definition) error {
	if c.totals.Full {
		return nil
	}
	c.totals.Full = true
	p := sayso.DefinitionSeen{Server: c.server, Tool: d.Tool, Digest: d.Digest(), Full: true}
	return c.batch.addDefinition(c.pins, sayso.EventDefinitionQuarantined, c.by, p, sayso.Args("{}"))
}
