package facts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	stdpath "path"
	"strings"

	"github.com/sayso-dev/sayso/inspect/path"
)

// maxIndex is how much is read of the list of files that git has under version control.
const maxIndex = 32 << 20

// maxIndexWork is how many bytes of such lists, and of the names in them, are looked at for one
// call: about a second's. Names that begin like the ones before them take few bytes of a list.
const maxIndexWork = 96 << 20

// trackedFiles is what a list of git says. The zero one is that of a repository without any.
type trackedFiles struct {
	secrets map[string]bool // files known to hold secrets, from the root of the repository on
	// unsure says that what git ignores may be said elsewhere than in the files that are here: in
	// files that it has in the list alone, or in a list that cannot be read.
	unsure bool
}

// tracked is what git has under version control in a repository.
func (g *gatherer) tracked(repository string) trackedFiles {
	if files, known := g.trackedIn[repository]; known {
		return files
	}
	files := g.readTracked(repository)
	if g.trackedIn == nil {
		g.trackedIn = map[string]trackedFiles{}
	}
	g.trackedIn[repository] = files
	return files
}

func (g *gatherer) readTracked(repository string) trackedFiles {
	at := repository + "/.git"
	if text, ok := readSmall(at, 4<<10); ok { // of a second work tree, or of a submodule
		to, found := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if !found {
			return trackedFiles{unsure: true}
		}
		if at = to; !stdpath.IsAbs(to) {
			at = repository + "/" + to
		}
	}
	if _, err := g.fs.Lstat(at + "/index"); errors.Is(err, fs.ErrNotExist) {
		return trackedFiles{}
	}
	if g.indexWork >= maxIndexWork {
		return trackedFiles{unsure: true}
	}
	index, ok := readSmall(at+"/index", maxIndex)
	if !ok {
		return trackedFiles{unsure: true}
	}
	g.indexWork += len(index)
	out := trackedFiles{secrets: map[string]bool{}}
	if !eachTracked(index, &g.indexWork, func(name string, here bool) {
		if path.Credential("/" + name) {
			out.secrets[name] = true
		}
		if !here && (stdpath.Base(name) == ".gitignore" || strings.HasSuffix(name, "/")) {
			out.unsure = true
		}
	}) {
		return trackedFiles{unsure: true}
	}
	return out
}

// What an entry of git's index is made of: times, owner and size, the digest of the
// content, and the flags.
const (
	indexHead   = 12
	indexStat   = 40
	indexDigest = 20
	indexFixed  = indexStat + indexDigest + 2

	indexExtended = 0x4000 // flags follow
	indexIntent   = 0x2000 // among those: the file is to be added, and is not yet
	indexSkipped  = 0x4000 // it is not looked for in the work tree
)

// eachTracked yields the names in git's index, in versions 2 to 4 with digests of SHA-1, and
// whether their files are looked for in the work tree. It adds the bytes of all names to work, and
// reports whether it read a list to its end; the names stand in order there, and what is in none
// was something else.
func eachTracked(index []byte, work *int, yield func(name string, here bool)) bool {
	if len(index) < indexHead || string(index[:4]) != "DIRC" {
		return false
	}
	version, count := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version < 2 || version > 4 {
		return false
	}
	rest := index[indexHead:]
	var before []byte
	for range count {
		name, flags, size := indexEntry(rest, before, version == 4)
		if size == 0 || len(name) == 0 || name[0] == '/' || bytes.Compare(before, name) > 0 {
			return false
		}
		if *work += len(name); *work > maxIndexWork {
			return false
		}
		if flags&indexIntent == 0 {
			yield(string(name), flags&indexSkipped == 0)
		}
		rest, before = rest[size:], name
	}
	return true
}

// indexEntry reads the first entry: its name, its flags, and how long it is, 0 if it is none.
func indexEntry(rest, before []byte, prefixed bool) (name []byte, flags uint16, size int) {
	if len(rest) < indexFixed+2 {
		return nil, 0, 0
	}
	at := indexFixed
	if binary.BigEndian.Uint16(rest[at-2:])&indexExtended != 0 {
		flags = binary.BigEndian.Uint16(rest[at:])
		at += 2
	}
	var shared []byte
	if prefixed {
		cut, n := indexCut(rest[at:])
		if n == 0 || cut > len(before) {
			return nil, 0, 0
		}
		shared, at = before[:len(before)-cut], at+n
	}
	length := bytes.IndexByte(rest[at:], 0)
	if length < 0 {
		return nil, 0, 0
	}
	name = append(shared[:len(shared):len(shared)], rest[at:at+length]...)
	if size = at + length + 1; !prefixed {
		size = (at + length + 8) &^ 7 // with one to eight zeros behind the name
	}
	if size > len(rest) {
		return nil, 0, 0
	}
	return name, flags, size
}

// indexCut reads how many bytes of the name before are not in the next one, and how
// many bytes say so; these are 0 if none do.
func indexCut(text []byte) (cut, n int) {
	for n < len(text) && n < 4 {
		b := text[n]
		if n++; n > 1 {
			cut++
		}
		if cut = cut<<7 | int(b&0x7f); b < 0x80 {
			return cut, n
		}
	}
	return 0, 0
}
