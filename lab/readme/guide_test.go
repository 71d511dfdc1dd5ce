//go:build linux

package readme_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

const guide = "docs/guide.md"

// TestGuide runs the blocks of the guide one after the other. Whatever stands
// in them for a ticket, a grant or a session is one that there is.
func TestGuide(t *testing.T) {
	t.Parallel()
	s := newTerminal(t)
	s.env = append(s.env, "EDITOR=sed -i s/--force//")
	g := &guided{terminal: s}
	for _, b := range of(blocks(t, guide), "sh") {
		until := strings.TrimPrefix(strings.TrimPrefix(b.how, "until"), " ")
		var hook *exec.Cmd
		if strings.Contains(b.text, "k7fm") || strings.Contains(b.text, "sayso watch") || strings.Contains(b.text, "sayso prompt") {
			hook = g.ask()
		}
		screen := s.must(g.real(b.text), until)
		t.Logf("line %d:\n%s%s", b.line, b.text, screen)
		if until != "" && !strings.Contains(screen, until) {
			t.Errorf("line %d: %q does not appear:\n%s", b.line, until, screen)
		}
		if hook != nil && answers.MatchString(b.text) {
			_ = hook.Wait() // its answer is looked at below
			g.decided, g.hook = g.short, nil
			if out := hook.Stdout.(*bytes.Buffer).String(); !strings.Contains(out, "permissionDecision") {
				t.Errorf("line %d: the agent was told nothing: %s", b.line, out)
			}
		}
	}
}

// answers are the commands after which a request does not wait any more.
var answers = regexp.MustCompile(`sayso (approve|deny|prompt)`)

// guided is the person who follows the guide, and their agent.
type guided struct {
	*terminal
	n       int
	hook    *exec.Cmd // that waits
	short   string    // what it waits for
	decided string    // what was answered last
}

// session is the name of the agent's session.
const session = "b1f0c2"

// ask has the agent ask for something, unless it waits already.
func (g *guided) ask() *exec.Cmd {
	g.t.Helper()
	if g.hook != nil {
		return g.hook
	}
	g.n++
	hook := exec.Command(filepath.Join(g.home(), ".local", "bin", "sayso-hook"), "claude-code")
	hook.Env, hook.Dir = g.env, g.home()
	hook.Stdout, hook.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	hook.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash",`+
		`"tool_use_id":"call-%d","tool_input":{"command":"git push --force origin fix-%d"}}`, session, g.home(), g.n, g.n))
	if err := hook.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		_ = hook.Process.Kill() // it may have ended by itself
		_ = hook.Wait()
	})
	g.hook = hook
	g.must("sayso watch", fmt.Sprint("fix-", g.n))
	var open struct{ Requests []sayso.Request }
	g.json(&open.Requests, "inbox", "--json")
	if len(open.Requests) != 1 {
		g.t.Fatalf("%d requests wait", len(open.Requests))
	}
	g.short = open.Requests[0].ShortID
	return hook
}

// json reads what a command prints.
func (g *guided) json(into any, args ...string) {
	g.t.Helper()
	cmd := exec.Command(filepath.Join(g.home(), ".local", "bin", "sayso"), args...)
	cmd.Env, cmd.Dir = g.env, g.home()
	out, err := cmd.Output()
	if err != nil {
		g.t.Fatalf("%v: %v", args, err)
	}
	if err := jcs.UnmarshalLenient(out, into); err != nil {
		g.t.Fatalf("%v: %v: %s", args, err, out)
	}
}

// real puts what there is in the place of the guide's examples.
func (g *guided) real(text string) string {
	g.t.Helper()
	grant := ""
	if strings.Contains(text, "w3hx") {
		var list []sayso.Grant
		g.json(&list, "grants", "--json")
		if len(list) == 0 {
			g.t.Fatal("nothing is remembered")
		}
		grant = list[0].ID.Short()
	}
	return strings.NewReplacer("k7fm", g.short, "w3hx", grant, "d4c9", g.decided, "SESSION", session).Replace(text)
}

// inline is a command of ours in the middle of a text.
var inline = regexp.MustCompile("`(sayso [a-z][^`]*)`")

// TestPages_nameWhatThereIs holds the commands and flags that the pages name in
// their texts against the help of the program.
func TestPages_nameWhatThereIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "sayso")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/sayso")
	build.Dir = root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	help := func(words []string) string {
		cmd := exec.Command(program, append(slices.Clone(words), "--help")...)
		cmd.Env = []string{"HOME=" + dir}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return ""
		}
		return string(out)
	}
	for _, page := range append(pages, others(t)...) {
		text, err := os.ReadFile(filepath.Join(root(t), page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inline.FindAllStringSubmatch(string(text), -1) {
			var words []string
			for _, w := range strings.Fields(m[1])[1:] {
				if !regexp.MustCompile(`^[a-z]+$`).MatchString(w) {
					break
				}
				words = append(words, w)
			}
			if len(words) == 0 {
				continue // options alone
			}
			usage := help(words[:1])
			if !strings.Contains(usage, "\n  sayso "+words[0]) {
				t.Errorf("%s: there is no `sayso %s`", page, words[0])
				continue
			}
			if len(words) > 1 {
				if inner := help(words[:2]); strings.Contains(inner, "\n  sayso "+words[0]+" "+words[1]) {
					usage = inner
				}
			}
			for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(m[1], -1) {
				if !strings.Contains(usage, flag) {
					t.Errorf("%s: `%s`: there is no %s", page, m[1], flag)
				}
			}
		}
	}
}

// others are the pages that are not run, but name commands.
func others(t *testing.T) (list []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(found, filepath.Join(root(t), "SECURITY.md")) {
		if name := strings.TrimPrefix(path, root(t)+"/"); name != guide {
			list = append(list, name)
		}
	}
	return list
}

// TestPages_areListed holds the list of pages against the pages.
func TestPages_areListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(others(t), guide) {
		if name, ok := strings.CutPrefix(page, "docs/"); ok && name != "README.md" && !strings.Contains(string(text), "]("+name+")") {
			t.Errorf("docs/README.md does not name %s", page)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join(root(t), "docs", m[1])); err != nil {
			t.Errorf("docs/README.md: %v", err)
		}
	}
}
