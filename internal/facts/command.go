package facts

import (
	"crypto/sha256"
	"io"
	"os"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
)

// Limits of what is read for one command.
const (
	maxWords = 256      // words that are looked up
	maxFiles = 16       // files that are pinned
	maxBytes = 16 << 20 // bytes that are read of all of them
)

// syntax are the characters that make more of a command line than words with
// blanks between them.
const syntax = "$`*?[]{}()<>|&;!#~\"'\\\n\r\v\f\x00"

// command pins the files of the workspace that a plain command names, so that
// a yes to it is not a yes to other bytes in them. Where the line is more than
// words, the facts say that they are not all.
func (g *gatherer) command(text string) {
	if strings.ContainsAny(text, syntax) {
		g.facts.Truncated = true
		return
	}
	if g.facts.Workspace == "" || g.call.Cwd == "" {
		return
	}
	words := strings.Fields(text)
	if len(words) > maxWords {
		words, g.facts.Truncated = words[:maxWords], true
	}
	left := int64(maxBytes)
	for _, w := range words {
		g.pin(w, &left)
		if _, value, ok := strings.Cut(w, "="); ok {
			g.pin(value, &left)
		}
	}
}

// pin adds the digest of the file that a word names, if it is one of the
// workspace. What is no file is no fact: most words are none.
func (g *gatherer) pin(word string, left *int64) {
	if word == "" || g.ctx.Err() != nil {
		g.facts.Truncated = g.facts.Truncated || g.ctx.Err() != nil
		return
	}
	r, err := path.Resolve(g.fs, g.call.Cwd, word)
	if err != nil || r.State != path.File || !sayso.Beneath(g.facts.Workspace, r.Path) || g.pinned(r.Path) {
		return
	}
	digest, n, ok := digestOf(r.Path, *left)
	if !ok || len(g.facts.Files) >= maxFiles {
		g.facts.Truncated = true
		return
	}
	*left -= n
	g.facts.Files = append(g.facts.Files, sayso.FileFact{Path: r.Path, Digest: digest})
}

func (g *gatherer) pinned(resolved string) bool {
	for _, f := range g.facts.Files {
		if f.Path == resolved {
			return true
		}
	}
	return false
}

// digestOf hashes a file of at most limit bytes. It neither follows a link put
// there since the path was resolved nor waits on what is no file.
func digestOf(name string, limit int64) (d sayso.Digest, n int64, ok bool) {
	f, err := os.OpenFile(name, readOnly, 0)
	if err != nil {
		return d, 0, false
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return d, 0, false
	}
	h := sha256.New()
	n, err = io.Copy(h, io.LimitReader(f, limit+1))
	if err != nil || n > limit {
		return d, 0, false
	}
	return sayso.Digest(h.Sum(nil)), n, true
}
