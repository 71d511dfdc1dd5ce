package present_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

func TestDiff(t *testing.T) {
	tests := []struct {
		name, old, text, want string
		added, removed        string
	}{
		{"change", "a\nb\nc\n", "a\nB\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "1", "1"},
		{"new", "", "a\nb\n", "--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", "2", "0"},
		{"emptied", "a\n", "", "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n", "0", "1"},
		{"no newline at the end", "a", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "1", "1"},
		{"other line breaks", "a\r\nb\r\n", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\n+b\n", "2", "2"},
		{"lines like signs", "-- a\n", "++ b\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n--- a\n+++ b\n", "1", "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := present.Diff("f", tt.old, tt.text)
			want := sayso.Presentation{Type: "diff", Content: tt.want, Language: "diff", Metadata: map[string]string{"path": "f", "added": tt.added, "removed": tt.removed}}
			if diff := cmp.Diff(want, p); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The head of a difference names the file on one line, whatever its name.
func TestDiff_names(t *testing.T) {
	for name, want := range map[string]string{
		"/home/dev/a.go":           "--- a/home/dev/a.go\n+++ b/home/dev/a.go\n",
		"x\n@@ -1 +1 @@\n-rm\n+ls": `--- a/"x\n@@ -1 +1 @@\n-rm\n+ls"` + "\n" + `+++ b/"x\n@@ -1 +1 @@\n-rm\n+ls"` + "\n",
	} {
		got := present.Diff(name, "a\n", "b\n").Content
		if head, _, _ := strings.Cut(got, "@@ -1 +1 @@\n-a"); head != want {
			t.Errorf("%q: head %q, want %q", name, head, want)
		}
	}
}

func TestDiff_applies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		old, text := lines(r), lines(r)
		if old == text {
			continue
		}
		p := present.Diff("f", old, text)
		if got, err := present.Apply(p.Content, old); err != nil || got != text {
			t.Fatalf("from %q to %q: applied it gives %q, %v\n%s", old, text, got, err, p.Content)
		}
		if _, err := present.Apply(p.Content, old+"1\n"+old+"x"); old != "" && err == nil && !strings.HasPrefix(old+"1\n"+old+"x", old) {
			t.Fatalf("it also applies to another text")
		}
	}
}

// The program patch reads what we write as we do.
func TestDiff_patchAgrees(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("the program patch is not installed (TestDiff_applies covers the same); type: sudo apt-get install patch")
	}
	r := rand.New(rand.NewPCG(5, 6))
	dir := t.TempDir()
	for range 40 {
		old, text := lines(r), lines(r)
		if old == text || old == "" || text == "" {
			continue
		}
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("patch", "-s", "--fuzz=0", "--no-backup-if-mismatch", file)
		cmd.Stdin = strings.NewReader(present.Diff("f", old, text).Content)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("from %q to %q: %v %s", old, text, err, out)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, []byte(text)) {
			t.Fatalf("from %q to %q: patch makes %q, %v", old, text, got, err)
		}
	}
}

func lines(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		fmt.Fprintf(&b, "%d\n", r.IntN(4))
	}
	if r.IntN(4) == 0 {
		b.WriteString("end")
	}
	return b.String()
}

func TestApply_isStrict(t *testing.T) {
	const old = "a\nb\nc\n"
	good := present.Diff("f", old, "a\nB\nc\n").Content
	if got, err := present.Apply(good, old); err != nil || got != "a\nB\nc\n" {
		t.Fatalf("%q, %v", got, err)
	}
	for name, diff := range map[string]string{
		"another text":     strings.Replace(good, "-b", "-x", 1),
		"another context":  strings.Replace(good, "\n a\n", "\n x\n", 1),
		"too short a part": strings.Replace(good, "-1,3 +1,3", "-1,2 +1,2", 1),
		"too long a part":  strings.Replace(good, "-1,3 +1,3", "-1,4 +1,4", 1),
		"another place":    strings.Replace(good, "-1,3", "-2,3", 1),
		"far away":         strings.Replace(good, "-1,3", "-99,3", 1),
		"no place":         strings.Replace(good, "@@ -1,3 +1,3 @@", "@@ -x +y @@", 1),
		"a strange sign":   strings.Replace(good, "+B", "*B", 1),
		"words around it":  "hello\n" + good,
		"an empty line":    strings.Replace(good, "\n a\n", "\n\n", 1),
	} {
		if got, err := present.Apply(diff, old); !errors.Is(err, present.ErrNoFit) || got != "" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestDiff_isBoundedInTime(t *testing.T) {
	var a, b strings.Builder
	r := rand.New(rand.NewPCG(3, 4))
	for range 60000 {
		fmt.Fprintf(&a, "%d\n", r.IntN(500))
		fmt.Fprintf(&b, "%d\n", r.IntN(500))
	}
	begin := processor(t)
	p := present.Diff("f", a.String(), b.String())
	if took := processor(t) - begin; took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if len(p.Content) > present.MaxContent+100 || p.Metadata["left_out"] == "" {
		t.Errorf("%d bytes, left out: %q", len(p.Content), p.Metadata["left_out"])
	}
}

func TestDiff_tooLarge(t *testing.T) {
	p := present.Diff("f", strings.Repeat("a\n", present.MaxDiff/2), "b\n")
	want := sayso.Presentation{Type: "text", Content: "too large to be compared: 4.2 MB before, 2 B after", Metadata: map[string]string{"path": "f"}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSides(t *testing.T) {
	old := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"
	before, after := present.Sides(present.Diff("f", old, strings.Replace(strings.Replace(old, "1\n", "one\n", 1), "12", "-- twelve", 1)).Content)
	if want := "\x00\n1\n2\n3\n4\n\x00\n9\n10\n11\n12\n"; before != want {
		t.Errorf("before: %q, want %q", before, want)
	}
	if want := "\x00\none\n2\n3\n4\n\x00\n9\n10\n11\n-- twelve\n"; after != want {
		t.Errorf("after: %q, want %q", after, want)
	}
}

// FuzzDiff: whatever the texts, the difference of them is bounded, and applied
// to the one it gives the other.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("", "x")
	f.Add("a\r\n\u2028b", "a\n")
	f.Add("\\ No newline at end of file", "--- a\n+++ b\n@@ -1 +1 @@\n")
	f.Add(strings.Repeat("a\n", 50), strings.Repeat("a\n", 49)+"b")
	f.Fuzz(func(t *testing.T, old, text string) {
		p := present.Diff("f", old, text)
		if p.Type != sayso.PresentDiff || p.Metadata["left_out"] != "" {
			return
		}
		if got, err := present.Apply(p.Content, old); err != nil || got != text {
			t.Fatalf("from %q to %q: applied it gives %q, %v\n%s", old, text, got, err, p.Content)
		}
	})
}

// FuzzApply never panics, and makes no text of nothing.
func FuzzApply(f *testing.F) {
	f.Add("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nb\nc\n")
	f.Add("@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n", "")
	f.Fuzz(func(t *testing.T, diff, old string) {
		got, err := present.Apply(diff, old)
		if len(got) > len(diff)+len(old) || err != nil && got != "" {
			t.Fatalf("%q applied to %q: %q, %v", diff, old, got, err)
		}
	})
}

// processor is the processor time that this process has used. Unlike the time that
// passed it does not depend on what else the machine does.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
