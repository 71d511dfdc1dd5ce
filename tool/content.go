package tool

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sayso-dev/sayso"
)

// content is what was in a file when it was looked at.
type content struct {
	text     []byte // all of it, for a file that is changed; nil otherwise
	digest   sayso.Digest
	size     int64
	modified time.Time
}

// load reads all of a file that is going to be changed.
func load(f *os.File) (content, error) {
	text, err := readAt(f, MaxFile)
	if err != nil {
		return content{}, err
	}
	return content{text: text, digest: sha256.Sum256(text), size: int64(len(text))}, nil
}

// readAt reads a file from its beginning, wherever its handle stands.
func readAt(f *os.File, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%w: %w: more than %d bytes", sayso.ErrInvalid, errTooLarge, limit)
	}
	return text, err
}

// weigh takes down what is in a file that is not read for its content: its
// digest, or for a large one its size and time.
func weigh(f *os.File) (content, error) {
	info, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	c := content{size: info.Size(), modified: info.ModTime()}
	if c.size > MaxFile {
		return c, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, MaxFile+1)); err != nil {
		return content{}, err
	}
	c.digest = sayso.Digest(h.Sum(nil))
	return c, nil
}

// unchanged reports whether the file still holds what it held.
func (c content) unchanged(p *place) error {
	now, err := weigh(p.file)
	if err != nil {
		return err
	}
	if now.size != c.size || now.digest != c.digest || c.digest.IsZero() && !now.modified.Equal(c.modified) {
		return p.moved("the file holds something else")
	}
	return nil
}

// replace puts text in the place of what is in an open file. If it fails the
// old content is put back.
func (c content) replace(f *os.File, text []byte) error {
	err := fill(f, text)
	if err == nil {
		return nil
	}
	if back := fill(f, c.text); back != nil {
		return errors.Join(err, fmt.Errorf("putting back what was in the file: %w", back))
	}
	return err
}

func fill(f *os.File, text []byte) error {
	if n, err := f.WriteAt(text, 0); err != nil {
		return fmt.Errorf("after %d bytes: %w", n, err)
	}
	if err := f.Truncate(int64(len(text))); err != nil {
		return err
	}
	return f.Sync()
}

// isText reports whether a file can be shown to a model as text.
func isText(b []byte) bool { return bytes.IndexByte(b, 0) < 0 }
