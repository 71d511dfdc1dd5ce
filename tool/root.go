package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// root is one folder of the rules, held open.
type root struct {
	sayso.PathRoot
	real   string // absolute, without links, when it was opened
	dir    *os.Root
	info   os.FileInfo
	device device
}

// openRoots opens the folders of the rules, or dir itself if they name none.
func openRoots(dir string, rules sayso.PathRules) ([]*root, error) {
	given := rules.Roots
	if len(given) == 0 {
		given = []sayso.PathRoot{{Root: dir, Read: sayso.Allow, Write: sayso.Ask}}
	}
	var roots []*root
	for _, g := range given {
		r, err := openRoot(dir, g)
		if err == nil {
			err = r.distinct(roots)
		}
		if err != nil {
			closeRoots(append(roots, r))
			return nil, fmt.Errorf("folder %q: %w", g.Name, err)
		}
		roots = append(roots, r)
	}
	return roots, nil
}

func closeRoots(roots []*root) {
	for _, r := range roots {
		if r != nil && r.dir != nil {
			_ = r.dir.Close() // nothing was written through it
		}
	}
}

func openRoot(dir string, g sayso.PathRoot) (*root, error) {
	r := &root{PathRoot: g}
	at, err := rooted(dir, g.Root)
	if err == nil {
		r.real, err = filepath.EvalSymlinks(at)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not there; make it, or take it out of the rules: %w", g.Root, err)
	}
	if err != nil {
		return nil, err
	}
	if r.dir, err = os.OpenRoot(r.real); err != nil {
		return nil, err
	}
	if r.info, err = r.dir.Stat("."); err != nil {
		return r, err
	}
	if r.device, err = deviceOf(r.dir); err != nil {
		return r, err
	}
	if kind := r.device.synthetic(); kind != "" {
		return r, fmt.Errorf("%w: %s is of %s, whose files are none", sayso.ErrInvalid, r.real, kind)
	}
	return r, r.inPlace()
}

// rooted makes the path of a root absolute.
func rooted(dir, name string) (string, error) {
	switch {
	case name == "":
		return "", fmt.Errorf("%w: it has no path", sayso.ErrInvalid)
	case name == "~" || strings.HasPrefix(name, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return filepath.Join(home, name[1:]), nil
	case !filepath.IsAbs(name):
		return filepath.Join(dir, name), nil
	}
	return name, nil
}

// distinct refuses a root that is another one too: it would not be known which
// rules hold there.
func (r *root) distinct(others []*root) error {
	for _, o := range others {
		if os.SameFile(o.info, r.info) {
			return fmt.Errorf("%w: it is the folder of %q as well; keep one of them", sayso.ErrInvalid, o.Name)
		}
		if o.Name == r.Name {
			return fmt.Errorf("%w: there are two of that name", sayso.ErrInvalid)
		}
	}
	return nil
}

// inPlace reports whether the folder still is where it was opened.
func (r *root) inPlace() error {
	info, err := os.Lstat(r.real)
	if err == nil && !os.SameFile(info, r.info) {
		err = fmt.Errorf("%w: another folder is in its place", sayso.ErrMismatch)
	}
	if err != nil {
		return fmt.Errorf("%s has moved since it was opened; start again: %w", r.real, err)
	}
	return nil
}

// most returns the most specific root that holds a resolved path, and the path
// from there, "." for the root itself.
func most(roots []*root, resolved string) (found *root, rel string) {
	for _, r := range roots {
		if sayso.Beneath(r.real, resolved) && (found == nil || len(r.real) > len(found.real)) {
			found = r
		}
	}
	if found == nil {
		return nil, ""
	}
	rel = strings.TrimPrefix(strings.TrimPrefix(resolved, found.real), "/")
	if rel == "" {
		rel = "."
	}
	return found, rel
}

// title is how people are told of a path: notes:log.txt.
func (r *root) title(rel string) string {
	if r.Name == "" {
		return rel
	}
	return r.Name + ":" + rel
}

// fits reports whether the last name of a file has one of the endings that the
// root wants.
func (r *root) fits(name string) bool {
	return len(r.Suffixes) == 0 || slices.ContainsFunc(r.Suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}
