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
	path = InFolder(path)
	if strings.HasPrefix(path, "~/") {
		return "", fmt.Errorf("%w: %s: nobody is at home here; write the path from the root", sayso.ErrInvalid, path)
	}
	text, err := Read(path)
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

// InFolder is a path whose ~/ stands for the folder of the person, if that is
// known.
func InFolder(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if dir := PersonFolder(); ok && dir != "" {
		return filepath.Join(dir, rest)
	}
	return path
}
