package cover_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
	"github.com/sayso-dev/sayso/internal/cover"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// free are redirections that go nowhere, with what ends them.
var free = regexp.MustCompile(`[0-9]*(?:(?:&?>>?|>\||<>?)[ \t]*/dev/(?:null|stdin|stdout|stderr)|[<>]&[ \t]*(?:[0-9]+-?|-))($|[\s;&|<>()])`)

// comment is a comment, in a text without quotes.
var comment = regexp.MustCompile(`(^|[\s;&|<>()])#[^\n]*`)

// around are what may stand in front of a command, or around it, and runs
// nothing.
var around = regexp.MustCompile(`^(?:!\s|time\s+(?:-p\s+)?(?:--\s+)?|\((.*)\)$|\{\s(.*)\}$)`)

// bare is the command in a text that has no quotes, without what changes nothing
// of what it does.
func bare(text string) string {
	text = comment.ReplaceAllString(text, "$1")
	for {
		short := strings.TrimSuffix(strings.TrimSpace(free.ReplaceAllString(text, " $1")), ";")
		if short = around.ReplaceAllString(short, "$1$2"); short == text {
			return text
		}
		text = short
	}
}

// expansion is a variable, or begins something else that the shell fills in.
var expansion = regexp.MustCompile(`\$[A-Za-z_0-9({@*#?$!-]|(^|[ :=])~`)

// parent is a part of a word that is two dots and nothing else, or that stands
// behind letters that may all be options. Two dots in a name are a name.
var parent = regexp.MustCompile(`(^|[/=:,]|^-[A-Za-z0-9]+)\.\.($|[/=:,])`)

// FuzzCommands looks for a command that is covered by what was offered for
// another, though it does more: by a second, simpler reading of the text, and by
// a list of what must never be in it.
func FuzzCommands(f *testing.F) {
	for _, seed := range [][2]string{
		{"git add a", "git add b; rm c"}, {"git add a", "git add $(rm b)"}, {"make test", "make test -f /tmp/x"}, {"cat a", "cat /etc/passwd"},
		{"ls", "ls > x"}, {"go test ./...", "go test -exec=x ./..."}, {"wc -l *.go", "wc -l .e*"}, {`git commit -m "a b"`, "git commit -m 'x;y' 2>&1"},
		{"git log", "git -c core.pager=x log"}, {"cat a", "sudo cat a"}, {"echo a", "echo a\r"}, {"cat a", "cat ../../x"}, {"cat a", "LD_PRELOAD=x cat a"},
		{"cat a", "cat ..A../x"}, {"cat a", "cat -nf../x"}, {"cat a", "cat x=../y"}, {"cat a", "cat ../.."}, {"cat a", "cat a >/dev/nullx"},
		{"cat a", "! cat b"}, {"cat a", "time -p cat b"}, {"cat a", "( { cat b;} 2>/dev/null >&1 )"}, {"cat a", "</dev/null cat b # c;d\n"},
		{"cat a", "</dev/null;cat b # c d\n"}, {"cat a", "cat b && </dev/null"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		if len(first)+len(second) > 4096 || strings.ContainsRune(first+second, '\ufffd') {
			return
		}
		a, ok := subject(first)
		b, okToo := subject(second)
		if !ok || !okToo {
			return
		}
		offered := map[sayso.Digest]sayso.CoverOffer{}
		for _, w := range cover.Ways(a, sayso.RememberAny) {
			offered[w.Key("v1")] = w.Offer
		}
		for _, w := range cover.Covering(b, sayso.RememberAny) {
			o, ok := offered[w.Key("v1")]
			if !ok {
				continue
			}
			if o.Cover == sayso.CoverCall {
				if first != second {
					t.Fatalf("%q and %q are one call", first, second)
				}
				continue
			}
			if why := doesMore(second, o); why != "" {
				t.Fatalf("%q is covered by %s %s, given for %q, and %s", second, o.Cover, o.Pattern, first, why)
			}
		}
	})
}

func subject(command string) (*cover.Subject, bool) {
	args, err := jcs.Marshal(map[string]string{"command": command})
	if err != nil {
		return nil, false
	}
	s := &cover.Subject{Call: sayso.Call{Tool: "bash", Args: args, Cwd: "/ws/app", Session: "s1"}}
	s.Facts = sayso.Facts{Workspace: "/ws", Cwd: "/ws/app"}
	digest, err := s.Call.Digest()
	s.Digest = digest
	return s, err == nil
}

// doesMore says why a command is more than what a pattern shows.
func doesMore(text string, o sayso.CoverOffer) string {
	if !strings.ContainsAny(text, `'"\`) {
		rest := bare(text)
		if strings.ContainsAny(rest, "`;|&<>()\r\x00") || expansion.MatchString(rest) {
			return "holds what a shell reads"
		}
		if words, ok := strings.CutPrefix(strings.TrimSuffix(o.Pattern, "*"), "bash:"); ok {
			if got := strings.Join(strings.Fields(rest), " "); !strings.HasPrefix(got+" ", words+" ") {
				return "does not begin with the words"
			}
		}
	}
	line := shell.Inspect(text)
	if len(line.Commands) != 1 {
		return "is not one command"
	}
	c := &line.Commands[0]
	for _, k := range []shell.Kind{
		shell.Wraps, shell.Inline, shell.Runs, shell.Writes, shell.Deletes, shell.Privilege, shell.Connects, shell.Sends, shell.Interpreter,
		shell.State, shell.Moves,
	} {
		if c.Has(k) {
			return "has an effect: " + string(k)
		}
	}
	for _, w := range c.Args {
		if strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "/ws") || parent.MatchString(w.Text) {
			return "names what is elsewhere: " + w.Text
		}
	}
	return ""
}

// FuzzCovered looks for two things that are covered under one digest.
func FuzzCovered(f *testing.F) {
	f.Add("a", "b", "c", "d", "ab", "", "c", "d")
	f.Add("git", "add", "", "", "git add", "", "", "")
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g, h, i string) {
		x := sayso.Covered{Cover: sayso.CoverPrefix, Session: a, Tool: b, Place: c, Parts: strings.Split(d, "\n")}
		y := sayso.Covered{Cover: sayso.CoverPrefix, Session: e, Tool: g, Place: h, Parts: strings.Split(i, "\n")}
		same := a == e && b == g && c == h && d == i
		if (x.Digest() == y.Digest()) != same {
			t.Errorf("%+v and %+v", x, y)
		}
		x.Cover = sayso.CoverTool
		if x.Digest() == y.Digest() {
			t.Errorf("%+v and %+v", x, y)
		}
	})
}
