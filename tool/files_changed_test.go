package tool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// TestFiles_move: for whoever decides by rules, a move is a file deleted and a
// file written, in one group; a no to either stops it all. A person is asked once,
// about both ends; only what steers programs is asked about by itself.
func TestFiles_move(t *testing.T) {
	const asks = "file-delete file-write"
	for _, tt := range []struct {
		name, from, to string
		rules          string
		no             string // what a person says no to
		asked          string
		admitted       int
	}{
		{"both ask", "notes/log.txt", "notes/sub/log.txt", "", "", "file-delete", 2},
		{"both ask, and a no", "notes/log.txt", "notes/sub/log.txt", "", "file-delete", "file-delete", 1},
		{"where it goes asks", "output/text", "notes/text.txt", "", "", "file-write", 2},
		{"where it goes asks, and a no", "output/text", "notes/text.txt", "", "file-write", "file-write", 2},
		{"where it comes from asks", "notes/log.txt", "output/log.txt", "", "", "file-delete", 2},
		{"a rule allows one end", "notes/log.txt", "notes/sub/log.txt", `allow: file-delete`, "", "file-write", 2},
		{"a rule asks about the other", "notes/log.txt", "notes/sub/log.txt", `ask: file-write`, "", asks, 2},
		{"a no to the other", "notes/log.txt", "notes/sub/log.txt", `ask: file-write`, "file-write", asks, 2},
		{"a rule denies the other", "notes/log.txt", "notes/sub/log.txt", `deny: file-write`, "", "file-delete", 2},
		{"to a file that steers programs", "notes/log.txt", "notes/.git/x.txt", "", "", asks, 2},
	} {
		t.Run(tt.name, func(t *testing.T) { moves(t, tt.from, tt.to, tt.rules, tt.no, tt.asked, tt.admitted) })
	}
}

func moves(t *testing.T, from, to, rule, no, want string, admitted int) {
	work, f := sandbox(t)
	text := "version: 1\n"
	if rule != "" {
		text += "rules:\n  - " + rule + "\n"
	}
	file, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: file})
	if err != nil {
		t.Fatal(err)
	}
	b := saysotest.New(t, saysotest.WithPolicy(rules), saysotest.ApproveAll())
	if no != "" {
		b.Deny(no, "no")
	}
	w := tool.Wrap(b.Gate(), f, &tool.Terms{Workspace: work, Call: sayso.Call{Session: "s", CallID: "c1"}})
	_, err = w.Call(t.Context(), calls(t, tool.MoveFile, obj{"from": from, "to": to}))
	stopped := no != "" || strings.HasPrefix(rule, "deny")
	if moved := reads(t, work, to) != "-"; moved == stopped || (err == nil) != moved {
		t.Errorf("moved %v, %v", moved, err)
	}
	var asked []string
	for _, r := range b.Asked() {
		asked = append(asked, r.Tool)
		if !strings.HasPrefix(r.Description, "Move "+strings.Replace(from, "/", ":", 1)+" to "+strings.Replace(to, "/", ":", 1)) && r.Description != "" || r.GroupID == "" {
			t.Errorf("asked about %+v", r)
		}
	}
	if got := strings.Join(asked, " "); got != want {
		t.Errorf("asked about %q, want %q", got, want)
	}
	if n := len(b.Events(sayso.EventRequested)); n != admitted {
		t.Errorf("%d calls were put to the gate, want %d", n, admitted)
	}
	if n := len(b.Events(sayso.EventFinished)); !stopped && n != 2 {
		t.Errorf("%d outcomes were reported", n)
	}
	if n := len(b.Events(sayso.EventVoided)); stopped && n != admitted-1 {
		t.Errorf("%d yeses were taken back", n)
	}
}

// TestFiles_changed: what changes between the question and its answer is not
// touched, and nothing is spent.
func TestFiles_changed(t *testing.T) {
	for name, tt := range map[string]struct {
		call   sayso.Call
		change func(work string) error
		file   string
		want   string
	}{
		"the content of what is overwritten": {calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"}),
			func(w string) error { return os.WriteFile(w+"/notes/log.txt", []byte("other"), 0o600) }, "notes/log.txt", "other"},
		"the content of what is edited": {calls(t, tool.EditFile, obj{"path": "notes/log.txt", "old_string": "two", "new_string": "2"}),
			func(w string) error { return os.WriteFile(w+"/notes/log.txt", []byte("two\n"), 0o600) }, "notes/log.txt", "two\n"},
		"the content of what is deleted": {calls(t, tool.DeleteFile, obj{"path": "notes/log.txt"}),
			func(w string) error { return os.WriteFile(w+"/notes/log.txt", []byte("new work"), 0o600) }, "notes/log.txt", "new work"},
		"the file": {calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"}),
			func(w string) error { return os.Rename(w+"/notes/sub/deep.txt", w+"/notes/log.txt") }, "notes/log.txt", "deep\n"},
		"a file where there was none": {calls(t, tool.WriteFile, obj{"path": "notes/new.txt", "content": "x"}),
			func(w string) error { return os.WriteFile(w+"/notes/new.txt", []byte("mine"), 0o600) }, "notes/new.txt", "mine"},
		"a link where there was none": {calls(t, tool.WriteFile, obj{"path": "notes/new.txt", "content": "x"}),
			func(w string) error { return os.Symlink("../../outside/canary.txt", w+"/notes/new.txt") }, "../outside/canary.txt", "canary\n"},
		"a folder where there was none": {calls(t, tool.WriteFile, obj{"path": "notes/a/new.txt", "content": "x"}),
			func(w string) error { return os.Symlink("../../outside", w+"/notes/a") }, "../outside/new.txt", "-"},
		"the file for a link": {calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"}),
			func(w string) error {
				return errors.Join(os.Remove(w+"/notes/log.txt"), os.Symlink("../../outside/canary.txt", w+"/notes/log.txt"))
			}, "../outside/canary.txt", "canary\n"},
		"the folder for a link": {calls(t, tool.WriteFile, obj{"path": "notes/sub/deep.txt", "content": "x"}),
			func(w string) error {
				return errors.Join(os.Rename(w+"/notes/sub", w+"/notes/sub2"), os.Symlink("../../outside", w+"/notes/sub"))
			}, "notes/sub2/deep.txt", "deep\n"},
		"where a link leads": {calls(t, tool.WriteFile, obj{"path": "notes/alias.txt", "content": "x"}),
			func(w string) error {
				return errors.Join(os.Remove(w+"/notes/alias.txt"), os.Symlink("sub/deep.txt", w+"/notes/alias.txt"))
			}, "notes/sub/deep.txt", "deep\n"},
		"the root": {calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"}),
			func(w string) error {
				return errors.Join(os.Rename(w+"/notes", w+"/notes2"), os.Symlink("../outside", w+"/notes"))
			}, "notes2/log.txt", "one\ntwo\nthree\n"},
		"another name": {calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"}),
			func(w string) error { return os.Link(w+"/notes/log.txt", w+"/../outside/log.txt") }, "notes/log.txt", "one\ntwo\nthree\n"},
		"the file that is read": {calls(t, tool.ReadFile, obj{"path": "src/main.go"}),
			func(w string) error {
				return errors.Join(os.Remove(w+"/src/main.go"), os.Symlink("../../outside/canary.txt", w+"/src/main.go"))
			}, "../outside/canary.txt", "canary\n"},
		"the folder that is listed": {calls(t, tool.ListFiles, obj{"path": "src/sub"}),
			func(w string) error {
				return errors.Join(os.Rename(w+"/src/sub", w+"/src/sub2"), os.Symlink("../../outside", w+"/src/sub"))
			}, "../outside/canary.txt", "canary\n"},
		"the target of a move": {calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": "notes/sub/log.txt"}),
			func(w string) error { return os.WriteFile(w+"/notes/sub/log.txt", []byte("mine"), 0o600) }, "notes/sub/log.txt", "mine"},
		"the source of a move": {calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": "notes/sub/log.txt"}),
			func(w string) error { return os.WriteFile(w+"/notes/log.txt", []byte("new work"), 0o600) }, "notes/sub/log.txt", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			work, f := sandbox(t)
			link(t, "log.txt", work, "notes/alias.txt")
			write(t, work, "src/sub/x.go", "package sub\n")
			b := saysotest.New(t)
			done := false
			b.Answer(func(sayso.Request) sayso.Answer {
				if !done {
					done = true
					if err := tt.change(work); err != nil {
						t.Error(err)
					}
				}
				return sayso.Answer{Effect: sayso.Allow}
			})
			r, err := tool.Wrap(b.Gate(), f, &tool.Terms{Call: sayso.Call{Session: "s"}}).Call(t.Context(), tt.call)
			var stopped *tool.StoppedError
			if !errors.Is(err, sayso.ErrMismatch) || !errors.As(err, &stopped) || !strings.HasPrefix(err.Error(), "Changed") {
				t.Errorf("got %q, %v", r.Text, err)
			} else if n := len(b.Events(sayso.EventRedeemed)); n != 0 {
				t.Errorf("%d receipts were spent", n)
			}
			if got := reads(t, work, tt.file); got != tt.want {
				t.Errorf("%s holds %q, want %q", tt.file, got, tt.want)
			}
		})
	}
}

// TestFiles_changedAtTheLast: what changes between the receipt and the run is
// not touched either; the outcome says that it failed.
func TestFiles_changedAtTheLast(t *testing.T) {
	work, f := sandbox(t)
	g := &fake{redeem: func(sayso.Receipt, sayso.Call) error {
		return os.WriteFile(filepath.Join(work, "notes/log.txt"), []byte("other"), 0o600)
	}}
	_, err := tool.Wrap(g, f, nil).Call(t.Context(), calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"}))
	if !errors.Is(err, sayso.ErrMismatch) || reads(t, work, "notes/log.txt") != "other" || !g.outcomes[0].Failed {
		t.Errorf("got %v, reported %+v", err, g.outcomes)
	}
}

// TestFiles_edited: edited arguments are checked as all others are.
func TestFiles_edited(t *testing.T) {
	for path, want := range map[string]string{"notes/sub/deep.txt": "", "../outside/canary.txt": "outside of", "notes/private/diary.txt": "may not be changed"} {
		work, f := sandbox(t)
		b := saysotest.New(t)
		b.Answer(func(sayso.Request) sayso.Answer {
			return sayso.Answer{Effect: sayso.Allow, Args: calls(t, "", obj{"path": path, "content": "edited"}).Args}
		})
		_, err := tool.Wrap(b.Gate(), f, &tool.Terms{Call: sayso.Call{Session: "s"}}).Call(t.Context(), calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"}))
		if !has(err, want) || (reads(t, work, path) == "edited") != (want == "") || reads(t, work, "notes/log.txt") != "one\ntwo\nthree\n" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestFiles_large: what is too large says so and is not cut in secret.
func TestFiles_large(t *testing.T) {
	work, f := sandbox(t)
	write(t, work, "output/long", strings.Repeat("0123456789\n", 200_000))
	r, err := f.Call(t.Context(), calls(t, tool.ReadFile, obj{"path": "output/long"}))
	if err != nil || len(r.Text) > tool.MaxRead+200 || !strings.Contains(r.Text, "more bytes; read them by lines, with offset and limit]") {
		t.Errorf("%d bytes, %v", len(r.Text), err)
	}
	r, err = f.Call(t.Context(), calls(t, tool.ReadFile, obj{"path": "output/long", "offset": 199_999, "limit": 5}))
	if err != nil || r.Text != "0123456789\n0123456789\n" {
		t.Errorf("got %q, %v", r.Text, err)
	}
	write(t, work, "output/huge", strings.Repeat("x", tool.MaxFile+1))
	for _, c := range []sayso.Call{
		calls(t, tool.ReadFile, obj{"path": "output/huge"}),
		calls(t, tool.EditFile, obj{"path": "output/huge", "old_string": "x", "new_string": "y"}),
		calls(t, tool.WriteFile, obj{"path": "output/huge", "content": "y"}),
	} {
		if _, err := f.Call(t.Context(), c); !has(err, "too large") {
			t.Errorf("%s: %v", c.Tool, err)
		}
	}
	if _, err := f.Call(t.Context(), calls(t, tool.DeleteFile, obj{"path": "output/huge"})); err != nil {
		t.Error(err)
	}
}

// TestFiles_cancelled: whoever has gone gets nothing written.
func TestFiles_cancelled(t *testing.T) {
	work, f := sandbox(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Call(ctx, calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"})); !errors.Is(err, context.Canceled) || reads(t, work, "notes/log.txt") != "one\ntwo\nthree\n" {
		t.Errorf("got %v", err)
	}
}
