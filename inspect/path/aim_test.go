package path

import (
	"maps"
	"math/rand/v2"
	stdpath "path"
	"slices"
	"strings"
	"testing"
)

// veil replaces letters of a path, at least one, by what a shell would put them
// for again, and perhaps the end of a name by a star.
func veil(r *rand.Rand, text string) string {
	var b strings.Builder
	from := 0
	for from < len(text) && !letter(text[from]) {
		from++
	}
	must := from + r.IntN(len(text)-from)
	for !letter(text[must]) {
		must--
	}
	for i := range len(text) {
		c := text[i]
		if !letter(c) || i != must && r.IntN(4) > 0 {
			b.WriteByte(c)
			continue
		}
		switch r.IntN(7) {
		case 0:
			b.WriteByte('?')
		case 1:
			b.WriteString("[" + string(c) + "]")
		case 2:
			b.WriteString("[^_]")
		case 3:
			b.WriteString("[" + string(c-1) + "-" + string(c+1) + "]")
		case 4:
			b.WriteString("[x" + string(c) + "]")
		case 5:
			b.WriteByte('*')
		case 6:
			b.WriteString("[" + string(c) + "]*")
		}
	}
	return b.String()
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' }

// listed are the paths of the lists, with something in folders.
func listed(names map[string]bool, r runs) []string {
	all := slices.Sorted(maps.Keys(names))
	for _, first := range slices.Sorted(maps.Keys(r)) {
		for _, rest := range r[first] {
			all = append(all, strings.TrimSuffix(first+"/"+rest, "/"))
		}
	}
	return all
}

// vague reports whether a pattern is one for every name somewhere.
func vague(g string) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(unbracket(g), "/"), "/"), func(name string) bool {
		return everyName(name) || strings.Trim(name[strings.LastIndexByte(name, '.')+1:], "*?") == ""
	})
}

func TestFS3_globsOfListedNames(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	control := append(listed(controlNames, controlRuns), ".bashrc.d", "sayso.sock")
	credential := append(listed(credentialNames, credentialRuns), ".env", ".env.local", ".env.staging", "app.env", "server.pem", "x.key", ".ssh/deploy")
	for range 3000 {
		for _, tt := range []struct {
			names []string
			aimed func(string) bool
		}{{control, ControlGlob}, {credential, CredentialGlob}} {
			name := tt.names[r.IntN(len(tt.names))]
			g := veil(r, name)
			if ok, err := stdpath.Match(g, name); err != nil || !ok {
				t.Fatalf("%q was to fit %q: %v", g, name, err)
			}
			if vague(g) {
				continue
			}
			for _, g := range []string{g, "a/" + g, strings.ReplaceAll(g, "[^", "[!")} {
				if !tt.aimed(g) {
					t.Errorf("%q fits %q and is not recognised", g, name)
				}
			}
		}
	}
}

// TestFS3_globsOfOtherNames: a pattern that fits none of them is no reason to ask.
func TestFS3_globsOfOtherNames(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"main.go", "docs/guide.md", "src/config.ts", "internal/room_test.go", ".gitignore", ".github/dependabot.yml", "web/index.html", "lib/workflows/a.yml", "file.txt", ".eslintrc.cjs"}
	control := listed(controlNames, controlRuns)
	for range 3000 {
		g := veil(r, names[r.IntN(len(names))])
		readings := unbracket(g)
		loose := readings[len(readings)-1]
		may := slices.ContainsFunc(control, func(name string) bool {
			for at := range strings.Split(loose, "/") {
				parts, want := strings.Split(loose, "/")[at:], strings.Split(name, "/")
				if len(want) > len(parts) {
					continue
				}
				if ok, _ := stdpath.Match(strings.Join(parts[:len(want)], "/"), name); ok {
					return true
				}
			}
			return false
		})
		last := GlobName(loose)
		socket, dots := GlobsMeet(last, "sayso.sock*"), GlobsMeet(last, ".bashrc.*") || GlobsMeet(last, ".zshrc.*") || GlobsMeet(last, ".profile.*")
		if !may && !socket && !dots && ControlGlob(g) {
			t.Errorf("%q fits no control file and is taken for one", g)
		}
	}
	for _, g := range []string{"*.go", "*", "**", "docs/*.md", "a?b", "*/config", "?git/x", "*ignore", "*_test.go", "s*_test.go", "[a-z]*.go", "src/*/profile/x", ".gitign*"} {
		if ControlGlob(g) {
			t.Errorf("%q is taken for a control file", g)
		}
	}
}

// FuzzAim gives any pattern to what looks for listed names in it.
func FuzzAim(f *testing.F) {
	for _, g := range []string{"http://[fd00:ec2::254]/x", ".[e]nv", "//[.]ssh/*", "[", "[[:x:]", "*/.g[it/*", "", "/", "[!a]//"} {
		f.Add(g)
	}
	f.Fuzz(func(t *testing.T, g string) {
		if len(g) > 200 {
			return
		}
		CredentialGlob(g)
		ControlGlob(g)
		CredentialGlobIn("/a", g)
	})
}
