package facts

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
)

// maxFolders is how many folders the patterns of one search may name.
const maxFolders = 16

// hostReadings are what hosts make of a path before they open it: they cut the
// white space off both ends, put the person's folder in place of a tilde, and
// compose letters and their accents.
func (g *gatherer) hostReadings(text string) []string {
	var out []string
	add := func(reading string) {
		if reading != text && reading != "" && !slices.Contains(out, reading) {
			out = append(out, reading)
		}
	}
	trimmed := strings.TrimFunc(text, isBlank)
	for _, spelled := range []string{text, trimmed} {
		if rest, ok := strings.CutPrefix(spelled, "~"); ok && (rest == "" || rest[0] == '/') {
			for _, home := range g.homes {
				if home != "" {
					add(home + rest)
					add(norm.NFC.String(home + rest))
				}
			}
		}
		if spelled == "" && text != "" {
			spelled = "." // nothing but white space is nothing
		}
		add(spelled)
		add(norm.NFC.String(spelled))
	}
	return out
}

// isBlank reports whether JavaScript takes a character for white space.
func isBlank(r rune) bool { return unicode.IsSpace(r) && r != '\u0085' || r == '\ufeff' }

// search adds what a list or a search reaches besides its folder: the folders
// that its patterns name, and for a search the files with secrets in all these.
func (g *gatherer) search(tool sayso.Tool, args map[string]any) {
	if tool.Kind != sayso.KindList && tool.Kind != sayso.KindSearch {
		return
	}
	for _, name := range tool.Narrow {
		if text, ok := args[name].(string); ok {
			g.folders(tool.Primary, text)
		}
	}
	if tool.Kind == sayso.KindSearch {
		g.secrets(tool, args)
	}
}

// folders adds the places that stand in front of the first star of each
// pattern.
func (g *gatherer) folders(arg, text string) {
	globs, _ := path.Globs(text) // policy asks about those that are not plain
	roots := slices.Clone(g.facts.Operands)
	var seen []string
	for _, glob := range globs {
		folder := path.GlobFolder(glob)
		if folder == "" || folder[0] == '!' || slices.Contains(seen, folder) {
			continue
		}
		if seen = append(seen, folder); len(seen) > maxFolders {
			g.facts.Truncated = true
			return
		}
		for _, root := range roots {
			if root.Resolved != "" {
				g.name(g.fact(arg, root.Resolved+"/"+folder), folder)
			}
		}
	}
}

// secrets adds the files known to hold secrets that a search reads: all that lie
// beneath the folders that were named, however deep. One of which there is too much to
// look at says so.
func (g *gatherer) secrets(tool sayso.Tool, args map[string]any) {
	disk, ok := g.fs.(path.Walker)
	if !ok || namesOnly(g.call.Host, args) {
		return
	}
	skips := skipsIgnored[g.call.Host] && !takesInMore(tool, args)
	for _, o := range g.facts.Operands {
		if o.State != sayso.PathDir {
			continue
		}
		w := &walk{g: g, disk: disk, skips: skips}
		var rules ignoreRules
		if skips {
			rules, _, _ = g.ignoredAbove(o.Resolved)
		}
		w.folder(o.Resolved, "", rules)
		if w.cut {
			g.facts.Trees = append(g.facts.Trees, sayso.TreeFact{Path: o.Resolved, Cut: true})
		}
		for _, rel := range w.secrets {
			g.facts.Secrets = append(g.facts.Secrets, strings.TrimSuffix(o.Resolved, "/")+"/"+rel)
		}
	}
	slices.Sort(g.facts.Secrets)
	g.facts.Secrets = slices.Compact(g.facts.Secrets)
}

// skipsIgnored are the hosts whose searches leave out what git is told to ignore, unless
// a pattern takes in more: they run ripgrep with --hidden. Of others it is not known.
var skipsIgnored = set("claude-code", "opencode")

// takesInMore reports whether a search is narrowed by more than what it is to leave out.
// What fits such a pattern ripgrep reads, whoever says that it is to be ignored.
func takesInMore(tool sayso.Tool, args map[string]any) bool {
	for _, name := range tool.Narrow {
		value, given := args[name]
		text, isText := value.(string)
		globs, plain := path.Globs(text)
		if given && (!isText || !plain || slices.ContainsFunc(globs, func(glob string) bool { return !strings.HasPrefix(glob, "!") })) {
			return true
		}
	}
	return false
}

// namesOnly reports whether a search shows nothing of what is in the files, for certain.
// That of Claude Code does not, unless it is told to.
func namesOnly(host string, args map[string]any) bool {
	if host != "claude-code" {
		return false
	}
	for name, value := range args {
		if strings.EqualFold(name, "output_mode") && (name != "output_mode" || value != "files_with_matches" && value != "count") {
			return false
		}
	}
	return true
}
