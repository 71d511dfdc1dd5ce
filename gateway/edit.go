package gateway

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/internal/schema"
)

// editedLine is the message with the arguments that a person put in the place of the
// caller's, if one did. They must fit the tool's schema, as the caller's own
// would have to.
func (r *Relay) editedLine(h *heldCall, d *sayso.Decision) ([]byte, error) {
	if len(d.Args) == 0 {
		return h.line, nil
	}
	args, err := jcs.Object(d.Args)
	if err == nil {
		err = r.checkArgs(h.name, args)
	}
	if err != nil {
		return nil, enforce.Unfit(*d, err)
	}
	return h.with(args), nil
}

// takesEdits reports whether it is known what a tool takes. Of one that was called
// before the server listed it nothing that a person writes could be checked.
func (r *Relay) takesEdits(name string) bool {
	t, known := r.trust.tool(name)
	return known && t.schema != nil
}

// checkArgs reports arguments that the tool's own schema does not take.
func (r *Relay) checkArgs(name string, args sayso.Args) error {
	t, known := r.trust.tool(name)
	if !known || t.schema == nil {
		return rpc.Invalid("the server never said what it takes")
	}
	return schema.Takes(t.schema, args)
}
