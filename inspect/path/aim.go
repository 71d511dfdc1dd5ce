package path

import (
	"slices"
	"strings"
)

// CredentialGlob reports whether a pattern is aimed at files known to hold
// secrets: it names one, or fits one and is more than an ending that source
// files have too. A pattern for all files is aimed at none.
func CredentialGlob(g string) bool {
	for name := range strings.SplitSeq(GlobFolder(strings.ToLower(strings.ReplaceAll(g, "[", "*"))), "/") {
		if strings.HasPrefix(name, ".") && credentialRuns[name] != nil {
			return true
		}
	}
	return slices.ContainsFunc(unbracket(strings.ToLower(g)), aimsAtCredential)
}

// CredentialGlobIn reports whether a pattern of a shell is aimed at such files
// from the folder that the shell stands in.
func CredentialGlobIn(folder, g string) bool {
	return slices.ContainsFunc(unbracket(strings.ToLower(folder+"/"+g)), aimsAtCredential)
}

// ControlGlob is Control for a pattern of a shell: it reports whether a path that
// the pattern fits may be that of a control file. As in a shell a star and a
// question mark fit no dot in front of a name, and a pattern for every name, or
// for every name with a plain ending, is aimed at none.
func ControlGlob(g string) bool {
	return slices.ContainsFunc(unbracket(g), aimsAtControl)
}

// aimsAtControl is for patterns without brackets.
func aimsAtControl(g string) bool {
	names := globNames(g)
	for i, name := range names {
		if aimsAtAny(name, controlNames) || strings.Contains(name, "~") && GlobsMeet(name, "git~1") {
			return true
		}
		if i+1 < len(names) || everyName(name) {
			continue
		}
		for _, start := range controlStarts {
			open := start[0] == '.' || !strings.Contains(name[:min(len(name), 5)], "*")
			if fitsShell(name, start) || open && fitsShell(name, start+"*") {
				return true
			}
		}
	}
	return controlRuns.meet(names, strings.HasPrefix(g, "/"))
}

// aimsAtCredential is for patterns without brackets in lower case.
func aimsAtCredential(g string) bool {
	plainer := strings.ReplaceAll(g, anyOrDot, ".")
	for _, fill := range []string{"", "x", "."} {
		if Credential("/" + strings.NewReplacer("**", "x", "*", fill, "?", "x").Replace(plainer)) {
			return true
		}
	}
	names := globNames(g)
	if credentialRuns.meet(names, strings.HasPrefix(g, "/")) || opensSSH(names) {
		return true
	}
	last := strings.ReplaceAll(GlobName(g), anyOrDot, "?")
	if everyName(last) {
		return false
	}
	for name := range credentialNames {
		if fitsName(last, name) {
			return true
		}
	}
	for _, name := range [...]string{".env", ".env.local", ".env.production", "prod.env"} {
		if fitsName(last, name) {
			return true
		}
	}
	if wild := strings.ContainsAny(last, "*?"); wild && fitsShell(GlobName(g), ".env.*") {
		return true
	}
	for ending := range credentialEndings {
		if fitsName(last, "x."+ending) || endsLike(last, ending) {
			return true
		}
	}
	return endsLike(last, "env")
}

// opensSSH reports whether a path that the names fit may be that of a secret in
// .ssh.
func opensSSH(names []string) bool {
	for _, name := range names[:max(len(names)-1, 0)] {
		dotted := strings.HasPrefix(name, ".") && strings.ContainsAny(name, "*?")
		if dotted || strings.HasPrefix(name, anyOrDot) {
			if fitsShell(name, ".ssh") && CredentialGlob("/.ssh/"+names[len(names)-1]) {
				return true
			}
		}
	}
	return false
}

// endsLike reports whether the ending of a name may be this one, and says
// something about it.
func endsLike(name, ending string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && strings.Trim(name[dot+1:], "*?") != "" && GlobsMeet(name[dot+1:], ending)
}

// anyOrDot stands for a bracket in front of a name that lists a dot: whether it
// fits one is left open to shells.
const anyOrDot = "\x01"

// unbracket returns the readings of a pattern without its brackets: with a question
// mark for each, and, as the quotes are gone that said which belong together, with
// a star for all of a name from the first to the last.
func unbracket(g string) []string {
	if !strings.Contains(g, "[") {
		return []string{g}
	}
	names := strings.Split(g, "/")
	wide := slices.Clone(names)
	for i, name := range names {
		names[i] = eachBracket(name)
		if open := strings.IndexByte(name, '['); open >= 0 && strings.Count(name, "]") > 1 {
			wide[i] = name[:open] + "*" + name[max(open, strings.LastIndexByte(name, ']'))+1:]
		} else {
			wide[i] = names[i]
		}
	}
	if slices.Equal(names, wide) {
		return []string{strings.Join(names, "/")}
	}
	return []string{strings.Join(names, "/"), strings.Join(wide, "/")}
}

// eachBracket puts a question mark for each bracket of a name, and a star for one
// that does not close.
func eachBracket(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '[' {
			b.WriteByte(name[i])
			continue
		}
		n := bracket(name[i:])
		switch {
		case n == 0:
			b.WriteByte('*')
			continue
		case i == 0 && strings.Contains(name[:n], "."):
			b.WriteString(anyOrDot)
		default:
			b.WriteByte('?')
		}
		i += n - 1
	}
	return b.String()
}

// bracket is how long the bracket is that a text begins with, 0 if it does not
// close.
func bracket(text string) int {
	from := 1
	if strings.HasPrefix(text[from:], "!") || strings.HasPrefix(text[from:], "^") {
		from++
	}
	for i := from; i < len(text); i++ {
		switch {
		case text[i] == ']' && i > from:
			return i + 1
		case text[i] == '[' && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0:
			if n := strings.Index(text[i+2:], text[i+1:i+2]+"]"); n >= 0 {
				i += n + 3
			}
		}
	}
	return 0
}

// globNames are the names of a pattern without brackets, each as the most
// forgiving file system would take it.
func globNames(g string) (names []string) {
	for name := range strings.SplitSeq(g, "/") {
		if name != "" {
			names = append(names, plain(name))
		}
	}
	return names
}

// fitsShell reports whether a shell may put the name for the pattern.
func fitsShell(pattern, name string) bool {
	if pattern == "" || name[0] == '.' && pattern[0] != '.' && pattern[0] != anyOrDot[0] {
		return false
	}
	return GlobsMeet(strings.ReplaceAll(pattern, anyOrDot, "?"), name)
}

// aimsAtAny reports whether a pattern for one name is aimed at one of these.
func aimsAtAny(pattern string, names map[string]bool) bool {
	if !strings.ContainsAny(pattern, "*?"+anyOrDot) {
		return names[pattern]
	}
	if everyName(pattern) {
		return false
	}
	for name := range names {
		if fitsShell(pattern, name) {
			return true
		}
	}
	return false
}

// meet reports whether one of the runs may begin at one of the names. Of a run
// whose first name has no dot in front a pattern has to say the last name, and
// the first unless that stands at the root.
func (r runs) meet(names []string, rooted bool) bool {
	for i, name := range names {
		for first, rests := range r {
			if !fitsShell(name, first) || first[0] != '.' && everyName(name) && (i > 0 || !rooted) {
				continue
			}
			if i+1 == len(names) && holdsControl(first) && !everyName(name) {
				return true
			}
			if slices.ContainsFunc(rests, func(rest string) bool { return meetsRun(names[i:], rest, first[0] == '.') }) {
				return true
			}
		}
	}
	return false
}

// meetsRun reports whether the names behind the first may be those of a run.
func meetsRun(names []string, rest string, dotted bool) bool {
	if rest == "" {
		return true
	}
	wanted := strings.Split(rest, "/")
	for i, want := range wanted {
		switch {
		case i+1 == len(names):
			return false
		case names[i+1] == "**":
			return dotted
		case !fitsShell(names[i+1], want), !dotted && i+1 == len(wanted) && everyName(names[i+1]):
			return false
		}
	}
	return true
}

// everyName reports whether the last name of a pattern is any at all, or any
// with a plain ending.
func everyName(last string) bool {
	rest := strings.TrimLeft(last, "*")
	if len(rest) == len(last) {
		return last == ""
	}
	return rest == "" || rest == ".*" || rest[0] == '.' && !strings.ContainsAny(rest[1:], "*?.")
}
