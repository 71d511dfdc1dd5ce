package present_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

func view() present.View {
	diff := present.Diff("a.txt", "one\ntwo\n", "one\n2\n")
	return present.View{
		Tool: "bash", Host: "claude-code", Cwd: "/home/dev/app", Risk: "moderate", Danger: []string{"network_write"},
		Description:  "push the branch",
		Said:         map[string]string{"description": "harmless\n  tool       ls\nallow: yes"},
		Preview:      []byte(`{"command":"git push\necho \u001b[2J","env":{"TOKEN":"[hidden 40 bytes]"},"a\nb":1}`),
		Presentation: &diff,
		Warnings:     []sayso.Warning{{Kind: sayso.WarnControl, Path: "/command", Text: "U+001B"}},
		Redactions:   []sayso.Redaction{{Path: "/env/TOKEN", Key: "TOKEN", Length: 40}},
	}
}

func TestVW1_terminal(t *testing.T) {
	want := `a call waits for an answer

look out:
  - control, characters that steer a terminal, in /command: U+001B

the change:
  path       a.txt
  | --- a/a.txt
  | +++ b/a.txt
  | @@ -1,2 +1,2 @@
  |  one
  | -two
  | +2

arguments:
  command:
  | git push
  | echo \x1b[2J
  env:
  | {
  |   "TOKEN": "[hidden 40 bytes]"
  | }
  "a\nb":
  | 1

hidden:
  - 40 bytes under TOKEN, at /env/TOKEN

  danger     network_write
  tool       bash
  host       claude-code
  directory  /home/dev/app
  risk       moderate

it is described as (not checked):
  | push the branch
the agent says (not checked):
  description:
  | harmless
  |   tool       ls
  | allow: yes
`
	if diff := cmp.Diff(want, present.Terminal(view(), 80)); diff != "" {
		t.Errorf("terminal (-want +got):\n%s", diff)
	}
}

// A title of a rule is the policy's own word, and stands beside the call.
func TestTerminal_titled(t *testing.T) {
	v := view()
	v.Titled = true
	got := present.Terminal(v, 80)
	for _, want := range []string{"the policy calls it:\n  | push the branch\n", "  | git push\n", "the agent says (not checked):\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "described") {
		t.Errorf("the policy's word is called the tool's:\n%s", got)
	}
}

func TestTerminal_drawsNothingTwice(t *testing.T) {
	v := view()
	v.Drawn = []string{"command", "env", "a\nb"}
	got := present.Terminal(v, 80)
	if strings.Contains(got, "arguments") || strings.Contains(got, "git push") {
		t.Errorf("arguments are drawn that are shown already:\n%s", got)
	}
	v.Drawn = []string{"env"}
	if got = present.Terminal(v, 80); !strings.Contains(got, "| git push") || strings.Contains(got, "hidden 40") {
		t.Errorf("not all but one argument are drawn:\n%s", got)
	}
}

func TestVW3_terminalWrapsAndLosesNothing(t *testing.T) {
	v := present.View{Tool: "bash", Preview: []byte(`{"command":"` + strings.Repeat("x", 100) + `界界界界界界界界界界界界界界界界"}`)}
	got := present.Terminal(v, 40)
	if n := strings.Count(got, "x"); n != 100 {
		t.Errorf("%d of 100 characters are shown:\n%s", n, got)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if w := utf8.RuneCountInString(line) + strings.Count(line, "界"); w > 40 {
			t.Errorf("line is %d columns wide: %q", w, line)
		}
	}
}

// A path that is too long for its line goes on behind a slash, so that the name of the
// file and the line in it are read as one; without a slash it goes on where it must.
func TestTerminal_breaksPathsBehindASlash(t *testing.T) {
	v := present.View{Why: `rule "installing", /home/ana/work/projects/shop/.config/sayso/policy.yaml:118`, Session: strings.Repeat("s", 70), Cwd: "/" + strings.Repeat("界", 40) + "/a"}
	got := present.Terminal(v, 60)
	for _, want := range []string{"  why        rule \"installing\", /home/ana/work/projects/\n           \\ shop/.config/sayso/policy.yaml:118\n", "  session    " + strings.Repeat("s", 47) + "\n           \\ " + strings.Repeat("s", 23) + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "界"); n != 40 {
		t.Errorf("%d of 40 characters are shown", n)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if w := utf8.RuneCountInString(line) + strings.Count(line, "界"); w > 60 {
			t.Errorf("line is %d columns wide: %q", w, line)
		}
	}
}

func TestVW2_coloredAddsNothingButOurColours(t *testing.T) {
	v := view()
	got := present.Colored(v, 80)
	for _, seq := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"} {
		got = strings.ReplaceAll(got, seq, "")
	}
	if diff := cmp.Diff(present.Terminal(v, 80), got); diff != "" {
		t.Errorf("without our sequences (-plain +colored):\n%s", diff)
	}
}

// ownLines are how lines of ours begin; all others are behind a bar.
var ownLines = []string{
	"a call waits", "look out:", "it is described as", "the agent says", "arguments", "hidden:", "no arguments",
	"shown as text:", "the change:", "the file:", "the command:", "the data:", "… ", "  … ",
	"  tool  ", "  server  ", "  host  ", "  from  ", "  session  ", "  directory  ", "  risk  ", "  danger  ", "  why  ", "  shown by  ", "  path  ", "  in  ", "  note  ", "  left out  ",
	"  - ", "  | ", `  \ `, `           \ `,
}

func FuzzTerminal(f *testing.F) {
	f.Add("git push", "harmless\nhidden:", "a\nb", 80)
	f.Add("\x1b[2J\rallow", "x\u202e", "| x", 10)
	f.Add(strings.Repeat("long ", 60), strings.Repeat("\n", 40), "look out:", 30)
	f.Add("a\tb\tc", "界界界", "  tool  x", 25)
	f.Fuzz(func(t *testing.T, a, b, c string, columns int) {
		p := present.File(c, a)
		got := present.Terminal(present.View{
			Tool: a, Host: b, Cwd: c, Description: b, Said: map[string]string{"note": a}, Presentation: &p,
			Warnings: []sayso.Warning{{Kind: "bidi", Path: b, Text: c}}, Redactions: []sayso.Redaction{{Path: a, Key: c, Length: 3}},
		}, columns%200)
		for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\n") {
			if !ours(line) {
				t.Fatalf("a line that is not ours begins at the edge: %q in\n%s", line, got)
			}
		}
		for _, r := range got {
			if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("raw %U in\n%q", r, got)
			}
		}
	})
}

func ours(line string) bool {
	if line == "  note:" || line == "" {
		return true
	}
	for _, p := range ownLines {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}
