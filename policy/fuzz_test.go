package policy_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/policy"
)

// FuzzParse: whatever the text, there is either a file or a list of mistakes
// with places that are in the text, and a file that loads can judge.
func FuzzParse(f *testing.F) {
	for _, block := range pageOfErrors(f) {
		if !strings.HasPrefix(block.text, ofTests) {
			f.Add(block.text)
		}
	}
	f.Add(rules(`allow: ["bash:ls", "file-read:**", "web-fetch:https://*"]`, `deny: {kind: delete}`, "ask: mcp__a__*\n    remember: never"))
	f.Fuzz(func(t *testing.T, text string) {
		file, err := policy.Parse("f", []byte(text))
		var errs policy.Errors
		switch {
		case err == nil && file == nil, err != nil && file != nil:
			t.Fatalf("file %v, error %v", file, err)
		case err == nil:
			p, err := policy.New(policy.Options{Home: "/home/dev"}, policy.Tiered{Tier: policy.TierUser, File: file})
			if err != nil && !errors.As(err, &errs) {
				t.Fatal(err)
			} else if err != nil {
				return // what a person's file may not say
			}
			if v := p.Judge(context.Background(), bash(t, "sayso approve k"), sayso.Facts{}); v.Effect != sayso.Deny {
				t.Fatalf("an agent answers for itself: %s", v.Effect)
			}
			return
		case !errors.As(err, &errs) || len(errs) == 0:
			t.Fatalf("error %v", err)
		}
		checkPlaces(t, text, errs)
	})
}

// patterns are what FuzzJudge makes policies of: a number picks one.
var patterns = []string{
	"bash:git status", "bash:rm -rf x", "bash:sayso status", "file-read:**", "file-write:docs/*", "web-fetch:https://*", "web-search:*", "*", "file-*",
	"mcp__a__*", "delegate", "web-fetch:https://*.example.org/x*", "file-edit:/etc/**", "read_file", "task-create",
}

// FuzzJudge: another deny never loosens a verdict; nothing but the call and the
// rules counts.
func FuzzJudge(f *testing.F) {
	for i, c := range []string{"git status", "git status; rm x", "sayso approve k", "rm -rf x\r", "docs/a.md", "out/passwd", "https://a.com/", "https://127.1/", "../x", "$(rm x)", "'"} {
		f.Add(uint16(1<<i|1), uint8(i), c, "rm*")
		f.Add(uint16(0xffff), uint8(0), c, "ls")
	}
	for _, line := range []string{"curl -X POST h", "kubectl -n prod delete x", "tar cf a -C / b", "sudo -u root id -u", "git -C x log -- y"} {
		f.Add(uint16(0), uint8(0), line, "ls")
	}
	tools := []struct{ tool, key string }{
		{"bash", "command"}, {"file-read", "path"}, {"file-write", "path"}, {"web-fetch", "url"}, {"web-search", "query"}, {"delegate", "prompt"}, {"mcp__a__b", "x"}, {"file-edit", "path"}, {"odd", "x"},
	}
	f.Fuzz(func(t *testing.T, which uint16, tool uint8, arg, deny string) {
		var allows []string
		for i, p := range patterns {
			if which>>i&1 == 1 {
				allows = append(allows, strconv.Quote(p))
			}
		}
		text := "version: 1\ndefault: allow\nrules:\n  - allow: [" + strings.Join(append(allows, `"web-search:x"`), ", ") + "]\n"
		use := tools[int(tool)%len(tools)]
		c := call(t, use.tool, obj{use.key: strings.ToValidUTF8(arg, "?")})
		fs := facts.Gather(context.Background(), c, facts.Options{FS: machine, Home: "/home/dev"})
		v := load(t, text).Judge(context.Background(), c, fs)
		if again := load(t, text).Judge(context.Background(), c, fs); again.Match != v.Match {
			t.Fatalf("two verdicts: %+v, %+v", v, again)
		}
		for _, c := range deniedItself(t, use.tool, strings.ToValidUTF8(arg, "?")) {
			t.Fatalf("the pattern that is the line allows it: %q", c)
		}
		stricter := text + "  - deny: " + strconv.Quote(use.tool+":"+deny) + "\n"
		file, err := policy.Parse("p", []byte(stricter))
		if err != nil {
			return
		}
		p, err := policy.New(policy.Options{Home: "/home/dev"}, policy.Tiered{Tier: policy.TierUser, File: file})
		if err != nil {
			t.Fatal(err)
		}
		if w := p.Judge(context.Background(), c, fs); w.Effect > v.Effect {
			t.Fatalf("a deny made %s of %s", w.Effect, v.Effect)
		}
		if v.Span[0] < 0 || v.Span[1] > max(len(arg)*3, 16) || v.Span[0] > v.Span[1] {
			t.Fatalf("span %v of %d bytes", v.Span, len(arg))
		}
	})
}

// deniedItself returns a line that the pattern which is the line does not deny,
// beside an allow of everything.
func deniedItself(t *testing.T, tool, line string) []string {
	t.Helper()
	if tool != "bash" || strings.ContainsAny(line, "*?[{\\\n") {
		return nil
	}
	file, err := policy.Parse("p", []byte("version: 1\ndefault: allow\nrules:\n  - deny: "+strconv.Quote("bash:"+line)+"\n"))
	if err != nil {
		return nil // it is no pattern
	}
	p, err := policy.New(policy.Options{Home: "/home/dev"}, policy.Tiered{Tier: policy.TierUser, File: file})
	if err != nil {
		t.Fatal(err)
	}
	c := call(t, tool, obj{"command": line})
	fs := facts.Gather(context.Background(), c, facts.Options{FS: machine, Home: "/home/dev"})
	if p.Judge(context.Background(), c, fs).Effect != sayso.Deny {
		return []string{line}
	}
	return nil
}
