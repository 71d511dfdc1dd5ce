package shell_test

import "strings"

// wrapped is a command inside a wrapper.
func (g *generator) wrapped() string {
	g.depth++
	defer func() { g.depth-- }()
	names := make([]string, len(wrappings))
	for i, w := range wrappings {
		names[i] = w.name
	}
	name := g.least(names)
	var fitting []wrapping
	for _, w := range wrappings {
		if w.name == name {
			fitting = append(fitting, w)
		}
	}
	w := pick(g, fitting)
	g.used[name]++
	return g.wrap(w)
}

// wrap writes a wrapper with its options and a command.
func (g *generator) wrap(w wrapping) string {
	head := w.name
	for range g.IntN(3) {
		if len(w.options) > 0 && w.kind != "time" {
			o := pick(g, w.options)
			if head += " " + o; strings.HasSuffix(o, "--") || o == "root" {
				break
			}
		}
	}
	if w.name == "runuser" {
		head = "runuser -u nobody --"
	}
	if w.name == "direnv" || w.name == "uv" || w.name == "poetry" {
		head = w.name
	}
	if w.name == "setarch" {
		head = w.name + " x86_64" + pick(g, []string{"", " -R"})
		w.before = nil
	}
	for _, b := range w.before {
		head += " " + b
	}
	return g.wrapKind(head, w)
}

func (g *generator) wrapKind(head string, w wrapping) string {
	switch w.kind {
	case "text -c":
		return head + pick(g, []string{" -c "}) + g.quoted(g.inner())
	case "split":
		return "env " + pick(g, []string{"-S ", "--split-string="}) + "'" + pick(g, leaves) + " x y'" + pick(g, []string{"", " z"})
	case "builtin":
		if w.name == "builtin" {
			return "builtin eval " + g.quoted(g.inner())
		}
		return head + " " + g.plain()
	case "exec":
		return "(exec " + pick(g, []string{"", "-a x ", "-c "}) + g.words() + ")"
	case "find":
		return "find . -name x " + pick(g, []string{"-exec", "-execdir", "-ok", "-okdir"}) + " " + g.words() + pick(g, []string{" \\;", " ';'", " {} +", " {} \\; -print"})
	case "fd":
		return "fd x " + pick(g, []string{"-x ", "--exec ", "-X ", "--exec-batch "}) + g.words()
	case "time":
		return "\\time" + pick(g, []string{"", " -p", " -v", " -f x"}) + " " + g.words()
	case "remote":
		return head + " " + g.quoted(g.inner())
	case "shell":
		return g.shell(w.name)
	case "eval":
		return "eval " + g.quoted(g.inner())
	case "trap":
		return "(trap " + g.quoted(g.inner()) + " EXIT)"
	}
	if w.name == "watch" || w.name == "parallel" {
		return head + " " + pick(g, leaves) + " x y"
	}
	return head + " " + g.words()
}

// words is a command as plain words: no builtin, no shape.
func (g *generator) words() string {
	if g.IntN(5) == 0 && g.depth < 4 {
		for range 20 {
			w := pick(g, wrappings)
			switch w.kind {
			case "", "split", "text -c", "find", "fd":
				g.used[w.name]++
				g.depth++
				defer func() { g.depth-- }()
				return g.wrap(w)
			}
		}
	}
	return g.plain()
}

// shell is a shell that is given a text, in one of many ways.
func (g *generator) shell(name string) string {
	text := g.inner()
	switch g.IntN(6) {
	case 0:
		return name + " -xec " + g.quoted(text)
	case 1:
		return name + " -c -- " + g.quoted(text)
	case 2:
		return name + " -e -c " + g.quoted(text) + " zero one"
	case 3:
		return name + " <<<" + g.quoted(text)
	case 4:
		if g.noHdoc == 0 {
			g.bodies = append(g.bodies, text+"\nEND\n")
			return name + " <<'END'"
		}
	}
	return name + " -c " + g.quoted(text)
}

// quoted writes a text as one word.
func (g *generator) quoted(text string) string {
	switch g.IntN(3) {
	case 0:
		return `"` + strings.NewReplacer("\\", `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text) + `"`
	case 1:
		return "$'" + strings.NewReplacer("\\", `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`).Replace(text) + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
