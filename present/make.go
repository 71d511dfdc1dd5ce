package present

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
)

// MaxContent is the longest content of a presentation, in bytes. Of what is
// longer, head and tail are presented, and how much was left out between them;
// the arguments of the call hold all of it.
const MaxContent = 512 << 10

// PlainText presents a message.
func PlainText(s string) sayso.Presentation {
	return bounded(sayso.Presentation{Type: sayso.PresentText, Content: s})
}

// Command presents a command line and the directory it would run in, with what
// is known of its parts.
func Command(cmd, cwd string, marks ...sayso.Mark) sayso.Presentation {
	p := sayso.Presentation{Type: sayso.PresentCommand, Content: cmd, Language: "bash", Marks: marks}
	if cwd != "" {
		p.Metadata = map[string]string{"cwd": cwd}
	}
	return bounded(p)
}

// Structured presents a JSON value, indented. What is not JSON is shown as it
// is.
func Structured(raw []byte) sayso.Presentation {
	return bounded(sayso.Presentation{Type: sayso.PresentStructured, Content: indented(raw), Language: "json"})
}

// Noted is a presentation with a remark of whoever made it, such as why there
// is no difference to show. Remarks add up.
func Noted(p sayso.Presentation, note string) sayso.Presentation {
	meta := map[string]string{}
	maps.Copy(meta, p.Metadata)
	if meta["note"] != "" {
		note = meta["note"] + "; " + note
	}
	meta["note"] = note
	p.Metadata = meta
	return p
}

// bounded cuts the middle out of content that is too long, at line breaks where
// there are any near. Marks of what is left out go with it.
func bounded(p sayso.Presentation) sayso.Presentation {
	all := p.Content
	if len(all) <= MaxContent {
		return p
	}
	head, tail := cutBefore(all, MaxContent*3/4), cutBefore(all, len(all)-MaxContent/4)
	left := fmt.Sprintf("%d characters left out", utf8.RuneCountInString(all[head:tail]))
	between := "\n[… " + left + " …]\n"
	meta := map[string]string{"left_out": left}
	maps.Copy(meta, p.Metadata)
	p.Metadata = meta
	p.Content = all[:head] + between + all[tail:]
	p.Marks = Follow(all, p.Content, p.Marks)
	return p
}

// cutBefore is where to cut s, at i or somewhat before: behind a line break if
// there is one near, and never inside a character.
func cutBefore(s string, i int) int {
	if n := strings.LastIndexByte(s[i-min(i, 4096):i], '\n'); n >= 0 {
		return i - min(i, 4096) + n + 1
	}
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// Excerpt shortens a presentation to at most the given number of lines: its
// first lines, its last, and between them how many were left out. The whole is
// kept under full_content in the metadata.
func Excerpt(p sayso.Presentation, lines int) sayso.Presentation {
	all := strings.Split(p.Content, "\n")
	if len(all) <= lines || lines < 3 {
		return p
	}
	head, tail := ends(lines)
	short := append([]string{}, all[:head]...)
	short = append(short, fmt.Sprintf("... [%d more lines]", len(all)-head-tail))
	short = append(short, all[len(all)-tail:]...)
	meta := map[string]string{"full_content": p.Content}
	maps.Copy(meta, p.Metadata)
	whole := p.Content
	p.Content, p.Metadata = strings.Join(short, "\n"), meta
	p.Marks = Follow(whole, p.Content, p.Marks)
	return p
}

// ends is how many of the first and of the last lines are shown where there is
// room for so many, one of which says how many were left out.
func ends(lines int) (head, tail int) {
	tail = (lines - 1) / 4
	return lines - 1 - tail, tail
}

// nesting is how deep the brackets of a JSON text nest.
func nesting(raw []byte) int {
	deepest, depth := 0, 0
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
