package shell_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// tearings are what is put into a line to tear it: everything that quotes,
// groups, or joins, and nothing that leads out of the folder that it runs in.
var tearings = []string{
	"'", `"`, `\\`, "$", "`", "(", ")", "{", "}", "[", "]", "<", ">", "|", "&", ";", "\n", " ", "\t", "#", "!", "*", "?", "=", "~", ",", "-", "+", "@", ":", "%", "^",
	"''#", "\\\n", "$(", "$((", "))", "${", "$'", `$"`, "((", "[[", "]]", "<<", "<<-", "<<<", "<(", ">&", "&>", "||", "&&", ";;", " E0\n", "\nE0\n", "time ", "let ", "! ", "coproc ", "if ", " fi", " do ", "done ", "case ", "esac ", "in ",
	"function ", "alpha ", "-- ", "'\\''", "\r", "\v", "\u00a0",
}

// tear changes a line in a few places.
func (g *generator) tear(text string) string {
	text = strings.NewReplacer("bin/", "", "/dev/null", "null").Replace(text)
	for range 1 + g.IntN(4) {
		i := g.IntN(len(text) + 1)
		switch g.IntN(4) {
		case 0:
			n := min(len(text)-i, 1+g.IntN(3))
			text = text[:i] + text[i+n:]
		case 1:
			j := g.IntN(len(text) + 1)
			n := min(len(text)-j, 1+g.IntN(12))
			text = text[:i] + text[j:j+n] + text[i:]
		default:
			text = text[:i] + pick(g, tearings) + text[i:]
		}
	}
	return strings.ReplaceAll(text, "..", "")
}

// hidden reports whether a program may have been started by a name that is only
// known when the line runs. Nothing can find it in a line that does not parse.
func hidden(text string, s started) bool {
	return s.name == "gamma" && strings.Contains(text, "name") || strings.Contains(text, "$(echo "+s.name)
}

// TestSH7_torn runs lines that were written well and then torn. What starts is
// listed, or the line is one that was not understood, in which it is found all
// the same.
func TestSH7_torn(t *testing.T) {
	th := newTheater(t)
	th.patience = 2 * time.Second // a line that is torn may go on for ever
	g := newGenerator(*seed)
	many := few(*torn)
	var understood, programs atomic.Int64
	texts := make(chan string)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for text := range texts {
				if shell.Inspect(text).Understood() {
					understood.Add(1)
				}
				programs.Add(int64(th.listsAll(t, text)))
			}
		})
	}
	for i := range many {
		if text := g.tear(g.line(i%2 == 0)); len(text) > 0 && !strings.Contains(text, "\x00") {
			texts <- text
		}
	}
	close(texts)
	wg.Wait()
	t.Logf("%d lines, %d understood, %d programs started, %d lines did not end", many, understood.Load(), programs.Load(), th.endless.Load())
}

// TestSH12_mentioned: what is listed in a line, whole or torn, is found in it
// without the grammar as well.
func TestSH12_mentioned(t *testing.T) {
	g := newGenerator(*seed)
	many, lines := few(*torn), 0
	for i := range many {
		for _, text := range []string{g.line(i%2 == 0), g.tear(g.line(true))} {
			if l := shell.Inspect(text); l.Understood() && !strings.HasSuffix(text, "\\") {
				mentions(t, l)
				lines++
			}
		}
	}
	if lines < many {
		t.Errorf("%d of %d lines were understood: too few to say anything", lines, 2*many)
	}
}
