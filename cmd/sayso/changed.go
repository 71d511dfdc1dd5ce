package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/local"
)

// changed says what MCP servers came with in the place of what is trusted, and
// what to type; empty for nothing. Definitions are kept where the gateway runs, so
// nothing is known of those behind a server elsewhere.
func (a *app) changed(ctx context.Context, l *local.Local) (string, error) {
	if a.settings.Server != "" {
		return "", nil
	}
	e, ours := l.Engine()
	if !ours {
		var err error
		if e, err = local.OpenEngine(ctx, a.paths, local.Options{}); err != nil {
			return "", err
		}
	}
	pins, err := e.Pins(ctx)
	if !ours {
		err = errors.Join(err, e.Close())
	}
	return changedLine(pins), err
}

// changedLine says how many definitions are in quarantine, and what to type.
func changedLine(pins sayso.Pins) string {
	tools, selves := 0, 0
	var of []string
	for _, server := range pins.Servers() {
		for tool, pin := range pins.Of(server) {
			if pin.Quarantined.IsZero() {
				continue
			}
			if tool == "" {
				selves++
			} else {
				tools++
			}
			of = append(of, server)
		}
	}
	of = slices.Compact(of)
	if len(of) == 0 {
		return ""
	}
	var what []string
	if selves > 0 {
		what = append(what, counted(selves, "server"))
	}
	if tools > 0 {
		what = append(what, counted(tools, "tool"))
	}
	line := strings.Join(what, " and ") + " changed: sayso tools"
	if len(of) == 1 {
		if line += " accept "; serverName.MatchString(of[0]) {
			return line + of[0]
		}
		line += asTyped(of[0])
	}
	return line
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
