package present_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
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

func TestDiffApplies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		old, text := lines(r), lines(r)
		p := present.Diff("f", old, text)
		if old == text {
			continue
		}
		if got := apply(t, p.Content, old); got != text {
			t.Fatalf("from %q to %q: applied it gives %q\n%s", old, text, got, p.Content)
		}
	}
}

// apply applies a unified difference strictly: every line of it must fit.
func apply(t *testing.T, diff, old string) string {
	t.Helper()
	from := strings.SplitAfter(old, "\n")
	at := 0
	var out strings.Builder
	for line := range strings.SplitAfterSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), line == "":
		case strings.HasPrefix(line, "@@ -"):
			var start int
			fmt.Sscanf(line, "@@ -%d", &start)
			if !strings.Contains(line, ",0 +") {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(from[at])
			}
		case line[0] == '+':
			out.WriteString(line[1:])
		default:
			if at >= len(from) || from[at] != line[1:] {
				t.Fatalf("line %q does not fit at %d of %q", line, at, old)
			}
			if line[0] == ' ' {
				out.WriteString(line[1:])
			}
			at++
		}
	}
	out.WriteString(strings.Join(from[at:], ""))
	return out.String()
}

func lines(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		fmt.Fprintf(&b, "%d\n", r.IntN(4))
	}
	return b.String()
}

func TestDiffIsBoundedInTime(t *testing.T) {
	var a, b strings.Builder
	r := rand.New(rand.NewPCG(3, 4))
	for range 60000 {
		fmt.Fprintf(&a, "%d\n", r.IntN(500))
		fmt.Fprintf(&b, "%d\n", r.IntN(500))
	}
	begin := time.Now()
	present.Diff("f", a.String(), b.String())
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestFile(t *testing.T) {
	p := present.File("a.go", "package a\n")
	want := sayso.Presentation{Type: "file_content", Content: "package a\n", Language: "go", Metadata: map[string]string{"path": "a.go", "size": "10", "lines": "1"}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 2292)
	if got := present.File("x.png", png).Content; got != "Binary file: image/png (2.3 KB)" {
		t.Errorf("a picture is shown as %q", got)
	}
	if got := present.Diff("x.png", "text", png).Content; got != "from Binary file: text/plain (4 B)\nto Binary file: image/png (2.3 KB)" {
		t.Errorf("the change to a picture is shown as %q", got)
	}
}

func TestOtherPresentations(t *testing.T) {
	tests := []struct{ got, want sayso.Presentation }{
		{present.Command("ls", "/w"), sayso.Presentation{Type: "command", Content: "ls", Language: "bash", Metadata: map[string]string{"cwd": "/w"}}},
		{present.Structured([]byte(`{"b":1.50,"a":[]}`)), sayso.Presentation{Type: "structured", Content: "{\n  \"b\": 1.50,\n  \"a\": []\n}", Language: "json"}},
		{present.PlainText("hi"), sayso.Presentation{Type: "text", Content: "hi"}},
		{present.Diff("f", "a", "a"), sayso.Presentation{Type: "text", Content: "no change", Metadata: map[string]string{"path": "f"}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestExcerpt(t *testing.T) {
	p := present.PlainText("1\n2\n3\n4\n5\n6\n7\n8\n9\n10")
	short := present.Excerpt(p, 6)
	if want := "1\n2\n3\n4\n... [5 more lines]\n10"; short.Content != want {
		t.Errorf("got %q, want %q", short.Content, want)
	}
	if short.Metadata["full_content"] != p.Content {
		t.Error("the whole is not kept")
	}
}
