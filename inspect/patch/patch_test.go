package patch_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/inspect/patch"
)

const whole = `*** Begin Patch
*** Add File: new.txt
+hello
+
*** Update File: src/a.go
*** Move to: src/b.go
@@ func a() {
 	keep
-	old
+	new

@@
+	last
*** End of File
*** Delete File: /tmp/c
*** End Patch
`

func TestParse(t *testing.T) {
	want := []patch.File{
		{Do: patch.Add, Path: "new.txt", Text: "hello\n\n"},
		{Do: patch.Update, Path: "src/a.go", To: "src/b.go", Edits: []patch.Edit{
			{At: "func a() {", Old: "\tkeep\n\told\n\n", New: "\tkeep\n\tnew\n\n"}, {New: "\tlast\n"},
		}},
		{Do: patch.Delete, Path: "/tmp/c"},
	}
	for _, text := range []string{whole, strings.TrimSuffix(whole, "\n")} {
		got, err := patch.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	if names := want[1].Names(); !slices.Equal(names, []string{"src/a.go", "src/b.go"}) {
		t.Errorf("an update that moves is about %q", names)
	}
}

// What a forgiving program might take for something else is not read.
func TestParse_refuses(t *testing.T) {
	within := func(lines ...string) string {
		return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
	}
	for name, text := range map[string]string{
		"nothing":                    "",
		"no end":                     strings.TrimSuffix(whole, "*** End Patch\n"),
		"something before":           "\n" + whole,
		"something after":            whole + "x\n",
		"a second patch":             whole + whole,
		"no file":                    "*** Begin Patch\n*** End Patch\n",
		"a head that is indented":    within("*** Add File: a", "+x", " *** Delete File: b"),
		"a head among what stays":    within("*** Update File: a", "@@", "-x", " *** Delete File: b"),
		"a head with a tab":          within("*** Add File: a", "+x", "\t*** Delete File: b"),
		"a head that is not known":   within("*** Copy File: a"),
		"a head in another case":     within("*** Add File: a", "+x", "*** delete file: b"),
		"an end inside":              within("*** Add File: a", "+x", "*** End Patch", "*** Delete File: b"),
		"a carriage return":          within("*** Delete File: a\r"),
		"a name that is empty":       within("*** Delete File: "),
		"a name with blanks":         within("*** Delete File:  a"),
		"a line of another sign":     within("*** Update File: a", "@@", "x"),
		"an added line without sign": within("*** Add File: a", "x"),
		"an update of nothing":       within("*** Update File: a"),
		"a deletion with lines":      within("*** Delete File: a", "-x"),
		"an environment":             within("*** Environment ID: x", "*** Delete File: a"),
	} {
		if files, err := patch.Parse(text); !errors.Is(err, patch.ErrNone) {
			t.Errorf("%s: read %+v, %v", name, files, err)
		}
	}
}

// FuzzParse: of a patch that is read, every line that any reader could take for
// the head of a file is one that was found.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Fuzz(func(t *testing.T, text string) {
		files, err := patch.Parse(text)
		if err != nil {
			return
		}
		heads := 0
		for line := range strings.Lines(text) {
			line = strings.ToLower(strings.TrimSpace(line))
			if strings.HasPrefix(line, "*** add") || strings.HasPrefix(line, "*** update") || strings.HasPrefix(line, "*** delete") {
				heads++
			}
		}
		if heads != len(files) {
			t.Errorf("%d heads, and %d files: %+v", heads, len(files), files)
		}
		for _, f := range files {
			if slices.Contains(f.Names(), "") {
				t.Errorf("a file without a name: %+v", f)
			}
		}
	})
}
