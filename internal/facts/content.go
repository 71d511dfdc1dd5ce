package facts

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/sayso-dev/sayso"
)

// MaxContent is the largest file, in bytes, whose content is pinned when a call
// would change it, and that a change is compared with.
const MaxContent = 1 << 20

// changed pins the content of the file that a call would change. Where it is
// not known which file that is, none is.
func (g *gatherer) changed() {
	kind := g.call.EffectiveKind()
	if kind != sayso.KindWrite && kind != sayso.KindEdit || len(g.facts.Operands) != 1 || g.ctx.Err() != nil {
		return
	}
	if o := &g.facts.Operands[0]; o.State == sayso.PathFile {
		o.Digest, _, _ = digestOf(o.Resolved, MaxContent)
	}
}

// The reasons why there is no content. Besides these, [Content] returns what the
// system says.
var (
	ErrUnpinned = errors.New("its content is not known")
	ErrChanged  = errors.New("it changed since the call was made")
	ErrTooLarge = errors.New("it is too large to be compared")
	ErrNoFile   = errors.New("it is no regular file")
)

// Content returns what is in the file of a fact, on the machine where it was
// gathered: exactly what the fact pins, or an error. The errors name no paths.
func Content(o sayso.PathFact) (string, error) {
	if o.Resolved == "" || o.State != sayso.PathFile {
		return "", ErrNoFile
	}
	f, err := os.OpenFile(o.Resolved, readOnly, 0)
	if err != nil {
		return "", nameless(err)
	}
	defer f.Close() // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", nameless(err)
	case !info.Mode().IsRegular():
		return "", ErrNoFile
	case info.Size() > MaxContent:
		return "", fmt.Errorf("%w: %d bytes, and %d are the most", ErrTooLarge, info.Size(), MaxContent)
	case o.Digest.IsZero():
		return "", ErrUnpinned
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxContent+1))
	if err != nil {
		return "", nameless(err)
	}
	if sayso.Digest(sha256.Sum256(text)) != o.Digest {
		return "", ErrChanged
	}
	return string(text), nil
}

// nameless is an error of the system without the path.
func nameless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
