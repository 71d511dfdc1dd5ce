//go:build linux

package readme_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// block is one fenced block of a page.
type block struct {
	lang string // the first word behind the fence
	how  string // the rest: how a test is to run it
	text string
	line int
}

// root is the top of this repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// blocks are the fenced blocks of a page.
func blocks(t *testing.T, page string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), page))
	if err != nil {
		t.Fatal(err)
	}
	var open *block
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		info, fence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case fence && open == nil:
			lang, how, _ := strings.Cut(info, " ")
			open = &block{lang: lang, how: how, line: n}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line
		}
	}
	if open != nil {
		t.Fatalf("%s: the block of line %d does not end", page, open.line)
	}
	return all
}

// of selects the blocks of a language.
func of(all []block, lang string) (some []block) {
	for _, b := range all {
		if b.lang == lang {
			some = append(some, b)
		}
	}
	return some
}
