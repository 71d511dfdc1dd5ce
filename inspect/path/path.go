// Package path says where a path leads on a file system, and what kind of
// place that is.
//
// A rule about a path is worth nothing if it reads the path differently from
// the kernel that opens it. [Resolve] therefore follows links in the order in
// which the kernel does: each link before the dot-dot behind it, at most
// [MaxLinks] of them, a missing last name through its existing parents, a
// dangling link to the place where a write through it would create a file. It
// works on an [FS], so every set-up can be tested without a disk.
//
// [Control] and [Credential] know by name the files that steer tools and the
// files that hold secrets. They compare without case and without the
// characters that some file systems ignore, and they speak of names, whether
// or not anything exists there.
//
// What Resolve returns was true when it looked. Whoever opens the file later
// must open it in a way that cannot follow a link put there since.
package path

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Limits of what is resolved; they are those of Linux.
const (
	MaxLinks = 40   // links followed on the way
	MaxPath  = 4096 // bytes of a path, and of a link's target
	MaxName  = 255  // bytes of one name
)

// The reasons why a path leads nowhere that can be named. Besides these,
// [Resolve] returns what the file system says.
var (
	ErrEmpty    = errors.New("path is empty")
	ErrNUL      = errors.New("path holds a NUL byte")
	ErrTooLong  = errors.New("path or name is too long")
	ErrLinks    = errors.New("too many links, or a loop of them")
	ErrNotDir   = errors.New("a file is used as a folder")
	ErrGap      = errors.New("dot-dot behind a folder that does not exist")
	ErrRelative = errors.New("path is relative and no working directory is known")
)

// Info is what is known of one name without following it.
type Info struct {
	Mode  fs.FileMode
	Links int // names that the file has, 0 when not known
}

// FS is the file system that paths are resolved on. Names are absolute. A name
// that nothing has is an error for which errors.Is(err, fs.ErrNotExist) holds.
type FS interface {
	// Lstat describes a name; the name of a link is the link.
	Lstat(name string) (Info, error)
	// Readlink returns the target of a link.
	Readlink(name string) (string, error)
}

// Lister is what an [FS] may be besides: one whose folders can be looked into.
type Lister interface {
	// Names returns up to n names in a folder, in no order.
	Names(dir string, n int) ([]string, error)
}

// Walker is what an [FS] may be besides: one that tells what the names in a folder are.
type Walker interface {
	// Entries returns up to n names in a folder, in no order, each with what it is: the
	// type alone of its mode.
	Entries(dir string, n int) ([]Entry, error)
}

// Entry is a name in a folder.
type Entry struct {
	Name string
	Type fs.FileMode
}

// State is what was found at the end of a path.
type State string

// The states.
const (
	File    State = "file"
	Dir     State = "dir"
	Missing State = "missing" // nothing there; its existing parents were resolved
	Special State = "special" // a device, a socket, a FIFO, or a link of /proc
)

// Result is where a path leads.
type Result struct {
	Path  string // absolute, clean, free of links
	State State
	Links int // names that the file has; 0 for what is missing
}

// Resolve returns where name leads for a process whose working directory is
// cwd. A tilde is a name like any other.
//
// An error means that the kernel would refuse the path too, or that it cannot
// be known where it leads; there is no Result then.
func Resolve(fsys FS, cwd, name string) (Result, error) {
	if err := check(name); err != nil {
		return Result{}, err
	}
	if name[0] != '/' {
		if cwd == "" || cwd[0] != '/' {
			return Result{}, ErrRelative
		}
		if err := check(cwd); err != nil {
			return Result{}, fmt.Errorf("working directory: %w", err)
		}
		name = cwd + "/" + name
	}
	w := walk{fsys: fsys, rest: name, at: "/", state: Dir}
	for w.rest != "" {
		if err := w.step(); err != nil {
			return Result{}, err
		}
	}
	if w.special {
		w.state = Special
	}
	return Result{Path: w.at, State: w.state, Links: w.links}, nil
}

// check refuses what no system call would take.
func check(name string) error {
	switch {
	case name == "":
		return ErrEmpty
	case len(name) > MaxPath:
		return ErrTooLong
	case strings.IndexByte(name, 0) >= 0:
		return ErrNUL
	}
	return nil
}

// walk is a path half resolved: at is free of links, rest is still to do.
type walk struct {
	fsys     FS
	at       string
	rest     string
	state    State
	links    int
	followed int
	special  bool
}

// step takes the next name off rest.
func (w *walk) step() error {
	name, rest, more := strings.Cut(w.rest, "/")
	w.rest = rest
	if name == "" && w.state != File && w.state != Special {
		return nil
	}
	if w.state != Dir && w.state != Missing {
		return fmt.Errorf("%s: %w", w.at, ErrNotDir)
	}
	switch name {
	case ".":
		return nil
	case "..":
		return w.up()
	}
	if len(name) > MaxName || len(w.at)+len(name) > MaxPath {
		return ErrTooLong
	}
	return w.down(name, more)
}

// up leaves the folder reached. What is reached holds no link, so its parent
// is the one that the kernel would find.
func (w *walk) up() error {
	if w.state == Missing {
		return fmt.Errorf("%s: %w", w.at, ErrGap)
	}
	w.at = w.at[:strings.LastIndexByte(w.at, '/')]
	if w.at == "" {
		w.at = "/"
	}
	return nil
}

// down enters name. A slash behind it says that it must be a folder.
func (w *walk) down(name string, slash bool) error {
	parent := w.at
	if parent != "/" {
		w.at += "/"
	}
	w.at += name
	if w.state == Missing {
		return nil
	}
	info, err := w.fsys.Lstat(w.at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.state, w.links = Missing, 0
		return nil
	case err != nil:
		return err
	case info.Mode&fs.ModeSymlink != 0:
		return w.follow(parent, slash)
	}
	w.state, w.links = stateOf(info.Mode), info.Links
	if slash && w.state != Dir {
		return fmt.Errorf("%s: %w", w.at, ErrNotDir)
	}
	return nil
}

// follow puts the target of the link reached in front of what is left.
func (w *walk) follow(parent string, slash bool) error {
	if w.followed++; w.followed > MaxLinks {
		return fmt.Errorf("%s: %w", w.at, ErrLinks)
	}
	target, err := w.fsys.Readlink(w.at)
	if err != nil {
		return err
	}
	if err := check(target); err != nil {
		return fmt.Errorf("%s: target: %w", w.at, err)
	}
	if parent == "/proc" || strings.HasPrefix(parent, "/proc/") {
		// These links lead elsewhere for every process that follows them.
		w.special = true
	}
	w.at = parent
	if target[0] == '/' {
		w.at = "/"
	}
	if slash {
		target += "/" + w.rest
	}
	w.rest, w.state = target, Dir
	return nil
}

func stateOf(m fs.FileMode) State {
	switch {
	case m.IsDir():
		return Dir
	case m.IsRegular():
		return File
	}
	return Special
}
