package present

import (
	"github.com/sayso-dev/sayso"
	patches "github.com/sayso-dev/sayso/inspect/patch"
)

// Patch presents the patch that an argument holds. One of several files is shown
// as it is: it says it all, and in its own order.
func Patch(arg, text string, f sayso.Facts, content Content) sayso.Presentation {
	files, err := patches.Parse(text)
	switch {
	case err != nil:
		return Noted(PlainText(text), err.Error())
	case len(files) > 1 || files[0].To != "":
		return Noted(PlainText(text), "a patch, which is not compared with the files on disk")
	}
	file := files[0]
	target := Found(f, arg, file.Path, content)
	switch file.Do {
	case patches.Add:
		return target.Written(file.Text)
	case patches.Delete:
		return Noted(target.Written(""), "the file is deleted")
	}
	var edits []Edit
	for _, e := range file.Edits {
		edits = append(edits, Edit{Old: e.Old, New: e.New, AnyBreaks: true})
	}
	return target.Edited(edits...)
}
