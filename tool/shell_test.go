package tool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

func shell(t testing.TB, o *tool.ShellOptions) (*tool.Shell, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := tool.OpenShell(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dir
}

func TestShell_runs(t *testing.T) {
	s, dir := shell(t, nil)
	for _, tt := range []struct {
		command, text string
		exit          int
	}{
		{"echo hi", "hi\n", 0},
		{"echo out; echo err >&2; echo out", "out\nerr\nout\n", 0}, // in the order in which they were written
		{"exit 3", "[exit status 3]\n", 3},
		{"printf x; false", "x[exit status 1]\n", 1},
		{"kill -9 $$", "[exit status 137]\n", 137},
		{"cat; echo done", "done\n", 0}, // there is no input
		{"pwd; pwd -P; echo $PWD", dir + "\n" + dir + "\n" + dir + "\n", 0},
		{"-x; echo on", "bash: -x: command not found\non\n", 0}, // a command, not an option of bash
		{"+x; echo $-", "bash: +x: command not found\nhBc\n", 0},
		{"echo $0 $#", "bash 0\n", 0},
		{"echo 'a\nb'\necho c", "a\nb\nc\n", 0},
		{"tty; test -t 0 || echo none", "not a tty\nnone\n", 0},
		{"nonesuch", "bash: line 1: nonesuch: command not found\n[exit status 127]\n", 127},
		{"printf 'a\\xffb'", "a\uFFFDb", 0},
	} {
		r, err := s.Call(t.Context(), calls(t, tool.Bash, obj{"command": tt.command}))
		if err != nil || r.Exit == nil || *r.Exit != tt.exit || !strings.HasSuffix(r.Text, tt.text) && !strings.HasSuffix(strings.ReplaceAll(r.Text, ": line 1:", ":"), tt.text) {
			t.Errorf("%q: got %q, %v, %v; want %q", tt.command, r.Text, r.Exit, err, tt.text)
		}
	}
}

func TestShell_refused(t *testing.T) {
	s, dir := shell(t, nil)
	g := &fake{}
	for _, tt := range []struct {
		call sayso.Call
		says string
	}{
		{calls(t, tool.Bash, obj{"command": ""}), "is empty"},
		{calls(t, tool.Bash, obj{"command": " \n"}), "is empty"},
		{calls(t, tool.Bash, obj{"command": "echo a\x00b"}), "NUL"},
		{calls(t, tool.Bash, obj{"command": strings.Repeat("x", tool.MaxCommand+1)}), "may have"},
		{calls(t, tool.Bash, obj{"command": []string{"ls"}}), "arguments"},
		{calls(t, tool.Bash, obj{"command": "ls", "cwd": "/"}), "arguments"},
		{calls(t, "sh", obj{"command": "ls"}), "no tool"},
		{sayso.Call{Tool: tool.Bash, Args: sayso.Args(`{"command":"ls"}`), Cwd: "/"}, "another directory"},
	} {
		if _, err := tool.Wrap(g, s, nil).Call(t.Context(), tt.call); !has(err, tt.says) {
			t.Errorf("%.60s: got %v, want %q", tt.call.Args, err, tt.says)
		}
	}
	if len(g.admitted) != 0 {
		t.Error("what cannot run was asked about")
	}
	if _, err := tool.OpenShell(filepath.Join(dir, "nowhere"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestShell_asks(t *testing.T) {
	s, dir := shell(t, nil)
	for command, title := range map[string]string{
		"git status":             "Execute: git status",
		"echo a\necho b":         "Execute: echo a...",
		strings.Repeat("ä", 100): "Execute: " + strings.Repeat("ä", 50) + "...",
	} {
		a, err := s.Ask(t.Context(), calls(t, tool.Bash, obj{"command": command}))
		if err != nil || !a.Required || a.Description != title || len(a.Payload) != 0 {
			t.Errorf("%q: asks %+v, %v", command, a, err)
			continue
		}
		p, err := a.Present(t.Context())
		want := &sayso.Presentation{Type: sayso.PresentCommand, Content: command, Language: "bash", Metadata: map[string]string{"cwd": dir},
			Marks: present.Understood(command)}
		if diff := cmp.Diff(want, p); diff != "" || err != nil {
			t.Errorf("%q: shows (-want +got): %v\n%s", command, err, diff)
		}
	}
}

// TestShell_environment: what would make bash do something besides its text is
// taken out, whoever put it there.
func TestShell_environment(t *testing.T) {
	t.Setenv("SECRET_OF_THE_PROGRAM", "x")
	t.Setenv("BASH_FUNC_echo%%", "() { builtin echo hijacked; }")
	trap := filepath.Join(t.TempDir(), "trap")
	if err := os.WriteFile(trap, []byte("echo trapped\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BASH_ENV", trap)
	t.Setenv("SHELLOPTS", "xtrace")
	for name, tt := range map[string]struct {
		env  []string
		want string
	}{
		"handed down": {nil, "secret=x own=\n"},
		"plain":       {[]string{}, "secret= own=\n"},
		"listed":      {[]string{"PATH=" + os.Getenv("PATH"), "OWN=y", "BASH_ENV=" + trap, "BASH_FUNC_echo%%=() { :; }", "LD_PRELOAD=/x.so", "PWD=/"}, "secret= own=y\n"},
	} {
		s, _ := shell(t, &tool.ShellOptions{Env: tt.env})
		r, err := s.Call(t.Context(), calls(t, tool.Bash, obj{"command": "echo secret=$SECRET_OF_THE_PROGRAM own=$OWN"}))
		if r.Text != tt.want || err != nil {
			t.Errorf("%s: got %q, %v", name, r.Text, err)
		}
	}
}

// TestShell_output: long output keeps its beginning and its end, and says how
// much lay between.
func TestShell_output(t *testing.T) {
	s, _ := shell(t, &tool.ShellOptions{Head: 10, Tail: 6})
	for command, want := range map[string]string{
		"printf 0123456789":                                "0123456789",
		"printf 0123456789abcdef":                          "0123456789abcdef",
		"printf 0123456789XYZabcdef":                       "0123456789\n[3 bytes left out]\nabcdef",
		"printf 012345678äXYZabcdä":                        "012345678\n[5 bytes left out]\nabcdä",
		"printf 0123456789XYZäbcdef; exit 1":               "0123456789\n[5 bytes left out]\nbcdef[exit status 1]\n", // no half characters
		"head -c 1000000 /dev/zero | tr '\\0' x; echo end": "xxxxxxxxxx\n[999988 bytes left out]\nxxend\n",
	} {
		r, err := s.Call(t.Context(), calls(t, tool.Bash, obj{"command": command}))
		if err != nil {
			t.Errorf("%q: %v", command, err)
		}
		if r.Text != want {
			t.Errorf("%q: got %q, want %q", command, r.Text, want)
		}
	}
}

// TestShell_killsTheGroup: at the end of its time, of its context and of the
// command, nothing of it goes on.
func TestShell_killsTheGroup(t *testing.T) {
	const family = `(trap '' TERM HUP; echo $BASHPID > child; exec sleep 1000) & while [ ! -s child ]; do :; done; `
	for name, tt := range map[string]struct {
		command string
		o       tool.ShellOptions
		cancel  bool
		says    string
	}{
		"time":              {family + "echo so far; sleep 1000", tool.ShellOptions{Timeout: time.Second}, false, "ran out of time after 1s and was killed; so far it said:\nso far"},
		"time and grace":    {family + "trap 'echo bye; exit' TERM; sleep 1000 & wait", tool.ShellOptions{Timeout: time.Second, Grace: 20 * time.Second}, false, "so far it said:\nbye"},
		"cancelled":         {family + "echo so far; touch ready; sleep 1000", tool.ShellOptions{}, true, "context canceled, and the command was killed; so far it said:\nso far"},
		"left behind":       {family + "exit 0", tool.ShellOptions{}, false, ""},
		"left with the tty": {family + "disown -a; exit 0", tool.ShellOptions{}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := shell(t, &tt.o)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.cancel {
				go cancelWhen(ctx, filepath.Join(dir, "ready"), cancel)
			}
			_, err := s.Call(ctx, calls(t, tool.Bash, obj{"command": tt.command}))
			if !has(err, tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
			if tt.cancel && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(reads(t, dir, "child")))
			if err != nil {
				t.Fatal(err)
			}
			if !gone(pid) {
				t.Errorf("process %d of the command goes on", pid)
			}
		})
	}
}

// cancelWhen calls cancel when a file is there.
func cancelWhen(ctx context.Context, name string, cancel func()) {
	defer cancel()
	for tick := time.NewTicker(time.Millisecond); ctx.Err() == nil; <-tick.C {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
}

// gone reports whether a process has ended, or is about to: a killed one stays
// until somebody takes note of it.
func gone(pid int) bool {
	for range 1000 {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return true
		}
		<-time.After(5 * time.Millisecond)
	}
	return false
}

// TestShell_cwd: commands run in the folder that was opened, not in what its
// name leads to.
func TestShell_cwd(t *testing.T) {
	s, dir := shell(t, nil)
	write(t, dir, "here", "mine")
	b := saysotest.New(t)
	b.Answer(func(sayso.Request) sayso.Answer {
		if err := errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700)); err != nil {
			t.Error(err)
		}
		return sayso.Answer{Effect: sayso.Allow}
	})
	w := tool.Wrap(b.Gate(), s, &tool.Terms{Call: sayso.Call{Session: "s"}})
	if r, err := w.Call(t.Context(), calls(t, tool.Bash, obj{"command": "cat here"})); !errors.Is(err, sayso.ErrMismatch) {
		t.Errorf("got %q, %v", r.Text, err)
	}
}

// TestShell_script: a file that a command runs is pinned from asking to running.
func TestShell_script(t *testing.T) {
	s, dir := shell(t, nil)
	write(t, dir, "run.sh", "echo good\n")
	b := saysotest.New(t)
	b.Answer(func(sayso.Request) sayso.Answer {
		write(t, dir, "run.sh", "echo evil\n")
		return sayso.Answer{Effect: sayso.Allow}
	})
	w := tool.Wrap(b.Gate(), s, &tool.Terms{Call: sayso.Call{Session: "s"}})
	if r, err := w.Call(t.Context(), calls(t, tool.Bash, obj{"command": "bash run.sh"})); !errors.Is(err, sayso.ErrMismatch) {
		t.Errorf("got %q, %v", r.Text, err)
	}
}

// TestShell_edited: the text that a person wrote is what runs, byte for byte.
func TestShell_edited(t *testing.T) {
	s, _ := shell(t, nil)
	b := saysotest.New(t)
	b.Answer(func(sayso.Request) sayso.Answer {
		return sayso.Answer{Effect: sayso.Allow, Args: sayso.Args(`{"command":"  echo  'a  b'; exit 4 "}`)}
	})
	w := tool.Wrap(b.Gate(), s, &tool.Terms{Call: sayso.Call{Session: "s"}})
	r, err := w.Call(t.Context(), calls(t, tool.Bash, obj{"command": "rm -rf x"}))
	if err != nil || r.Text != "a  b\n[exit status 4]\n" {
		t.Errorf("got %q, %v", r.Text, err)
	}
	e := b.Events(sayso.EventFinished)
	if len(e) != 1 || !strings.Contains(string(e[0].Payload), `"exit_status":4`) || !strings.Contains(string(e[0].Payload), `"failed":true`) {
		t.Errorf("reported %+v", e)
	}
}
