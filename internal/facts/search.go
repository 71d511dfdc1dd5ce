package facts

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
)

// Limits of what is looked at for one search.
const (
	maxFolders = 16   // folders that its patterns name
	maxNames   = 2000 // names in each folder
)

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
		g.secrets()
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

// secrets adds the files known to hold secrets that lie right in the folders
// that were named. A folder that cannot be looked through to its end says so.
func (g *gatherer) secrets() {
	disk, ok := g.fs.(path.Lister)
	if !ok {
		return
	}
	for _, o := range g.facts.Operands {
		if o.State != sayso.PathDir || g.ctx.Err() != nil {
			g.facts.Truncated = g.facts.Truncated || g.ctx.Err() != nil
			continue
		}
		names, err := disk.Names(o.Resolved, maxNames+1)
		if err != nil || len(names) > maxNames {
			g.facts.Truncated = true
		}
		for _, name := range names {
			if at := strings.TrimSuffix(o.Resolved, "/") + "/" + name; path.Credential(at) && !slices.Contains(g.facts.Secrets, at) {
				g.facts.Secrets = append(g.facts.Secrets, at)
			}
		}
	}
	slices.Sort(g.facts.Secrets)
}
