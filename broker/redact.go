package broker

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
	"github.com/sayso-dev/sayso/redact"
)

// The texts of a presentation have these names while they are redacted.
const (
	presented        = "presentation"
	presentedCommand = "presentation command" // a name by which it is read as a command
	presentedBefore  = "presentation before"
	presentedAfter   = "presentation after"
	presentedLine    = "presentation line "
)

// redactCall redacts a call, the texts around it and its presentation together: what
// is secret in one is in all.
func redactCall(r *redact.Redactor, args sayso.Args, texts map[string]string, shown *sayso.Presentation) (redact.Result, error) {
	if shown == nil {
		return r.Call(args, texts)
	}
	for k, v := range shown.Metadata {
		texts["presentation/"+k] = v
	}
	for i, m := range marksOf(shown) {
		texts[markPath(i)] = m.Text
	}
	if shown.Type == sayso.PresentDiff {
		return redactDiff(r, args, texts, present.Lines(shown.Content))
	}
	name := presented
	if shown.Type == sayso.PresentCommand {
		name = presentedCommand
	}
	texts[name] = shown.Content
	hidden, err := r.Call(args, texts)
	if err != nil {
		return hidden, err
	}
	hidden.Texts[presented] = hidden.Texts[name]
	hidden.Redactions = dedupeRedactions(hidden.Redactions)
	return hidden, err
}

// redactDiff redacts a difference. Its lines begin with signs, which hide a secret
// from those who look for it, and a secret of several lines stands on several
// lines of it: so it is not the difference that is redacted but the text before
// and the text after it. A line stays a line. Where a secret of several lines
// became one marker, each line is hidden by itself.
func redactDiff(r *redact.Redactor, args sayso.Args, texts map[string]string, lines []present.Line) (redact.Result, error) {
	var sides diffSides
	for _, l := range lines {
		sides.add(l)
	}
	for i, name := range sideNames {
		texts[name] = strings.Join(sides[i], "\n")
	}
	hidden, err := r.Call(args, texts)
	if err != nil {
		return hidden, err
	}
	shown, ok := sides.merge(lines, hidden.Texts)
	if !ok {
		for i, l := range lines {
			texts[presentedLine+strconv.Itoa(i)] = l.Text
		}
		if hidden, err = r.Call(args, texts); err != nil {
			return hidden, err
		}
		for i := range shown {
			shown[i] = present.Line{Sign: lines[i].Sign, Text: hidden.Texts[presentedLine+strconv.Itoa(i)]}
		}
	}
	hidden.Texts[presented] = joinLines(shown)
	hidden.Redactions = dedupeRedactions(hidden.Redactions)
	return hidden, nil
}

// diffSides are the lines of a difference that stand before it, after it, and in
// neither text.
type diffSides [3][]string

var sideNames = [...]string{presentedBefore, presentedAfter, presented}

func (s *diffSides) add(l present.Line) {
	switch l.Sign {
	case 0:
		s[2] = append(s[2], l.Text)
		if strings.HasPrefix(l.Text, "@@") { // what follows stands elsewhere
			s[0], s[1] = append(s[0], "\x00"), append(s[1], "\x00")
		}
	case '-':
		s[0] = append(s[0], l.Text)
	case '+':
		s[1] = append(s[1], l.Text)
	default:
		s[0], s[1] = append(s[0], l.Text), append(s[1], l.Text)
	}
}

// merge is a difference of which the sides were redacted. ok is false if a side
// has no longer as many lines as it had.
func (s *diffSides) merge(lines []present.Line, texts map[string]string) (shown []present.Line, ok bool) {
	shown = make([]present.Line, len(lines))
	var hidden [3][]string
	for i, name := range sideNames {
		if hidden[i] = strings.Split(texts[name], "\n"); len(hidden[i]) != max(len(s[i]), 1) {
			return shown, false
		}
	}
	next := func(side int) string {
		text := hidden[side][0]
		hidden[side] = hidden[side][1:]
		return text
	}
	for i, l := range lines {
		shown[i].Sign = l.Sign
		switch l.Sign {
		case 0:
			shown[i].Text = next(2)
			if strings.HasPrefix(l.Text, "@@") {
				next(0)
				next(1)
			}
		case '-':
			shown[i].Text = next(0)
		case '+':
			shown[i].Text = next(1)
		default:
			before, after := next(0), next(1)
			if shown[i].Text = before; before == l.Text {
				shown[i].Text = after // where only one side knows a secret, it is one
			}
		}
	}
	return shown, true
}

func joinLines(lines []present.Line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.String())
	}
	return b.String()
}

// dedupeRedactions are redactions under the names of texts that are shown. What stands on
// both sides of a difference, and what a presentation shows once more of the
// arguments, is told once.
func dedupeRedactions(list []sayso.Redaction) []sayso.Redaction {
	out := make([]sayso.Redaction, 0, len(list))
	for _, r := range list {
		if r.Path == presentedCommand || r.Path == presentedBefore || r.Path == presentedAfter || strings.HasPrefix(r.Path, presentedLine) {
			r.Path = presented
		}
		if r.Key == presentedCommand {
			r.Key = presented
		}
		told := func(o sayso.Redaction) bool {
			return o.Key == r.Key && o.Length == r.Length && (o.Path == presented || strings.HasPrefix(o.Path, "/"))
		}
		if !strings.HasPrefix(r.Path, presented) || !slices.ContainsFunc(out, told) {
			out = append(out, r)
		}
	}
	return out
}
