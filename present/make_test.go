package present_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

func TestFile(t *testing.T) {
	p := present.File("a.go", "package a\n")
	want := sayso.Presentation{Type: "file_content", Content: "package a\n", Language: "go", Metadata: map[string]string{"path": "a.go", "size": "10 B", "lines": "1"}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFile_binary(t *testing.T) {
	zeros := strings.Repeat("\x00", 2292)
	for content, want := range map[string]string{
		"\x89PNG\r\n\x1a\n" + zeros:                        "Binary file: image/png (2.3 KB)",
		"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n":           "Binary file: application/pdf (23 B)",
		"\x7fELF\x02\x01\x01" + zeros:                      "Binary file: application/x-elf (2.3 KB)",
		"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + zeros: "Binary file: application/gzip (2.3 KB)",
		zeros:                         "Binary file: application/octet-stream (2.3 KB)",
		"\xff\xfeh\x00i\x00\n\x00":    "Binary file: text/plain; charset=utf-16le (8 B)",
		"SQLite format 3\x00" + zeros: "Binary file: application/vnd.sqlite3 (2.3 KB)",
		strings.Repeat("\xf0\x9f\x98\x80\xfe\xfd\xfc", 1000): "Binary file: application/octet-stream (7.0 KB)",
	} {
		if got := present.File("x", content).Content; got != want {
			t.Errorf("%.20q is shown as %q, want %q", content, got, want)
		}
	}
	if got := present.Diff("x.png", "text", "\x89PNG\r\n\x1a\n"+zeros).Content; got != "from Binary file: text/plain (4 B)\nto Binary file: image/png (2.3 KB)" {
		t.Errorf("the change to a picture is shown as %q", got)
	}
}

// What can be read is shown, whatever a stray byte or the first letters would
// have a sniffer believe.
func TestFile_textIsShown(t *testing.T) {
	for _, content := range []string{
		"", "a", "#!/bin/sh\nrm -rf /\n", "#!/bin/sh\n\x00rm -rf \"$HOME\"\n", "%PDF-1.7\nrm -rf /\n", "GIF89a=1; rm -rf /\n", "BM\nrm\n",
		`{"json":1}`, "<svg></svg>", "<?xml version='1.0'?>", "\x1b[31mred\x1b[0m\n", strings.Repeat("Привет, мир! 你好\n", 900), "caf\xe9 au lait, s'il vous pla\xeet\n",
		strings.Repeat("x", 8191) + "é" + strings.Repeat("x", 100),
	} {
		if p := present.File("x", content); p.Content != content {
			t.Errorf("%.40q is shown as %.40q", content, p.Content)
		}
	}
}

func TestOtherPresentations(t *testing.T) {
	mark := sayso.Mark{From: 0, To: 2, Kind: sayso.MarkProgram}
	tests := []struct{ got, want sayso.Presentation }{
		{present.Command("ls", "/w"), sayso.Presentation{Type: "command", Content: "ls", Language: "bash", Metadata: map[string]string{"cwd": "/w"}}},
		{present.Command("ls", "", mark), sayso.Presentation{Type: "command", Content: "ls", Language: "bash", Marks: []sayso.Mark{mark}}},
		{present.Structured([]byte(`{"b":1.50,"a":[]}`)), sayso.Presentation{Type: "structured", Content: "{\n  \"b\": 1.50,\n  \"a\": []\n}", Language: "json"}},
		{present.Structured([]byte(`no JSON`)), sayso.Presentation{Type: "structured", Content: "no JSON", Language: "json"}},
		{present.PlainText("hi"), sayso.Presentation{Type: "text", Content: "hi"}},
		{present.Diff("f", "a", "a"), sayso.Presentation{Type: "text", Content: "no change", Metadata: map[string]string{"path": "f"}}},
		{present.Noted(present.Noted(present.PlainText("hi"), "a"), "b"), sayso.Presentation{Type: "text", Content: "hi", Metadata: map[string]string{"note": "a; b"}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A note is not written into a map that somebody else holds.
func TestNoted_leavesTheOther(t *testing.T) {
	p := present.File("a", "b")
	present.Noted(p, "c")
	if p.Metadata["note"] != "" {
		t.Error("the first one has the note too")
	}
}

func TestStructured_deepIsNotIndented(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	if got := present.Structured([]byte(deep)).Content; got != deep {
		t.Errorf("%d bytes became %d", len(deep), len(got))
	}
}

func TestVW3_longContentKeepsHeadTailAndCount(t *testing.T) {
	long := strings.Repeat("абвгд\n", present.MaxContent/5)
	for name, p := range map[string]sayso.Presentation{
		"text": present.PlainText(long), "file": present.File("a", long), "command": present.Command(long, "/w", sayso.Mark{From: 0, To: 10}, sayso.Mark{From: len(long) - 1, To: len(long)}),
	} {
		n := utf8.RuneCountInString(long)
		head, rest, ok := strings.Cut(p.Content, "\n[… ")
		note, tail, ok2 := strings.Cut(rest, " …]\n")
		if !ok || !ok2 || !strings.HasPrefix(long, head) || !strings.HasSuffix(long, tail) || !utf8.ValidString(p.Content) {
			t.Fatalf("%s: %.40q … %.40q", name, head, tail)
		}
		var left int
		if _, err := fmt.Sscan(note, &left); err != nil || left != n-utf8.RuneCountInString(head)-utf8.RuneCountInString(tail) {
			t.Errorf("%s: %q of %d, shown %d and %d", name, note, n, utf8.RuneCountInString(head), utf8.RuneCountInString(tail))
		}
		if p.Metadata["left_out"] != note || len(p.Content) > present.MaxContent+100 {
			t.Errorf("%s: %q, %d bytes", name, p.Metadata["left_out"], len(p.Content))
		}
		for _, m := range p.Marks {
			if m.To == 0 || m.To > len(p.Content) {
				t.Errorf("mark %+v of %d bytes", m, len(p.Content))
			}
		}
	}
}

func TestVW3_excerpt(t *testing.T) {
	p := present.PlainText("1\n2\n3\n4\n5\n6\n7\n8\n9\n10")
	short := present.Excerpt(p, 6)
	if want := "1\n2\n3\n4\n... [5 more lines]\n10"; short.Content != want {
		t.Errorf("got %q, want %q", short.Content, want)
	}
	if short.Metadata["full_content"] != p.Content {
		t.Error("the whole is not kept")
	}
	if same := present.Excerpt(p, 10); same.Content != p.Content || same.Metadata != nil {
		t.Errorf("what fits is cut: %+v", same)
	}
}

func TestFollow(t *testing.T) {
	const text = "TOKEN=secret curl -d @x https://a"
	shown := strings.Replace(text, "secret", "[hidden 6 bytes]", 1)
	at := func(s, part string) sayso.Mark {
		i := strings.Index(s, part)
		return sayso.Mark{From: i, To: i + len(part), Text: part}
	}
	gone := func(part string) sayso.Mark { return sayso.Mark{Text: part} }
	marks := []sayso.Mark{at(text, "TOKEN"), at(text, "TOKEN=secret"), at(text, "curl"), at(text, "https://a"), {From: -1, To: 3}, {From: 5, To: 2}, {From: 0, To: 99}}
	want := []sayso.Mark{at(shown, "TOKEN"), gone("TOKEN=secret"), at(shown, "curl"), at(shown, "https://a"), {}, {}, {}}
	if diff := cmp.Diff(want, present.Follow(text, shown, marks)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzFollow: a mark that has a place marks the same text as before.
func FuzzFollow(f *testing.F) {
	f.Add("TOKEN=secret curl", "TOKEN=[hidden] curl", 0, 5)
	f.Add("aaaa", "aaa", 1, 3)
	f.Fuzz(func(t *testing.T, text, shown string, from, to int) {
		for _, m := range present.Follow(text, shown, []sayso.Mark{{From: from, To: to}}) {
			if m.From < 0 || m.To > len(shown) || m.From > m.To {
				t.Fatalf("%+v in %q", m, shown)
			}
			if m.To > m.From && text[from:to] != shown[m.From:m.To] {
				t.Fatalf("%q became %q", text[from:to], shown[m.From:m.To])
			}
		}
	})
}
