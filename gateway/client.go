package gateway

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/rpc"
)

// maxClient is how much of a client's name is shown.
const maxClient = 40

// handleInitialize reads what the client calls itself as it begins, and whether it shows
// forms. A client that says it in
// no readable way has no name.
func (r *Relay) handleInitialize(m message) {
	_ = rpc.Members(m.params, nil, func(name string, value jsontext.Value, _ int) error {
		if name == "capabilities" && value.Kind() == '{' {
			can, _, err := memberOf(value, 0, "elicitation")
			r.mu.Lock()
			defer r.mu.Unlock()
			r.clientForms = err == nil && showsForms(can)
		}
		if name == "clientInfo" {
			client := clientName(value)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.clientName = client
		}
		return nil
	})
}

// clientName is the name in a clientInfo, of letters, digits and what joins them:
// it is the client's own word, and must not look like a name that others give.
func clientName(info jsontext.Value) string {
	var said string
	err := rpc.Members(info, nil, func(name string, value jsontext.Value, _ int) error {
		if name == "name" {
			return rpc.ReadText(value, &said)
		}
		return nil
	})
	if err != nil {
		return ""
	}
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c) {
			return c
		}
		return '-'
	}, said)
	return strings.Trim(plain[:min(len(plain), maxClient)], "-")
}

// caller is who calls, for a client of this name: what it calls itself stands
// behind what it is. The relay's mutex is held.
func (r *Relay) caller(h *heldCall) string {
	name := h.meta.client
	if name == "" {
		name = r.clientName
	}
	caller := r.o.Actor.Principal
	for _, word := range []string{r.o.Client, name} {
		if word != "" {
			caller += "/" + word
		}
	}
	return caller
}
