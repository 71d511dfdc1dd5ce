package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

type deleteArgs struct {
	Path string `json:"path"`
}

// remove plans delete_file.
func (f *Files) remove(_ context.Context, c sayso.Call) (*plan, error) {
	var a deleteArgs
	if err := arguments(c, &a); err != nil {
		return nil, err
	}
	p, err := f.open(a.Path, os.O_RDONLY, true)
	if err != nil {
		return nil, err
	}
	part, old, err := p.leaving(c, "Delete")
	if part.ask != nil {
		part.ask.Present = func(context.Context) (*sayso.Presentation, error) { return p.gone(old) }
	}
	run := func(context.Context) (Result, error) {
		if err := p.unchanged(old); err != nil {
			return Result{}, fmt.Errorf("%s: %w", c.Tool, err)
		}
		if err := p.parent().Remove(p.name); err != nil {
			return Result{}, fmt.Errorf("%s %s: %w", c.Tool, p.title(), err)
		}
		return Result{Text: p.title() + " is deleted"}, nil
	}
	return p.keep(&plan{parts: onePart(part), still: func() error { return p.unchanged(old) }, run: run}, err)
}

// leaving asks about a file that is not going to be there any more.
func (p *place) leaving(c sayso.Call, title string) (part, content, error) {
	if err := p.regular(); err != nil {
		return part{}, content{}, err
	}
	out, err := p.changing(c, title)
	if err != nil {
		return part{}, content{}, err
	}
	old, err := weigh(p.file)
	if err != nil {
		return part{}, content{}, fmt.Errorf("%s: %w", p.title(), err)
	}
	out.operands[0].Digest = old.digest
	return out, old, nil
}

// gone shows what is in a file that is not going to be there any more.
func (p *place) gone(old content) (*sayso.Presentation, error) {
	shown := present.PlainText(fmt.Sprintf("%s, %d bytes", p.title(), old.size))
	if old.size <= MaxRead {
		text, err := readAt(p.file, MaxRead)
		if err != nil {
			return nil, err
		}
		shown = present.File(p.rel, string(text))
	}
	return &shown, nil
}

type moveArgs struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// move plans move_file. For whoever decides it is a file deleted here and
// written there: two calls of tools that rules know, in one group. Where both
// folders ask, one question names both ends.
func (f *Files) move(_ context.Context, c sayso.Call) (*plan, error) {
	var a moveArgs
	if err := arguments(c, &a); err != nil {
		return nil, err
	}
	from, err := f.open(a.From, os.O_RDONLY, true)
	if err != nil {
		return nil, err
	}
	to, err := f.open(a.To, os.O_RDONLY, true)
	if err != nil {
		from.close()
		return nil, err
	}
	p, err := moving(c, a, from, to)
	if err != nil {
		from.close()
		to.close()
		return nil, err
	}
	p.close = func() { from.close(); to.close() }
	return p, nil
}

func moving(c sayso.Call, a moveArgs, from, to *place) (*plan, error) {
	if to.info != nil {
		return nil, fmt.Errorf("%s: %w: there is something of that name", to.title(), sayso.ErrConflict)
	}
	if c.GroupID == "" {
		c.GroupID = groupOf(c)
	}
	taken, given, err := ends(c, a, leads(c.Cwd, to))
	if err != nil {
		return nil, err
	}
	title := "Move " + from.title() + " to"
	leaves, old, err := from.leaving(taken, title)
	if err != nil {
		return nil, err
	}
	arrives, err := to.changing(given, title)
	if err != nil {
		return nil, err
	}
	for _, p := range []*part{&leaves, &arrives} {
		if p.ask == nil {
			continue
		}
		p.ask.Description, p.ask.GroupID = title+" "+to.title(), c.GroupID
		p.ask.Payload, p.ask.Ignores = nil, nil // a move is remembered as it is, or not at all
		p.ask.Present = func(context.Context) (*sayso.Presentation, error) { return from.gone(old) }
	}
	// Who says yes to the move says yes to where it leads, unless there is more to
	// know of that than its name.
	arrives.joint = leaves.ask != nil && arrives.person == ""
	still := func() error { return errors.Join(from.unchanged(old), to.still()) }
	run := func(context.Context) (Result, error) {
		if err := still(); err != nil {
			return Result{}, fmt.Errorf("%s: %w", c.Tool, err)
		}
		if err := from.moveTo(to); err != nil {
			return Result{}, fmt.Errorf("%s %s to %s: %w", c.Tool, from.title(), to.title(), err)
		}
		return Result{Text: from.title() + " is now " + to.title()}, nil
	}
	return &plan{parts: []part{leaves, arrives}, still: still, run: run}, nil
}

type leavesArgs struct {
	Path  string `json:"path"`
	To    string `json:"to"`
	Leads string `json:"leads,omitempty"` // where that is, if its name does not say so
}

type arrivesArgs struct {
	Path string `json:"path"`
	From string `json:"from"`
}

// leads is where a file goes whose name leads there through a link: a yes to the
// one is none to the other. It is empty where the name says it all.
func leads(cwd string, to *place) string {
	named := to.given
	if !filepath.IsAbs(named) {
		named = filepath.Join(cwd, named)
	}
	if at := to.resolved(); at != filepath.Clean(named) {
		return at
	}
	return ""
}

// ends are the two calls that a move is.
func ends(c sayso.Call, a moveArgs, leads string) (leaves, arrives sayso.Call, err error) {
	leaves, arrives = c, c
	leaves.Tool, arrives.Tool = DeleteFile, WriteFile
	if leaves.Args, err = jcs.Marshal(leavesArgs{a.From, a.To, leads}); err != nil {
		return leaves, arrives, fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	if arrives.Args, err = jcs.Marshal(arrivesArgs{a.To, a.From}); err != nil {
		return leaves, arrives, fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	if c.CallID != "" {
		leaves.CallID, arrives.CallID = c.CallID+"/from", c.CallID+"/to"
	}
	return leaves, arrives, nil
}

// groupOf is the group of the two ends of a move.
func groupOf(c sayso.Call) string {
	digest, err := c.Digest()
	if err != nil {
		return "" // then neither end is admitted
	}
	return "move-" + digest.String()[len("sha256:"):][:16]
}

// moveTo renames the file that is open to a name that nothing has.
func (p *place) moveTo(to *place) error {
	if err := to.make(); err != nil {
		return err
	}
	if err := rename(p.parent(), p.name, to.parent(), to.name); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return to.moved("there was nothing of that name, and now there is")
		}
		return err
	}
	info, err := to.parent().Lstat(to.name)
	if err != nil || os.SameFile(info, p.info) {
		return err
	}
	// Another file had the name in the last moment. It goes back to where it was.
	if err := rename(to.parent(), to.name, p.parent(), p.name); err != nil {
		return fmt.Errorf("another file was in its place and is now %s; moving it back: %w", to.title(), err)
	}
	return p.moved("the name leads to something else")
}
