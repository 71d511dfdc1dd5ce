//go:build linux

package readme_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/modelstub"
)

// TestReadme does what a stranger does: clone, see the demo, install, wire, and
// answer the first call of a real agent.
func TestReadme(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	s := newTerminal(t)
	for _, b := range of(blocks(t, "README.md"), "sh") {
		screen := s.must(b.text, "")
		t.Logf("line %d, after %s:\n%s%s", b.line, time.Since(begun).Round(time.Second), b.text, screen)
		if strings.Contains(b.text, "make demo") && !strings.Contains(screen, "whole and unchanged") {
			t.Error("the demo does not come to its end")
		}
	}
	s.firstDecision()
	fmt.Printf("from clone to the first decision: %.1f minutes\n", time.Since(begun).Minutes())
}

// firstDecision plays the session at the top of the page: the agent asks, the
// person looks and denies, and the agent is told their words.
func (s *terminal) firstDecision() {
	t := s.t
	t.Helper()
	project := filepath.Join(s.home(), "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	agent := s.agent(project, modelstub.Use(modelstub.Call{ID: "toolu_1", Name: "Bash", Input: `{"command":"git push --force"}`}))
	short := s.waiting()
	for _, b := range of(blocks(t, "README.md"), "console") {
		s.session(b, short)
	}
	res := agent.Wait()
	if len(res.Results) != 1 || !res.Results[0].IsError || !strings.Contains(res.Results[0].Content, "not with --force; rebase first") {
		t.Errorf("the agent was told %+v\n%s", res.Results, res.Stderr)
	}
}

// idLine finds the short id of what waits.
var idLine = regexp.MustCompile(`(?m)^([0-9a-hjkmnp-tv-z]{4})  .*git push`)

// waiting watches until a push waits, and returns its short id.
func (s *terminal) waiting() string {
	s.t.Helper()
	s.must("sayso watch", "git push")
	found := idLine.FindStringSubmatch(s.must("sayso inbox", ""))
	if found == nil {
		s.t.Fatal("no push waits")
	}
	return found[1]
}

// session types what stands behind the dollar signs, and expects the lines
// below to be on the screen.
func (s *terminal) session(b block, short string) {
	s.t.Helper()
	screen := ""
	for line := range strings.Lines(b.text) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\n"), "← ") // our remarks
		line = strings.TrimSpace(line)
		typed, isTyped := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(typed, "claude"):
			screen = ""
		case isTyped:
			screen = s.must(strings.ReplaceAll(typed, "k7fm", short), "")
		case screen != "" && line != "" && !like(line, short).MatchString(screen):
			s.t.Errorf("the page shows\n%s\nbut on the screen is\n%s", line, screen)
		}
	}
}

// like is a pattern for a line of a page: any blanks, any numbers, any id.
func like(line, short string) *regexp.Regexp {
	var words []string
	for _, w := range strings.Fields(line) {
		w = regexp.QuoteMeta(strings.ReplaceAll(w, "k7fm", short))
		if !strings.Contains(w, short) {
			w = regexp.MustCompile(`\d+`).ReplaceAllString(w, `\d+`)
		}
		words = append(words, w)
	}
	return regexp.MustCompile(strings.Join(words, `\s+`))
}
