package broker

import "github.com/sayso-dev/sayso"

// What is kept of one server: so many tools, so many bytes of their definitions
// and, since a person accepted one of them last, so many changes of tools that
// waited to be accepted already. What a server presents beyond that is not
// trusted, and the record has one event of it and not one for each.
const (
	maxTools      = 1024
	maxDefinition = 1 << 20
	maxDefined    = 32 << 20
	maxAgain      = 64
)

// meeting is what a server presents, compared with what is known of it.
type meeting struct {
	by     sayso.Actor
	server string
	pins   *sayso.Pins
	batch  *batch
	said   map[string]sayso.Digest // what it says of each tool this time
	tools  int                     // that are known of it
	had    sayso.Met
}

// meets reports whether a definition is trusted, and has it recorded if it is
// new or changed.
func (m *meeting) meets(d *sayso.Definition) (trusted bool, err error) {
	pin, digest := m.pins.Of(m.server)[d.Tool], d.Digest()
	if first, twice := m.said[d.Tool]; twice {
		return first == digest && (pin.Trusted.IsZero() || pin.Trusted == digest), nil
	}
	trusted = pin.Trusted.IsZero() || pin.Trusts(*d)
	if pin.Trusts(*d) || pin.Quarantined == digest {
		m.said[d.Tool] = digest
		return trusted, nil
	}
	if !m.room(&pin, d) {
		return false, m.full(d)
	}
	m.said[d.Tool] = digest
	t, p := sayso.EventDefinitionQuarantined, sayso.DefinitionSeen{Server: m.server, Tool: d.Tool, Digest: digest, Was: pin.Trusted}
	if trusted {
		t, p.First = sayso.EventDefinitionAccepted, true
	}
	return trusted, m.batch.define(m.pins, t, m.by, p, d.Text)
}

// room reports whether the record has room for a definition, and takes it.
func (m *meeting) room(pin *sayso.Pin, d *sayso.Definition) bool {
	next, tools := m.had, m.tools
	next.Bytes += len(d.Text)
	switch {
	case !pin.Quarantined.IsZero():
		next.Again++
	case pin.Trusted.IsZero():
		tools++
	}
	if len(d.Text) > maxDefinition || next.Bytes > maxDefined || next.Again > maxAgain || tools > maxTools {
		return false
	}
	m.had, m.tools = next, tools
	return true
}

// full records, once, that a server presented more than is kept of it.
func (m *meeting) full(d *sayso.Definition) error {
	if m.had.Full {
		return nil
	}
	m.had.Full = true
	p := sayso.DefinitionSeen{Server: m.server, Tool: d.Tool, Digest: d.Digest(), Full: true}
	return m.batch.define(m.pins, sayso.EventDefinitionQuarantined, m.by, p, sayso.Args("{}"))
}
