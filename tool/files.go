package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// The names of the file tools.
const (
	ReadFile   = "read_file"
	WriteFile  = "write_file"
	EditFile   = "edit_file"
	ListFiles  = "list_files"
	DeleteFile = "delete_file"
	MoveFile   = "move_file"
)

// Limits of the file tools.
const (
	MaxRead  = 1 << 20  // bytes of a file that one call returns; more is read in parts
	MaxFile  = 16 << 20 // bytes of a file that is edited or written
	MaxNames = 2000     // names that one call lists
)

// Files are tools that read, write, edit, list, delete and move files beneath
// the folders of [sayso.PathRules]. They are a [Set], a [Describer] and an
// [Asker]; [Wrap] puts a gate before them.
//
// A path is taken as the kernel takes it, from the working directory, links
// before dot-dot. It must lie in one of the folders, the most specific of which
// decides, and its last name must have one of the folder's endings. What it
// leads to is opened before anybody is asked, name by name from the folder's
// own handle; that is what is asked about, and what is used. If the names lead
// elsewhere by the time of use, or the bytes that a change starts from are
// others, nothing is done.
//
// Refused whatever anybody says: what lies outside of all folders or on another
// file system, devices, sockets, pipes, names in /proc, paths that are empty,
// too long or hold a NUL. Changes to control files and to files with more than
// one name always ask; without a gate they are refused, since then nobody can be
// asked.
//
// Files are used by many goroutines. Close lets go of the folders.
type Files struct {
	dir   string
	roots []*root
	ops   map[string]func(*Files, context.Context, sayso.Call) (*plan, error)
}

// OpenFiles opens the folders of rules for tools that work in dir, which is
// where relative paths start. Rules without folders stand for dir itself, where
// reading is free and changing asks. A folder that is not there is an error.
func OpenFiles(dir string, rules sayso.PathRules) (*Files, error) {
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the file tools: %w", err)
	}
	roots, err := openRoots(real, rules)
	if err != nil {
		return nil, fmt.Errorf("opening the file tools: %w", err)
	}
	return &Files{dir: real, roots: roots, ops: map[string]func(*Files, context.Context, sayso.Call) (*plan, error){
		ReadFile: (*Files).read, WriteFile: (*Files).write, EditFile: (*Files).edit,
		ListFiles: (*Files).list, DeleteFile: (*Files).remove, MoveFile: (*Files).move,
	}}, nil
}

// Close lets go of the folders.
func (f *Files) Close() error {
	closeRoots(f.roots)
	return nil
}

// Call implements [Set], without a gate: the folders and what may be done in
// them hold, and nobody is asked.
func (f *Files) Call(ctx context.Context, c sayso.Call) (Result, error) { return bare(ctx, f, c) }

// Ask implements [Asker].
func (f *Files) Ask(ctx context.Context, c sayso.Call) (*Ask, error) { return planAsks(ctx, f, c) }

func (f *Files) plan(ctx context.Context, c sayso.Call) (*plan, error) {
	op := f.ops[c.Tool]
	if op == nil {
		return nil, unknown(c.Tool)
	}
	if c.Cwd == "" {
		c.Cwd = f.dir
	}
	if c.Cwd != f.dir && !sameFolder(c.Cwd, f.dir) {
		return nil, fmt.Errorf("%w: %s: the call is for another directory than that of the tools", sayso.ErrInvalid, c.Tool)
	}
	p, err := op(f, ctx, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Tool, err)
	}
	return p, nil
}

// sameFolder reports whether a directory is the one with a resolved name.
func sameFolder(dir, real string) bool {
	a, errA := os.Stat(dir)
	b, errB := os.Stat(real)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// planAsks is what the plan of a call asks. Its presentation opens everything
// anew, since nothing is held open between asking and running here.
func planAsks(ctx context.Context, s planner, c sayso.Call) (*Ask, error) {
	p, err := s.plan(ctx, c)
	if err != nil {
		return nil, err
	}
	defer p.end()
	for _, part := range p.parts {
		if part.ask == nil {
			continue
		}
		a := *part.ask
		if a.Present != nil {
			a.Present = func(ctx context.Context) (*sayso.Presentation, error) { return planPresents(ctx, s, c) }
		}
		return &a, nil
	}
	return nil, nil
}

func planPresents(ctx context.Context, s planner, c sayso.Call) (*sayso.Presentation, error) {
	p, err := s.plan(ctx, c)
	if err != nil {
		return nil, err
	}
	defer p.end()
	for _, part := range p.parts {
		if part.ask != nil && part.ask.Present != nil {
			return part.ask.Present(ctx)
		}
	}
	return nil, nil
}

// where names the folders, for those who are told that a path is in none.
func (f *Files) where() string {
	var names []string
	for _, r := range f.roots {
		if r.Name == "" {
			return r.real
		}
		names = append(names, r.Name+" ("+r.real+")")
	}
	return strings.Join(names, ", ")
}

// arguments reads the arguments of a call, strictly.
func arguments(c sayso.Call, into any) error {
	if len(c.Args) == 0 {
		return fmt.Errorf("%w: there are no arguments", sayso.ErrInvalid)
	}
	if err := jcs.Unmarshal(c.Args, into); err != nil {
		return fmt.Errorf("%w: arguments: %w", sayso.ErrInvalid, err)
	}
	return nil
}

// looking asks about reading at a place, if its folder wants that.
func (p *place) looking(c sayso.Call, title string, ignores ...string) (part, error) {
	return p.asking(c, p.root.Read, "read from", title, ignores)
}

// changing asks about a change at a place, if its folder wants that, and
// whatever it wants if the file steers programs or has another name.
func (p *place) changing(c sayso.Call, title string, ignores ...string) (part, error) {
	effect, why := p.root.Write, ""
	switch {
	case path.Control(p.resolved()):
		why = "the file steers other programs"
	case p.file != nil && names(p.info) > 1:
		why = "the file has another name as well, and would change there too"
	}
	if why != "" {
		effect = effect.Meet(sayso.Ask)
	}
	out, err := p.asking(c, effect, "changed", title, ignores)
	out.person = why
	return out, err
}

func (p *place) asking(c sayso.Call, effect sayso.Effect, verb, title string, ignores []string) (part, error) {
	out := part{call: c, operands: []sayso.PathFact{p.fact("path")}}
	switch {
	case effect == sayso.Deny:
		return out, fmt.Errorf("%s: %w: %s may not be %s", p.title(), sayso.ErrNotAllowed, p.folder(), verb)
	case p.dir == nil && !p.root.fits(p.name):
		return out, fmt.Errorf("%s: %w: names in %s end in %s", p.title(), sayso.ErrNotAllowed, p.folder(), strings.Join(p.root.Suffixes, ", "))
	case effect == sayso.Allow:
		return out, nil
	}
	payload, err := jcs.Marshal(fingerprint{p.rel, p.root.Name})
	if err != nil {
		return out, err
	}
	out.ask = &Ask{ToolAsk: sayso.ToolAsk{Required: true, Description: title + " " + p.title(), Payload: payload, Ignores: ignores}}
	return out, nil
}

// fingerprint is what a yes to any content at a place matches on.
type fingerprint struct {
	Path    string `json:"path"`
	Sandbox string `json:"sandbox"`
}

func (p *place) folder() string {
	if p.root.Name == "" {
		return "this folder"
	}
	return p.root.Name
}

// regular refuses what is no file.
func (p *place) regular() error {
	switch {
	case p.dir != nil:
		return fmt.Errorf("%s: %w: it is a folder", p.title(), sayso.ErrInvalid)
	case p.file == nil:
		return fmt.Errorf("%s: %w: there is no such file", p.title(), sayso.ErrNotFound)
	}
	return nil
}

var errTooLarge = errors.New("the file is too large")
