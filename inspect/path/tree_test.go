package path_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/sayso-dev/sayso/inspect/path"
)

// tree is a file system in memory: each name and what it is. A link is written
// "-> target", a file "file" or "file 2" with its number of names.
type tree map[string]string

func (t tree) Lstat(name string) (path.Info, error) {
	what, ok := t[name]
	switch {
	case name == "/" || what == "dir":
		return path.Info{Mode: fs.ModeDir}, nil
	case !ok:
		return path.Info{}, fs.ErrNotExist
	case what == "denied":
		return path.Info{}, fs.ErrPermission
	case what == "fifo":
		return path.Info{Mode: fs.ModeNamedPipe}, nil
	case what == "file 2":
		return path.Info{Links: 2}, nil
	case strings.HasPrefix(what, "-> "), what == "->":
		return path.Info{Mode: fs.ModeSymlink}, nil
	}
	return path.Info{Links: 1}, nil
}

func (t tree) Readlink(name string) (string, error) {
	target, ok := strings.CutPrefix(t[name], "->")
	if !ok {
		return "", syscall.EINVAL
	}
	return strings.TrimPrefix(target, " "), nil
}

var house = tree{
	"/etc": "dir", "/etc/passwd": "file",
	"/proc": "dir", "/proc/7": "dir", "/proc/self": "-> 7", "/proc/7/cwd": "-> /work/app", "/proc/7/status": "file",
	"/work": "dir", "/work/app": "dir", "/work/app2": "dir", "/work/app2/secret": "file",
	"/work/app/a.txt":    "file",
	"/work/app/hard":     "file 2",
	"/work/app/fifo":     "fifo",
	"/work/app/sub":      "dir",
	"/work/app/sub/x":    "file",
	"/work/app/out":      "-> /etc",
	"/work/app/next":     "-> ../app2/sub",
	"/work/app/sib":      "-> ../app2",
	"/work/app/loop":     "-> loop",
	"/work/app/ping":     "-> pong",
	"/work/app/pong":     "-> ping",
	"/work/app/dangling": "-> /home/dev/new",
	"/work/app/tofile":   "-> a.txt",
	"/work/app/slashed":  "-> sub/",
	"/work/app/filesl":   "-> a.txt/",
	"/work/app/nothing":  "->",
	"/work/app/locked":   "denied",
	"/work/app/chain":    "-> sub/../out/../work/app/sib",
	"/work/app/~":        "dir",
	"/work/app/~/x":      "file",
}

func TestResolve(t *testing.T) {
	long := strings.Repeat("n", path.MaxName+1)
	for _, tt := range []struct {
		name, in, want string
		state          path.State
		err            error
	}{
		{"a file", "a.txt", "/work/app/a.txt", path.File, nil},
		{"absolute", "/etc/passwd", "/etc/passwd", path.File, nil},
		{"the working directory", ".", "/work/app", path.Dir, nil},
		{"blanks of the grammar", ".//sub/./x", "/work/app/sub/x", path.File, nil},
		{"above the root", "/../../etc/passwd", "/etc/passwd", path.File, nil},
		{"dot-dot out", "../app2/secret", "/work/app2/secret", path.File, nil},
		{"missing leaf", "sub/new", "/work/app/sub/new", path.Missing, nil},
		{"missing folders", "new/deep/leaf", "/work/app/new/deep/leaf", path.Missing, nil},
		{"missing leaf behind a link out", "out/new", "/etc/new", path.Missing, nil},
		{"a link out", "out/passwd", "/etc/passwd", path.File, nil},
		{"a link, then dot-dot: not back where it started", "out/../work/app2/secret", "/work/app2/secret", path.File, nil},
		{"a link to a sibling, then dot-dot", "sib/..", "/work", path.Dir, nil},
		{"a link through missing folders", "next/x", "/work/app2/sub/x", path.Missing, nil},
		{"dangling link", "dangling", "/home/dev/new", path.Missing, nil},
		{"link to a link with dot-dot in it", "chain/secret", "/work/app2/secret", path.File, nil},
		{"link to a folder, slash in the link", "slashed/x", "/work/app/sub/x", path.File, nil},
		{"a tilde is a name", "~/x", "/work/app/~/x", path.File, nil},
		{"a FIFO", "fifo", "/work/app/fifo", path.Special, nil},
		{"links of /proc mean another place for the tool", "/proc/self/cwd/a.txt", "/work/app/a.txt", path.Special, nil},
		{"a file with a slash behind it", "a.txt/", "", "", path.ErrNotDir},
		{"a file used as a folder", "a.txt/x", "", "", path.ErrNotDir},
		{"a file used as a folder and left again", "a.txt/../sub/x", "", "", path.ErrNotDir},
		{"a link to a file with a slash behind it", "tofile/", "", "", path.ErrNotDir},
		{"a link to a file with a slash in it", "filesl", "", "", path.ErrNotDir},
		{"dot-dot behind nothing", "new/../../app2/secret", "", "", path.ErrGap},
		{"dot-dot behind a dangling link", "dangling/../x", "", "", path.ErrGap},
		{"a loop of one", "loop", "", "", path.ErrLinks},
		{"a loop of two", "ping/x", "", "", path.ErrLinks},
		{"a link to nothing", "nothing", "", "", path.ErrEmpty},
		{"not readable", "locked/x", "", "", fs.ErrPermission},
		{"empty", "", "", "", path.ErrEmpty},
		{"NUL", "a.txt\x00.png", "", "", path.ErrNUL},
		{"long name", long, "", "", path.ErrTooLong},
		{"long path", strings.Repeat("a/", path.MaxPath/2) + "aa", "", "", path.ErrTooLong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := path.Resolve(house, "/work/app", tt.in)
			if !errors.Is(err, tt.err) || (tt.err == nil) != (err == nil) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if got.Path != tt.want || got.State != tt.state {
				t.Errorf("got %s (%s), want %s (%s)", got.Path, got.State, tt.want, tt.state)
			}
		})
	}
}

func TestResolve_workingDirectory(t *testing.T) {
	for _, cwd := range []string{"", "work/app"} {
		if _, err := path.Resolve(house, cwd, "a.txt"); !errors.Is(err, path.ErrRelative) {
			t.Errorf("relative to %q: error %v", cwd, err)
		}
	}
	got, err := path.Resolve(house, "/work/app/out", "../a")
	if err != nil || got.Path != "/a" {
		t.Errorf("a working directory is resolved too: got %s, %v", got.Path, err)
	}
}

func TestResolve_names(t *testing.T) {
	if got, _ := path.Resolve(house, "/work/app", "hard"); got.Links != 2 {
		t.Errorf("got %d names, want 2", got.Links)
	}
	if got, _ := path.Resolve(house, "/work/app", "hard2"); got.Links != 0 {
		t.Errorf("a missing file has %d names", got.Links)
	}
}
