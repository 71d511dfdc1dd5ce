package tool_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sayso-dev/sayso/tool"
)

// FuzzFiles_path holds every path against what it must not do: read what is
// outside of the folders, or change what may only be read.
func FuzzFiles_path(f *testing.F) {
	for _, s := range []string{
		"notes/log.txt", "notes/../src/main.go", "notes/private/../log.txt", "../outside/canary.txt", "notes/out/canary.txt", "notes/out/../log.txt",
		"/etc/passwd", "/proc/self/root/etc/passwd", "notes/p/diary.txt", "notes//./sub/deep.txt", "", ".", "..", "notes/", "notes/log.txt/", "notes/log.txt/.",
		"\x00", "notes/\x00", "~/x", "notes/log.txt\x00.txt", strings.Repeat("../", 2000), strings.Repeat("notes/../", 400) + "notes/log.txt", "notes/nowhere/../log.txt",
	} {
		f.Add(s)
	}
	work, files := sandbox(f)
	link(f, "../../outside", work, "notes/out")
	link(f, "private", work, "notes/p")
	f.Fuzz(func(t *testing.T, path string) {
		if !utf8.ValidString(path) {
			return // no JSON text holds it
		}
		r, err := files.Call(t.Context(), calls(t, tool.ReadFile, obj{"path": path}))
		if err == nil && !strings.Contains("one\ntwo\nthree\n deep\n dear diary\n text\n package main\n written\n", r.Text) {
			t.Errorf("%q is read as %q", path, r.Text)
		}
		if _, err = files.Call(t.Context(), calls(t, tool.WriteFile, obj{"path": path, "content": "written\n"})); err != nil {
			return
		}
		for name, want := range map[string]string{"notes/private/diary.txt": "dear diary\n", "src/main.go": "package main\n", "../outside/canary.txt": "canary\n"} {
			if got := reads(t, work, name); got != want {
				t.Fatalf("writing to %q changed %s to %q", path, name, got)
			}
		}
	})
}
