package broker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/cover"
)

// subject is the call as covers see it.
func (w *waiter) subject(j *judgment) *cover.Subject {
	if j.subject != nil {
		return j.subject
	}
	j.subject = &cover.Subject{Call: w.a.Call, Facts: w.a.Facts, Digest: w.digest, Pins: j.pins, Danger: j.verdict.Danger}
	if w.trustsTool() {
		j.subject.Payload, j.subject.Ignores = w.a.Ask.Payload, w.a.Ask.Ignores
	}
	return j.subject
}

// trustsTool reports whether what the call's tool says of it counts: only tools may
// leave arguments out of what a yes is remembered by, never agents.
func (w *waiter) trustsTool() bool { return w.actor.Kind == sayso.PrincipalTool && w.a.Ask != nil }

// fingerprint is what its tool takes for the same call, or the call itself.
func (w *waiter) fingerprint(trusted bool) sayso.Digest {
	if !trusted {
		return w.digest
	}
	payload, ok := cover.Payload(w.a.Ask.Payload)
	if !ok {
		return w.digest
	}
	tool, server := w.a.Call.CanonicalName()
	return sayso.HashOf("sayso/fingerprint/1", []byte(tool), []byte(server), []byte(w.a.Call.Session), payload)
}

// ignoredArgs is what its tool takes for the same call, if anything, and the names
// of the arguments that this leaves out.
func (w *waiter) ignoredArgs() (payload []byte, ignores []string) {
	payload, ok := cover.Payload(w.a.Ask.Payload)
	if !ok {
		return nil, w.a.Ask.Ignores
	}
	return payload, cover.Ignores(w.a.Call.Args, payload, w.a.Ask.Ignores)
}

// ignoredName names the i-th argument that is left out, while it is redacted: a name
// may be a secret too.
func ignoredName(i int) string { return "ignores/" + strconv.Itoa(i) }

// ways are the ways to remember a yes to a call that people are asked about. What
// is shown of them is put among the texts that are redacted.
func (w *waiter) ways(j *judgment, texts map[string]string) []cover.Way {
	if j.modeEffect != sayso.Ask {
		return nil
	}
	ways := cover.Ways(w.subject(j), j.reach)
	for _, way := range ways {
		texts[coverText+string(way.Offer.Cover)] = way.Offer.Pattern
		texts[coverText+"label/"+string(way.Offer.Cover)] = way.Offer.Label
	}
	return ways
}

// coverText begins the names of what is shown of covers, while it is redacted.
const coverText = "cover/"

// withoutCovers drops what was hidden in covers that are not offered for it.
func withoutCovers(list []sayso.Redaction) []sayso.Redaction {
	return slices.DeleteFunc(list, func(r sayso.Redaction) bool { return strings.HasPrefix(r.Path, coverText) })
}

// offers are the ways that a person may choose from. One that cannot be shown as
// it is, since part of it is hidden or would deceive whoever reads it, is not offered.
func offers(ways []cover.Way, shown map[string]string) []sayso.CoverOffer {
	out := []sayso.CoverOffer{}
	for _, way := range ways {
		pattern, label := shown[coverText+string(way.Offer.Cover)], shown[coverText+"label/"+string(way.Offer.Cover)]
		if pattern == way.Offer.Pattern && label == way.Offer.Label && safeText(pattern) == pattern && safeText(label) == label {
			out = append(out, way.Offer)
		}
	}
	return out
}

// chosenWay is the way of remembering that an answer chose. It must have been offered
// with the request, and must still be one by the rules that hold now.
func (in inbox) chosenWay(r *sayso.Request, a sayso.Answer, now *currentJudgment) (cover.Way, error) {
	chosen := a.Cover
	if chosen == "" {
		chosen = sayso.CoverCall
	}
	at := slices.IndexFunc(r.Covers, func(o sayso.CoverOffer) bool { return o.Cover == chosen })
	if at < 0 {
		return cover.Way{}, fmt.Errorf("%w: cover %s was not offered for this request; %s", sayso.ErrInvalid, chosen, offeredText(r.Covers))
	}
	s := &cover.Subject{
		Call: now.asked.Call, Facts: now.asked.Facts, Payload: now.asked.Payload, Ignores: r.Ignores,
		Digest: r.Digest, Pins: r.Life.Pins, Danger: now.verdict.Danger,
	}
	for _, way := range cover.Ways(s, now.reach) {
		if way.Offer == r.Covers[at] {
			return way, nil
		}
	}
	return cover.Way{}, fmt.Errorf("%w: cover %s may no longer be remembered by the rules in force; allow it once", sayso.ErrInvalid, chosen)
}

// offeredText names the covers that may be chosen.
func offeredText(offers []sayso.CoverOffer) string {
	if len(offers) == 0 {
		return "a yes to it may not be remembered"
	}
	text := "offered are "
	for i, o := range offers {
		if i > 0 {
			text += ", "
		}
		text += string(o.Cover)
	}
	return text
}
