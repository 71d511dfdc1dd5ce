package main

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/notice"
)

// tellOpened returns what is to be done when a request begins to wait: tell
// the person, unless somebody is watching or notices are off.
func (a *app) tellOpened() func(sayso.Request) {
	if a.settings.Notice != "on" {
		return nil
	}
	var n notice.Notifier
	return func(r sayso.Request) {
		if !notice.Watched(a.paths.Watchers()) {
			n.Tell(r)
		}
	}
}
