package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

// printCovers prints the covers that a person may choose from.
func (a *app) printCovers(r sayso.Request) {
	if !r.State.Open() || len(r.Covers) == 0 {
		return
	}
	a.print("\n  a yes can be remembered: sayso approve %s --cover WORD", r.ShortID)
	for _, line := range words.CoverLines(r.Covers) {
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
		fmt.Fprintf(a.err, "  remembered: %s\n", strings.ReplaceAll(words.CoverLines(offers)[0], "\n", "\n      "))
		return offers[0].Cover, true, nil
	}
	for i, line := range words.CoverLines(offers) {
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
