package home

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/sayso-dev/sayso"
)

// ReadSecret reads a secret that the person keeps in a file, which must be
// closed to others. A name that begins with ~/ is below the folder of the
// person.
func ReadSecret(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		dir := PersonFolder()
		if dir == "" {
			return "", fmt.Errorf("%w: %s: nobody is at home here; write the path from the root", sayso.ErrInvalid, path)
		}
		path = filepath.Join(dir, rest)
	}
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: there is no file %s", sayso.ErrNotFound, path)
	}
	var open *OpenError
	if errors.As(err, &open) {
		return "", fmt.Errorf("%w; type: %s", err, open.Hint())
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}
