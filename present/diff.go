package present

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/sayso-dev/sayso"
)

const (
	// diffTime bounds how long the shortest edit is looked for. Within it, most
	// differences are the shortest; after it, they are right but longer, so the
	// text of a difference may vary from run to run.
	diffTime = 200 * time.Millisecond
	// MaxDiff is the most that is compared, in bytes of both texts together.
	MaxDiff = 4 << 20
)

// Diff presents the change of a file as a unified difference of its lines. An
// empty old text means a new file, an empty new one that it is emptied.
//
// The difference is right: applied to old, it gives text. Where none can be
// found that is, every old line is shown as removed and every new one as added.
// Texts that are too large to be compared, or no texts, are told by their type
// and size; that is no difference, and says so.
func Diff(name, old, text string) sayso.Presentation {
	p := sayso.Presentation{Type: sayso.PresentText, Metadata: map[string]string{"path": name}}
	switch {
	case old == text:
		p.Content = "no change"
		return p
	case isBinary(old) || isBinary(text):
		p.Content = "from " + binary(old) + "\nto " + binary(text)
		return p
	case len(old)+len(text) > MaxDiff:
		p.Content = fmt.Sprintf("too large to be compared: %s before, %s after", size(len(old)), size(len(text)))
		return p
	}
	p.Type, p.Language = sayso.PresentDiff, "diff"
	edits, added, removed := lineEdits(old, text)
	content, err := udiff.ToUnified("a/"+header(name), "b/"+header(name), old, edits, udiff.DefaultContextLines)
	if applied, wrong := Apply(content, old); err != nil || wrong != nil || applied != text {
		content, added, removed = replaced(header(name), old, text), countLines(text), countLines(old)
	}
	p.Content = content
	p.Metadata["added"], p.Metadata["removed"] = strconv.Itoa(added), strconv.Itoa(removed)
	return bounded(p)
}

// header is the name of a file on one line, as the head of a difference has it.
func header(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		name = strconv.Quote(name)
	}
	return strings.TrimLeft(name, "/")
}

// lineEdits returns the changed lines as edits of old, and how many were added
// and removed.
func lineEdits(old, text string) (edits []udiff.Edit, added, removed int) {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = diffTime
	a, b, lines := dmp.DiffLinesToRunes(old, text)
	at := 0
	for _, d := range dmp.DiffCharsToLines(dmp.DiffMainRunes(a, b, false), lines) {
		switch d.Type {
		case diffmatchpatch.DiffEqual:
			at += len(d.Text)
		case diffmatchpatch.DiffDelete:
			removed += countLines(d.Text)
			edits = append(edits, udiff.Edit{Start: at, End: at + len(d.Text)})
			at += len(d.Text)
		case diffmatchpatch.DiffInsert:
			added += countLines(d.Text)
			if n := len(edits); n > 0 && edits[n-1].End == at {
				edits[n-1].New += d.Text // lines taken out and put in at one place are one edit
				continue
			}
			edits = append(edits, udiff.Edit{Start: at, End: at, New: d.Text})
		}
	}
	return edits, added, removed
}

// replaced is the difference that takes all of old out and puts all of text in.
func replaced(name, old, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n@@ -%s +%s @@\n", name, name, extent(old), extent(text))
	side := func(sign byte, s string) {
		for line := range strings.SplitAfterSeq(s, "\n") {
			if line == "" {
				continue
			}
			b.WriteByte(sign)
			b.WriteString(line)
			if !strings.HasSuffix(line, "\n") {
				b.WriteString("\n" + noNewline + "\n")
			}
		}
	}
	side('-', old)
	side('+', text)
	return b.String()
}

// extent is how the head of a difference says which lines are all of s.
func extent(s string) string {
	if s == "" {
		return "0,0"
	}
	return "1," + strconv.Itoa(countLines(s))
}

const noNewline = `\ No newline at end of file`

// ErrNoFit says that a difference is none of the text it is applied to.
var ErrNoFit = errors.New("the difference does not fit the text")

// Apply applies a unified difference to a text, strictly: every line of it must
// fit, and every part must have the length and stand in the place that it says.
// All errors are [ErrNoFit].
func Apply(diff, old string) (string, error) {
	p := patch{from: strings.SplitAfter(old, "\n")}
	lines := strings.SplitAfter(diff, "\n")
	for i, line := range lines {
		if line == "" && i == len(lines)-1 {
			break
		}
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		if err := p.line(line, strings.HasPrefix(next, `\`)); err != nil {
			return "", err
		}
	}
	if p.left != [2]int{} {
		return "", ErrNoFit
	}
	p.keep(len(p.from))
	return p.out.String(), nil
}

// patch is a difference that is being applied.
type patch struct {
	from []string // lines of the old text, with their ends
	at   int      // the line that is next
	left [2]int   // old and new lines that the part at hand still has
	out  strings.Builder
}

// keep copies the old lines up to one.
func (p *patch) keep(to int) {
	for ; p.at < min(to, len(p.from)); p.at++ {
		p.out.WriteString(p.from[p.at])
	}
}

// line applies one line. unended says that the text ends with it, without a
// line break.
func (p *patch) line(line string, unended bool) error {
	switch {
	case p.left == [2]int{}:
		return p.head(line)
	case line == "":
		return ErrNoFit
	case line[0] == '\\':
		return nil // told to the line before
	}
	text := line[1:]
	if unended {
		text = strings.TrimSuffix(text, "\n")
	}
	if line[0] != '+' {
		if p.at >= len(p.from) || p.from[p.at] != text || p.left[0] == 0 {
			return ErrNoFit
		}
		p.at++
		p.left[0]--
	}
	if line[0] != '-' {
		if p.left[1] == 0 {
			return ErrNoFit
		}
		p.out.WriteString(text)
		p.left[1]--
	}
	if strings.IndexByte("+- ", line[0]) < 0 {
		return ErrNoFit
	}
	return nil
}

// head reads a line between the parts: the names of the files, the end of a
// part that had no line break, or the place of the next.
func (p *patch) head(line string) error {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		for _, own := range []string{"--- ", "+++ ", `\`} {
			ok = ok || strings.HasPrefix(line, own)
		}
		if !ok {
			return ErrNoFit
		}
		return nil
	}
	old, rest, _ := strings.Cut(rest, " +")
	text, _, ok := strings.Cut(rest, " @@")
	start, n, okOld := lineRange(old)
	_, m, okNew := lineRange(text)
	if n > 0 {
		start--
	}
	if !ok || !okOld || !okNew || start < p.at || start > len(p.from) {
		return ErrNoFit
	}
	p.keep(start)
	p.left = [2]int{n, m}
	return nil
}

// lineRange reads 12,3, or 12 for one line.
func lineRange(s string) (start, n int, ok bool) {
	from, length, given := strings.Cut(s, ",")
	start, err := strconv.Atoi(from)
	n = 1
	if err == nil && given {
		n, err = strconv.Atoi(length)
	}
	return start, n, err == nil && start >= 0 && n >= 0
}

// Line is a line of a unified difference, without its line break.
type Line struct {
	Sign byte   // '-' gone, '+' come, ' ' in both; 0 for all other lines
	Text string // behind the sign; the whole line where there is none
}

// Lines are those of a unified difference. Put together again, see [Line.String],
// they are exactly that.
func Lines(diff string) []Line {
	var lines []Line
	head := true // the names of the files, which begin like lines that are gone and come
	for line := range strings.SplitSeq(diff, "\n") {
		head = head && !strings.HasPrefix(line, "@@")
		if head || line == "" || strings.IndexByte("+- ", line[0]) < 0 {
			lines = append(lines, Line{Text: line})
			continue
		}
		lines = append(lines, Line{line[0], line[1:]})
	}
	return lines
}

// String is the line as it stands in the difference.
func (l Line) String() string {
	if l.Sign == 0 {
		return l.Text
	}
	return string(rune(l.Sign)) + l.Text
}

// Sides are what a unified difference shows of the text before and after it.
// Its parts are kept apart by a line that holds only a zero byte, so that no
// text seems to run from one into the next.
func Sides(diff string) (before, after string) {
	var b, a strings.Builder
	for _, l := range Lines(diff) {
		if l.Sign == 0 && strings.HasPrefix(l.Text, "@@") {
			b.WriteString("\x00\n")
			a.WriteString("\x00\n")
		}
		if l.Sign == '-' || l.Sign == ' ' {
			b.WriteString(l.Text + "\n")
		}
		if l.Sign == '+' || l.Sign == ' ' {
			a.WriteString(l.Text + "\n")
		}
	}
	return b.String(), a.String()
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
