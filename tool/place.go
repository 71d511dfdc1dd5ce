package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
)

// place is where a path of a call leads, held open: the folders from the root
// down to the last name, and what is there. What is decided about it is decided
// about what is open, and what is done is done to that, whatever the names lead
// to by then.
type place struct {
	given string
	// again says where the path leads by its names now.
	again func() (string, error)
	root  *root
	rel   string // from the root, without links
	steps []step // from the root, which is not among them, to the folder of the last name
	// name is the last name, "." for the root itself.
	name string
	// absent are folders that are not there yet, between the steps and the name.
	absent []string
	info   os.FileInfo // of what is there; nil if nothing is
	file   *os.File    // a regular file; nil for a folder and for nothing
	dir    *os.Root    // a folder; nil otherwise
}

// step is one folder on the way.
type step struct {
	name string
	dir  *os.Root
	info os.FileInfo
}

// errSwapped reports that a name led elsewhere from one look to the next.
var errSwapped = errors.New("it changes while it is looked at")

// looks is how often a path is read anew when names change under the reader.
const looks = 8

// open opens what a path leads to, with the flags of os.OpenFile for a file.
// A last name that is a link is followed, unless entry says that the call is
// about the name and not about what it leads to; then it is refused.
func (f *Files) open(given string, flags int, entry bool) (*place, error) {
	var last error
	for range looks {
		p, err := f.look(given, flags, entry)
		if err == nil || !errors.Is(err, errSwapped) {
			return p, err
		}
		last = err
	}
	return nil, fmt.Errorf("%w: %w", sayso.ErrMismatch, last)
}

// look opens a path once.
func (f *Files) look(given string, flags int, entry bool) (*place, error) {
	resolved, err := f.resolve(given, entry)
	if err != nil {
		return nil, err
	}
	r, rel := most(f.roots, resolved)
	if r == nil {
		return nil, fmt.Errorf("%s: %w: it lies outside of %s", given, sayso.ErrNotAllowed, f.where())
	}
	if err := r.inPlace(); err != nil {
		return nil, err
	}
	p := &place{given: given, root: r, rel: rel, name: "."}
	p.again = func() (string, error) { return f.resolve(given, entry) }
	if err := p.walk(f.roots, flags); err != nil {
		p.close()
		return nil, fmt.Errorf("%s: %w", r.title(rel), err)
	}
	return p, nil
}

// resolve says where a path leads by its names, as the kernel would follow it.
func (f *Files) resolve(given string, entry bool) (string, error) {
	at := given
	last := ""
	if entry {
		slash := strings.LastIndexByte(given, '/')
		at, last = given[:slash+1], given[slash+1:]
		if given != "" && (last == "" || last == "." || last == "..") {
			return "", fmt.Errorf("%w: %q is no name of a file", sayso.ErrInvalid, given)
		}
		if at == "" && given != "" {
			at = "."
		}
	}
	r, err := path.Resolve(path.OS{}, f.dir, at)
	if err == nil && entry {
		r, err = path.Resolve(nofollow{path.OS{}, strings.TrimSuffix(r.Path, "/") + "/" + last}, "", strings.TrimSuffix(r.Path, "/")+"/"+last)
	}
	if err == nil && r.State == path.Special {
		err = errors.New("it is a device, a socket, a pipe or a name in /proc")
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", sayso.ErrInvalid, printable(given), err)
	}
	return r.Path, nil
}

// nofollow is a file system on which one name must be no link.
type nofollow struct {
	path.FS
	name string
}

func (n nofollow) Readlink(name string) (string, error) {
	if name == n.name {
		return "", errors.New("it is a link; name what it leads to")
	}
	return n.FS.Readlink(name)
}

// printable is a path as an error may show it.
func printable(s string) string {
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// walk goes from the root to the place, name by name, through open folders.
func (p *place) walk(roots []*root, flags int) error {
	if p.rel == "." {
		var err error
		p.info = p.root.info
		p.dir, err = p.root.dir.OpenRoot(".")
		return err
	}
	names := strings.Split(p.rel, "/")
	p.name = names[len(names)-1]
	for i, name := range names[:len(names)-1] {
		s, err := p.enter(p.parent(), name, roots)
		if errors.Is(err, fs.ErrNotExist) {
			p.absent = names[i : len(names)-1]
			return nil
		}
		if err != nil {
			return err
		}
		p.steps = append(p.steps, s)
	}
	return p.last(roots, flags)
}

// parent is the deepest folder that is open on the way.
func (p *place) parent() *os.Root {
	if n := len(p.steps); n > 0 {
		return p.steps[n-1].dir
	}
	return p.root.dir
}

// enter opens a folder in a folder, and makes sure that it is what it was.
func (p *place) enter(in *os.Root, name string, roots []*root) (step, error) {
	before, err := in.Lstat(name)
	if err != nil {
		return step{}, err
	}
	if !before.IsDir() {
		return step{}, errSwapped // it was a folder a moment ago, when the links were followed
	}
	// The dot makes the kernel insist on a folder before anything is opened.
	dir, err := in.OpenRoot(name + "/.")
	if err != nil {
		return step{}, swapped(in, name, before, err)
	}
	info, err := dir.Stat(".")
	if err == nil {
		err = p.same(before, info, roots)
	}
	if err == nil {
		err = p.mounted(deviceOf(dir))
	}
	if err != nil {
		_ = dir.Close() // nothing was done with it
		return step{}, err
	}
	return step{name, dir, info}, nil
}

// same reports whether what was opened is what was looked at, and no root with
// rules of its own.
func (p *place) same(before, opened os.FileInfo, roots []*root) error {
	if !os.SameFile(before, opened) {
		return errSwapped
	}
	for _, r := range roots {
		if r != p.root && os.SameFile(r.info, opened) {
			return fmt.Errorf("%w: the folder of %q is in the way", sayso.ErrNotAllowed, r.Name)
		}
	}
	return nil
}

// mounted refuses what lies on another file system than the root.
func (p *place) mounted(d device, err error) error {
	if err == nil && d != p.root.device {
		err = fmt.Errorf("%w: another file system is mounted there; make it a folder of its own in the rules", sayso.ErrNotAllowed)
	}
	return err
}

// swapped tells the error of a name that is something else than a moment ago
// from the error of what it was.
func swapped(in *os.Root, name string, before os.FileInfo, err error) error {
	if now, e := in.Lstat(name); e != nil || !os.SameFile(now, before) {
		return fmt.Errorf("%w: %w", errSwapped, err)
	}
	return err
}

// last opens what has the last name.
func (p *place) last(roots []*root, flags int) error {
	in := p.parent()
	before, err := in.Lstat(p.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case before.IsDir():
		s, err := p.enter(in, p.name, roots)
		p.dir, p.info = s.dir, s.info
		return err
	case before.Mode()&fs.ModeSymlink != 0:
		return errSwapped
	case !before.Mode().IsRegular():
		return fmt.Errorf("%w: it is no regular file", sayso.ErrInvalid)
	}
	// Without waiting for the other end, should it be a pipe by now.
	file, err := in.OpenFile(p.name, flags|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return swapped(in, p.name, before, err)
	}
	p.file = file
	if p.info, err = file.Stat(); err != nil {
		return err
	}
	if !os.SameFile(before, p.info) || !p.info.Mode().IsRegular() {
		return errSwapped
	}
	return p.mounted(deviceOfFile(file))
}

// still reports whether the names lead to what is open: the path through its
// links, and the name of each folder and of the file without any.
func (p *place) still() error {
	if err := p.root.inPlace(); err != nil {
		return err
	}
	if now, err := p.again(); err != nil || now != p.resolved() {
		return p.moved("the path leads elsewhere")
	}
	in := p.root.dir
	for _, s := range p.steps {
		info, err := in.Lstat(s.name)
		if err != nil || !info.IsDir() || !os.SameFile(info, s.info) {
			return p.moved("a folder on the way to it is another one")
		}
		in = s.dir
	}
	if p.name == "." {
		return nil
	}
	name := p.name
	if len(p.absent) > 0 {
		name = p.absent[0]
	}
	info, err := in.Lstat(name)
	switch {
	case p.info == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case p.info == nil && err == nil:
		return p.moved("there was nothing of that name, and now there is")
	case err != nil || !os.SameFile(info, p.info):
		return p.moved("the name leads to something else")
	case p.file != nil && names(info) != names(p.info):
		return p.moved("the file has more or fewer names")
	}
	return nil
}

func (p *place) moved(why string) error {
	return fmt.Errorf("%w: %s has changed since it was looked at: %s", sayso.ErrMismatch, p.title(), why)
}

// title is how people are told of the place: notes:log.txt.
func (p *place) title() string { return p.root.title(p.rel) }

// resolved is the place as an absolute path without links.
func (p *place) resolved() string {
	if p.rel == "." {
		return p.root.real
	}
	return strings.TrimSuffix(p.root.real, "/") + "/" + p.rel
}

// fact is what policy is told of the place: what was opened, not what its name
// says.
func (p *place) fact(arg string) sayso.PathFact {
	f := sayso.PathFact{Arg: arg, Path: p.given, Resolved: p.resolved(), State: sayso.PathMissing}
	switch {
	case p.file != nil:
		f.State, f.Links = sayso.PathFile, names(p.info)
	case p.dir != nil:
		f.State = sayso.PathDir // how many names it has is how many folders are in it
	}
	return f
}

// names is how many names a file has.
func names(info os.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 0
}

func (p *place) close() {
	if p == nil {
		return
	}
	for _, s := range p.steps {
		_ = s.dir.Close()
	}
	if p.dir != nil {
		_ = p.dir.Close()
	}
	if p.file != nil {
		_ = p.file.Close() // what was written was synced, or failed
	}
}
