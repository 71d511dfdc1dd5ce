package main

import (
	"fmt"

	"github.com/sayso-dev/sayso"
)

// noAgent refuses what only a person may do when this process runs under an
// agent. Package agentproc says how far that can be seen.
func (a *app) noAgent(what string) error {
	found, ok := a.agent()
	if !ok {
		return nil
	}
	return hint(fmt.Errorf("%w: %s is for people, and this runs under %s (%s)", sayso.ErrNotAllowed, what, found.Name, found.How),
		"type it in a terminal of your own")
}
