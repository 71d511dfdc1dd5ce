package policy

import (
	stdpath "path"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// sample is a value of the primary argument of a generated call.
type sample struct {
	text  string
	plain bool // it is what the pattern says, word for word
	none  bool // the argument is missing
}

func samples(plain bool, texts ...string) []sample {
	var out []sample
	for _, text := range texts {
		out = append(out, sample{text: text, plain: plain})
	}
	return out
}

// sample is a value of an argument that fits, as JSON has it.
func (v value) sample() any {
	if !v.scalar {
		return expandStars(v.text)[0]
	}
	var out any
	if jcs.Unmarshal([]byte(v.text), &out) != nil {
		return v.text
	}
	return out
}

// samples are values of the argument that a pattern speaks of.
func (l *linter) samples(e *entry, t sampleTool) []sample {
	operand := operandOf(t.tool)
	if t.tool.Primary == "" {
		return []sample{{none: true, plain: true}}
	}
	var out []sample
	switch m := e.m; {
	case m.server != "" || m.selector != nil || m.wild == "*":
		out = anySamples(operand)
	case m.path != nil && operand == sayso.OperandPath:
		out = m.path.samples(t, l.p, e.effect == sayso.Allow)
	case m.url != nil && operand == sayso.OperandURL:
		out = m.url.samples(e.effect == sayso.Allow)
	case m.glob != "":
		out = samples(true, expandStars(m.glob)...)
	case l.rules[e] != nil && operand == sayso.OperandCommand:
		out = l.commandSamples(e)
	default:
		out = anySamples(operand)
	}
	if e.effect != sayso.Allow {
		out = append(out, sample{none: true})
	}
	return out
}

// anySamples are values of any argument.
func anySamples(o sayso.Operand) []sample {
	switch o {
	case sayso.OperandCommand:
		return append(samples(true, freshWord, otherWord+" "+freshWord, "ls", "rm "+freshWord, "git status"),
			samples(false, "/usr/bin/"+freshWord, "sudo "+freshWord, freshWord+" $X", "ls; "+freshWord, freshWord+" (", "")...)
	case sayso.OperandPath:
		return append(samples(true, freshWord+".txt", freshWord+"/"+otherWord+".txt", "/etc/"+freshWord), samples(false, ".", ".env", ".git/config", "/"+freshWord, "")...)
	case sayso.OperandURL:
		return append(samples(true, "https://"+freshWord+".example/"+otherWord, "http://"+otherWord+".example/?q="+freshWord),
			samples(false, "http://localhost:8080/", "https://a@"+freshWord+".example/", "https://"+freshWord+".example:8443/", freshWord)...)
	}
	return append(samples(true, freshWord), samples(false, "")...)
}

// commandSamples are lines with the words of a pattern on commands.
func (l *linter) commandSamples(e *entry) []sample {
	r := l.rules[e]
	p := r.pattern
	if len(p.words) == 0 {
		return anySamples(sayso.OperandCommand)
	}
	var out []sample
	for _, words := range spellings(p) {
		line := strings.Join(words, " ")
		out = append(out, samples(true, line)...)
		if p.more {
			out = append(out, samples(true, line+" "+freshWord, line+" "+freshWord+" "+otherWord)...)
			out = append(out, samples(false, line+" -z "+freshWord, line+" --"+freshWord)...)
			for _, root := range r.named {
				out = append(out, samples(true, line+" "+root.Root+"/"+freshWord)...)
			}
		}
		if e.effect == sayso.Allow {
			continue
		}
		rest := strings.TrimPrefix(line, words[0])
		out = append(out, samples(false, "/usr/bin/"+line, "sudo "+line, words[0]+" -z"+rest, words[0]+" --"+freshWord+"="+otherWord+rest, line+" $X",
			words[0]+" $X", "$X"+rest, "sh -c "+shellQuoted(line), line+" (", freshWord+"; "+line, strings.ToUpper(words[0])+rest, line+" -z")...)
	}
	return out
}

// spellings are what the words of a pattern may be, as a line of bash has them.
func spellings(p *commandPattern) [][]string {
	out := [][]string{nil}
	for _, word := range p.words {
		var next [][]string
		for _, before := range out {
			for _, w := range expandStars(word) {
				next = append(next, append(before[:len(before):len(before)], shellQuoted(w)))
			}
		}
		if out = next; len(out) > 16 {
			out = out[:16]
		}
	}
	return out
}

// samples are paths that fit the pattern, and for all but an allow folders from
// which a search would come upon one.
func (p *pathPattern) samples(t sampleTool, in *Policy, allow bool) []sample {
	prefix := map[anchor]string{atRoot: "/", atHome: in.home + "/"}[p.anchor]
	out := []string{""}
	for _, name := range p.names {
		var next []string
		for _, before := range out {
			for _, fill := range in.pathNames(name) {
				next = append(next, strings.TrimPrefix(before+"/"+fill, "/"))
			}
		}
		if out = next; len(out) > 128 {
			out = out[:128]
		}
	}
	var all []sample
	for _, at := range out {
		if at = strings.ReplaceAll(strings.TrimSuffix(at, "/"), "//", "/"); at == "" && prefix == "" {
			at = "."
		}
		all = append(all, samples(true, prefix+at)...)
		if !allow && strings.Contains(at, "/") {
			all = append(all, samples(false, prefix+at[:strings.LastIndexByte(at, '/')])...)
		}
	}
	if !allow && (t.tool.Kind == sayso.KindList || t.tool.Kind == sayso.KindSearch) {
		all = append(all, samples(false, ".", "/")...)
		all = append(all, sample{none: true})
	}
	return all
}

// pathNames are what one component of a pattern may be: also the folders that
// the policy names, with files that may be in them.
func (p *Policy) pathNames(name string) []string {
	if name != "**" {
		out := expandStars(name)
		for _, r := range p.rooted {
			for _, root := range r.roots {
				if folder := stdpath.Base(root.Root); strings.Contains(name, "*") && glob(name, strings.ToLower(folder)) {
					out = append(out, folder)
				}
				if len(root.Suffixes) > 0 && strings.Contains(name, "*") {
					out = append(out, strings.ReplaceAll(name, "*", freshWord+root.Suffixes[0]))
				}
			}
		}
		return out
	}
	out := []string{freshWord, "", freshWord + "/" + otherWord + ".txt", ".env", ".git/config"}
	for _, r := range p.rooted {
		for _, root := range r.roots {
			file := freshWord
			if len(root.Suffixes) > 0 {
				file += root.Suffixes[0]
			}
			folder := strings.TrimPrefix(stdpath.Clean(atHomeOf(root.Root, p.home)), "/")
			out = append(out, folder, folder+"/"+file, folder+"/"+freshWord)
		}
	}
	return out
}

// samples are addresses that fit the pattern.
func (p *urlPattern) samples(allow bool) []sample {
	schemes := []string{p.scheme}
	if p.scheme == "" {
		schemes = []string{"https", "http"}
	}
	hosts := []string{p.host}
	switch {
	case p.under != "":
		hosts = []string{freshWord + p.under, otherWord + "." + freshWord + p.under}
	case p.host == "":
		hosts = []string{freshWord + ".example", otherWord + ".example.com"}
	}
	paths := []string{p.path}
	switch {
	case p.anyPath:
		paths = []string{"/" + freshWord, "/", "/" + freshWord + "/" + otherWord + "?q=" + freshWord}
	case p.more:
		paths = []string{p.path + freshWord, p.path, p.path + freshWord + "/" + otherWord + "?q=" + freshWord}
	}
	var out []sample
	for _, scheme := range schemes {
		for _, host := range hosts {
			for _, path := range paths {
				base := scheme + "://" + authority(scheme, host, p.portOf(scheme)) + path
				out = append(out, samples(true, base)...)
				if !allow {
					out = append(out, samples(false, scheme+"://a@"+authority(scheme, host, p.portOf(scheme))+path, scheme+"://"+authority(scheme, host, p.portOf(scheme))+"/%2e%2e"+path,
						scheme+"://"+authority(scheme, host, max(p.port, 8443))+path, base+"?"+freshWord)...)
				}
			}
		}
	}
	return out
}

// portOf is the port of an address with a scheme that fits.
func (p *urlPattern) portOf(scheme string) int {
	switch {
	case p.port != 0:
		return p.port
	case scheme == "http":
		return 80
	}
	return 443
}
