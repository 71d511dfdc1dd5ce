package acp

import (
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// Present makes what a person is shown of a call: the command, the changes as the
// agent shows them, the parts of an address, and the arguments for all others. No
// file is read for it.
func Present(c sayso.Call) sayso.Presentation {
	var args struct {
		ACP *struct {
			Changes []change `json:"changes"`
			Title   *string  `json:"title"`
		} `json:"acp"`
	}
	if jcs.UnmarshalLenient(c.Args, &args) != nil {
		return present.Structured(c.Args)
	}
	if args.ACP != nil && len(args.ACP.Changes) > 0 {
		p := changes(args.ACP.Changes)
		if args.ACP.Title != nil {
			p = present.Noted(p, noInput)
		}
		return p
	}
	if args.ACP != nil && args.ACP.Title != nil {
		return present.Noted(present.PlainText(*args.ACP.Title), noInput)
	}
	if p, ok := present.Call(c); ok {
		return p
	}
	return present.Structured(c.Args)
}

// noInput is what a person must know of a call that shows no input.
const noInput = "the agent shows the title of this call alone, and not what it would run"

// changes are shown one after the other, each as the agent shows it.
func changes(list []change) sayso.Presentation {
	var all []string
	var first sayso.Presentation
	for i, one := range list {
		old := ""
		if one.Old != nil {
			old = *one.Old
		}
		p := present.Diff(one.Path, old, one.New)
		if i == 0 {
			first = p
		}
		if p.Type != sayso.PresentDiff {
			p.Content = one.Path + ": " + p.Content + "\n"
		}
		all = append(all, p.Content)
	}
	if len(list) == 1 {
		return present.Noted(first, "as the agent shows it; not compared with the file on disk")
	}
	p := present.PlainText(strings.Join(all, "\n"))
	return present.Noted(p, "several files, as the agent shows them; not compared with those on disk")
}
