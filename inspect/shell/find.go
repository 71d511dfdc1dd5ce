package shell

import (
	"slices"
	"strings"
)

// find follows -exec and its relatives, and names what deletes and writes.
func (c *call) find() (ok, fail dirs) {
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		switch w.Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			i = c.findExec(i)
		case "-delete":
			starts := c.starts()
			if len(starts) == 0 {
				c.trait(Deletes, w.Span, true, w.Text, nil)
			}
			for k := range starts {
				c.trait(Deletes, w.Span, true, w.Text, &starts[k])
			}
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			var target *word
			if i+1 < len(c.words) {
				target = &c.words[i+1]
			}
			if target == nil || !target.Literal() || !nowhere(target.Text) {
				c.trait(Writes, w.Span, true, w.Text, target)
			}
		case "-files0-from", "-D", "-f":
			i++
		case "-name", "-iname", "-lname", "-ilname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex":
			if literals(c.words[:i+1]) {
				i++ // a name, whatever it looks like
			}
		default:
			if w.Fixed == 0 && w.Unknown() {
				c.trait(Runs, w.Span, true, "an expression that is known only when it runs", nil)
			}
		}
	}
	return c.stay()
}

// literals reports whether all of the words are certain.
func literals(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !w.Literal() })
}

// findExec follows the command of one -exec, and returns where it ends.
func (c *call) findExec(i int) int {
	end := i + 1
	for end < len(c.words) {
		if t := c.words[end].Text; t == ";" || t == "+" && end > i+1 && c.words[end-1].Text == "{}" {
			break
		}
		end++
	}
	c.trait(Wraps, c.words[i].Span, true, c.words[i].Text, nil)
	words := c.words[i+1 : end]
	if len(words) == 0 {
		return end
	}
	dirs := c.dirs
	if strings.HasSuffix(c.words[i].Text, "dir") {
		c.dirs = unknownDirs
	}
	from := len(c.line.Commands)
	c.run(filled(words), c.scope.adding())
	c.dirs = dirs
	c.aimed(from)
	return end
}

// starts are the folders that find begins in: the words in front of its
// expression.
func (c *call) starts() []word {
	i := 1
	for i < len(c.words) && (c.words[i].Text == "-H" || c.words[i].Text == "-L" || c.words[i].Text == "-P") {
		i++
	}
	from := i
	for i < len(c.words) && !dashed(c.words[i].Text) && c.words[i].Text != "(" && c.words[i].Text != "!" {
		i++
	}
	return c.words[from:i]
}

// aimed gives what the commands of find write and delete the folder that it
// begins in for a target, where it fills in a name and begins in one folder.
func (c *call) aimed(from int) {
	starts := c.starts()
	if len(starts) > 1 {
		return
	}
	for i := from; i < len(c.line.Commands); i++ {
		for k := range c.line.Commands[i].Traits {
			t := &c.line.Commands[i].Traits[k]
			if t.Target == nil || t.Target.Text != "{}" || t.Target.Dynamic&^Added != 0 || (t.Kind != Deletes && t.Kind != Writes) {
				continue
			}
			target := Word{Text: ".", Fixed: 1, Span: t.Target.Span}
			if len(starts) == 1 {
				target = starts[0].Word
			}
			t.Target = &target
		}
	}
}

// filled marks the words of a command that find fills in.
func filled(words []word) []word {
	out := make([]word, len(words))
	for i, w := range words {
		if strings.Contains(w.Text, "{}") {
			w.Dynamic |= Added
			w.Fixed = min(w.Fixed, strings.Index(w.Text, "{}"))
		}
		out[i] = w
	}
	return out
}
