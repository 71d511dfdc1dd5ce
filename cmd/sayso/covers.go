package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
)

// coverLines are the covers of a request, a line each: the word to type, what it
// covers, and what it would have covered.
func coverLines(offers []sayso.CoverOffer) []string {
	lines := make([]string, 0, len(offers))
	for _, o := range offers {
		line := fmt.Sprintf("%-11s  %s", safe(string(o.Cover)), safe(o.Label))
		if o.Pattern != "" {
			line += ": " + safe(o.Pattern)
		}
		lines = append(lines, line+weight(o))
	}
	return lines
}

// weight says what a cover would have covered, empty where nothing was counted.
func weight(o sayso.CoverOffer) string {
	if o.LookedAt == 0 {
		return ""
	}
	text := fmt.Sprintf("\n             would have covered %d of the last %s", o.WouldHaveCovered, counted(o.LookedAt, "call"))
	if o.Denied > 0 {
		text += fmt.Sprintf(", of which you denied %d", o.Denied)
	}
	return text
}

// counted is a number of things.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

// printCovers prints the covers that a person may choose from.
func (a *app) printCovers(r sayso.Request) {
	if !r.State.Open() || len(r.Covers) == 0 {
		return
	}
	a.print("\n  a yes can be remembered: sayso approve %s --cover WORD", r.ShortID)
	for _, line := range coverLines(r.Covers) {
		a.print("  %s", strings.ReplaceAll(line, "\n", "\n  "))
	}
}

// chooseCover asks at the terminal which cover is meant. ok is false if none is.
func (a *app) chooseCover(ctx context.Context, offers []sayso.CoverOffer) (c sayso.Cover, ok bool, err error) {
	switch len(offers) {
	case 0:
		a.note("a yes to this may not be remembered")
		return "", false, nil
	case 1:
		return offers[0].Cover, true, nil
	}
	for i, line := range coverLines(offers) {
		fmt.Fprintf(a.err, "  [%d] %s\n", i+1, strings.ReplaceAll(line, "\n", "\n      "))
	}
	key, err := a.key(ctx, fmt.Sprintf("[1-%d] remember for this session  [esc] back", len(offers)))
	if err != nil {
		return "", false, err
	}
	n, err := strconv.Atoi(key)
	if err != nil || n < 1 || n > len(offers) {
		return "", false, nil
	}
	return offers[n-1].Cover, true, nil
}

// chosen finds the cover that flags name among those that are offered.
func chosen(r sayso.Request, word string) (sayso.CoverOffer, error) {
	if word == "" {
		word = string(sayso.CoverCall)
	}
	i := slices.IndexFunc(r.Covers, func(o sayso.CoverOffer) bool { return string(o.Cover) == word })
	if i >= 0 {
		return r.Covers[i], nil
	}
	var words []string
	for _, o := range r.Covers {
		words = append(words, string(o.Cover))
	}
	err := fmt.Errorf("%w: cover %q is not offered for %s; offered are %s", sayso.ErrInvalid, word, r.ShortID, strings.Join(words, ", "))
	if len(words) == 0 {
		err = fmt.Errorf("%w: a yes to %s may not be remembered", sayso.ErrInvalid, r.ShortID)
	}
	return sayso.CoverOffer{}, hint(err, "sayso show %s", r.ShortID)
}
