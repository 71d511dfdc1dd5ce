package path_test

import (
	gopath "path"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/path"
)

func TestGlobs(t *testing.T) {
	for text, want := range map[string][]string{
		"**/*.go":                             {"**/*.go"},
		"*.{ts,tsx}":                          {"*.ts", "*.tsx"},
		"*.go *.md":                           {"*.go", "*.md"},
		"*.go,*.md":                           {"*.go", "*.md"},
		"{a,b{c,d}}/x":                        {"a/x", "bc/x", "bd/x"},
		"src/**/*_test.go":                    {"src/**/*_test.go"},
		"!*.min.js":                           {"!*.min.js"},
		"größe/*.md":                          {"größe/*.md"},
		"./src/*":                             {"./src/*"},
		".github/workflows/*":                 {".github/workflows/*"},
		"*/x":                                 {"*/x"},
		"@types/**":                           {"@types/**"},
		"":                                    nil,
		"/etc/*":                              nil,
		"../*":                                nil,
		"{,/etc/*}":                           nil,
		"{x,{/etc,y}}/*":                      nil,
		".{.,}/*":                             nil,
		"[.][.]/*":                            nil,
		".?/**":                               nil,
		"??/**":                               nil,
		".*/**":                               nil,
		"!/etc/*":                             nil,
		"!!x":                                 nil,
		"x!y":                                 nil,
		"+(/etc)/*":                           nil,
		"~/**":                                nil,
		"$HOME/*":                             nil,
		"C:/x":                                nil,
		`a\b`:                                 nil,
		"{a":                                  nil,
		"a}":                                  nil,
		"*.go\t/etc/*":                        nil,
		"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}": nil,
	} {
		got, plain := path.Globs(text)
		if plain != (want != nil || text == "") || plain && !slices.Equal(got, want) {
			t.Errorf("Globs(%q) = %q, %v; want %q", text, got, plain, want)
		}
	}
}

func TestGlobFolder(t *testing.T) {
	for g, want := range map[string]string{
		"private/**": "private", "a/b/*.go": "a/b", "*.go": "", "a?/x": "", "a/b.go": "a/b.go", ".env": ".env", "**": "", "a/b*/c": "a",
	} {
		if got := path.GlobFolder(g); got != want {
			t.Errorf("GlobFolder(%q) = %q", g, got)
		}
	}
}

func TestGlobFits(t *testing.T) {
	for _, tt := range []struct {
		glob, rel string
		want      bool
	}{
		{".env", ".env", true}, {".env", "a/b/.env", true}, {"*.go", ".env", false}, {"*", "a/.env", true}, {"src/**", ".env", false},
		{"src/**", "src/a/.env", true}, {"**/*.pem", "a.pem", true}, {"**/*.pem", "a/b.PEM", true}, {"a/*", "a/b/c", false}, {"./*", ".env", true},
		{"?env", ".env", true}, {"**", "x", true}, {"a/**/z", "a/z", true}, {"a/**/z", "a/b/c/z", true}, {"a/**/z", "a/b/c", false},
	} {
		if got := path.GlobFits(tt.glob, tt.rel); got != tt.want {
			t.Errorf("GlobFits(%q, %q) = %v", tt.glob, tt.rel, got)
		}
	}
}

func TestGlobsMeet(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"*.go", "*.go", true}, {"*.go", "*.md", false}, {"a*", "*b", true}, {"a*c", "b*", false}, {"*", "", true}, {"?", "", false},
		{"a?c", "abc", true}, {"*_test.go", "main*", true}, {".env", "*.go", false}, {".env*", "*.local", true}, {"", "", true},
	} {
		if path.GlobsMeet(tt.a, tt.b) != tt.want || path.GlobsMeet(tt.b, tt.a) != tt.want {
			t.Errorf("%q and %q: want %v", tt.a, tt.b, tt.want)
		}
	}
}

func TestCredentialGlob(t *testing.T) {
	for g, want := range map[string]bool{
		".env": true, ".env*": true, ".e*": true, "**/.env": true, ".*": true, "*.pem": true, "*.p*": true, "id_*": true, "*_rsa": true, ".ssh/**": true,
		"*env": true, "?env": true, ".EN?": true, ".aws/*": true, "*.key": true, ".netr?": true, "*config": true, "prod.*": true,
		"**/*.go": false, "*": false, "**": false, "*.*": false, "*.json": false, "*.yml": false, "*_test.go": false, "src/**": false, "README*": false,
		"package.json": false, "*.test.ts": false, "docs/*.md": false, "*.d.ts": false, "Makefile": false, ".github/**": false, "": false, ".eslintrc*": false,
	} {
		if got := path.CredentialGlob(g); got != want {
			t.Errorf("CredentialGlob(%q) = %v", g, got)
		}
	}
}

func FuzzGlobs(f *testing.F) {
	for _, text := range []string{"**/*.{ts,tsx}", "{a,{b,c}}", ".{.,}/*", "!x y,z", "{,,,}", "a/{b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		globs, plain := path.Globs(text)
		if !plain {
			return
		}
		for _, g := range globs {
			if slices.Contains(strings.Split(g, "/"), "..") || strings.HasPrefix(g, "/") {
				t.Errorf("%q stands for %q", text, g)
			}
			path.CredentialGlob(g)
			path.GlobFolder(g)
		}
	})
}

// What a shell takes for the folder above leaves, however it is written.
func FuzzGlobLeaves(f *testing.F) {
	for _, text := range []string{".[!a]", ".[[:punct:]]", "[.][!x]", ".[a-z]", ".?", ".[]-]", "[^]a].", ".[--/]", "[!::::\x17::[:::]*", ".[[:a:].]", "[a\\]b.].", "[\\].]*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.ContainsAny(name, "/") {
			return
		}
		above, err := gopath.Match(strings.ReplaceAll(name, "[!", "[^"), "..")
		if err == nil && above && strings.Trim(name, "*") != "" && !path.GlobLeaves(name+"/x") {
			t.Errorf("%q fits the folder above, and stays", name)
		}
	})
}

// TestFS2_searchesThatLeaveTheirFolder: what may lead out is told from what is
// only an unusual name.
func TestFS2_searchesThatLeaveTheirFolder(t *testing.T) {
	for _, text := range []string{
		"../x", "src/../../x", "a/..", "{a,../b}", ".{.,}/x", "{.,x}{.,y}/z", "[.][.]/x", "[.].[x]/y", `\../x`, `.\./x`, "/etc/*", "{/etc/[p]*,x}", "x,/etc/[p]*", "!/etc/[a]", "~/x", "{a,~/b}", "$HOME/x",
		`\etc`, "C:/x", `C:\x`,
		".[!a]/*", ".[^a]/*", ".[[:punct:]]/*", "x/.[!a]/y", ".[+-/]/*", ".[]!-]/*", "[!a][!b]/x", ".[[.period.]]/*", ".[!]]/x", "{.[!a],x}/y",
		".@(.)/x", ".!(a)/x", ".?(a)./x", "+(.)/x", "+([!a])/x", ".*(a|@(.))/x",
	} {
		if !path.GlobLeaves(text) {
			t.Errorf("%q stays", text)
		}
	}
	for _, text := range []string{
		"", "*", "**/*.go", "src/**", "*.{ts,tsx}", "*.{test,spec}.[jt]s", "src/[id]/page.tsx", "app/(group)/x.ts", "!node_modules", "!**/*.min.js", "a b", "file[0-9].txt", "@scope/*", "c++/*.h", ".env*", ".github/**", "a.b.c", "x~", "a$b",
		"src/{a,b}/[!x]*.go", "src/[a-z][0-9]/x", "[id]/[slug]/page.tsx", "@(a|b)/*.ts", "!(node_modules)/**", "src/*.+(ts|tsx)",
	} {
		if path.GlobLeaves(text) {
			t.Errorf("%q leaves", text)
		}
	}
}
