package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sys/unix"
)

// TestStories plays the stories of docs/stories.md: what somebody types at a
// terminal of theirs, and what they see.
func TestStories(t *testing.T) {
	p := scripts("testdata/stories")
	p.Cmds["person"] = func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: person FILE")
		}
		sitDown(ts, ts.ReadFile(args[0]))
	}
	testscript.Run(t, p)
}

// sitDown plays what stands in a console: behind $ what is typed into a shell,
// then what is seen, in order, where … stands for whatever is there. Behind ▸ stands
// which keys are pressed once what is before it is on the screen, ⏎ for Enter.
func sitDown(ts *testscript.TestScript, text string) {
	for name, variable := range map[string]string{"k7fm": "ID1", "m3qa": "ID2"} {
		if id := ts.Getenv(variable); id != "" {
			text = strings.ReplaceAll(text, name, id)
		}
	}
	var at *sitting
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			at.leave(ts)
			at = sit(ts, command)
			continue
		}
		seen, keys, typed := strings.Cut(line, "▸")
		at.see(ts, seen)
		if typed {
			at.press(ts, strings.ReplaceAll(keys, "⏎", "\r"))
		}
	}
	at.leave(ts)
}

// sitting is one command at a terminal.
type sitting struct {
	cmd    *exec.Cmd
	person *os.File

	mu     sync.Mutex // guards what follows
	screen strings.Builder
	grew   *sync.Cond
	over   bool
	from   int // up to where the screen was looked at
}

// sit starts a command of a shell at a terminal of its own.
func sit(ts *testscript.TestScript, command string) *sitting {
	person, program, err := pty()
	ts.Check(err)
	s := &sitting{person: person, cmd: exec.Command("sh", "-c", command)}
	s.grew = sync.NewCond(&s.mu)
	s.cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{"PATH", "HOME", "SAYSO_HOME", "SAYSO_NOTICE", "EDITOR", "TMPDIR"} {
		s.cmd.Env = append(s.cmd.Env, name+"="+ts.Getenv(name))
	}
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm", "NO_COLOR=1", "LANG=C.UTF-8")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = program, program, program
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(s.cmd.Start())
	_ = program.Close() // the shell has it
	go s.read()         // ends with the shell
	return s
}

// read takes what is printed until the terminal is closed.
func (s *sitting) read() {
	buf := make([]byte, 4096)
	for {
		n, err := s.person.Read(buf)
		s.mu.Lock()
		s.screen.Write(buf[:n])
		s.over = s.over || err != nil
		s.mu.Unlock()
		s.grew.Broadcast()
		if err != nil {
			return
		}
	}
}

// see waits until a line is on the screen, below what was seen before.
func (s *sitting) see(ts *testscript.TestScript, line string) {
	var parts []string
	for part := range strings.SplitSeq(strings.TrimSpace(line), "…") {
		parts = append(parts, strings.Join(strings.Fields(regexp.QuoteMeta(strings.TrimSpace(part))), `\s+`))
	}
	re := regexp.MustCompile(strings.Join(parts, `.*`))
	late := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if at := re.FindStringIndex(s.screen.String()[s.from:]); at != nil {
			s.from += at[1]
			return
		}
		if s.over {
			ts.Fatalf("not on the screen, or not in this order: %s\n%s", line, s.screen.String())
		}
		s.grew.Wait()
	}
}

func (s *sitting) press(ts *testscript.TestScript, keys string) {
	_, err := io.WriteString(s.person, keys)
	ts.Check(err)
}

// leave waits for the end of the command.
func (s *sitting) leave(ts *testscript.TestScript) {
	if s == nil {
		return
	}
	late := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	_ = s.cmd.Wait() // what it printed tells how it went
	if s.cmd.ProcessState.ExitCode() < 0 {
		ts.Fatalf("it did not end: %s\n%s", strings.Join(s.cmd.Args, " "), s.screen.String())
	}
	_ = s.person.Close()
}

// pty returns the two ends of a terminal.
func pty() (person, program *os.File, err error) {
	person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	return person, program, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 110})
}

// told is a story as the page tells it.
type told struct {
	console string   // all that is typed and seen at a terminal
	browser []string // the tests that play it in a browser
}

// inBrowser names a test of the page.
var inBrowser = regexp.MustCompile("In the page: `([^`]+)`")

// stories reads docs/stories.md.
func stories(t *testing.T) map[string]told {
	t.Helper()
	text, err := os.ReadFile("../../docs/stories.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]told{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		var one told
		for i, part := range strings.Split(body, "```") {
			if inner, ok := strings.CutPrefix(part, "console\n"); ok && i%2 == 1 {
				one.console += inner
			}
		}
		for _, m := range inBrowser.FindAllStringSubmatch(body, -1) {
			one.browser = append(one.browser, m[1])
		}
		all[strings.ToLower(name)] = one
	}
	return all
}

// The page tells no story that no test plays, no test plays one that the page does
// not tell, and both say the same.
func TestStories_areTold(t *testing.T) {
	all := stories(t)
	for _, name := range []string{"approve once", "session", "deny with a note", "edit", "batch", "expire", "restart", "no terminal", "two approvers", "phone", "lock", "off"} {
		if _, ok := all[name]; !ok {
			t.Errorf("docs/stories.md does not tell %q", name)
		}
	}
	files, err := filepath.Glob("testdata/stories/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".txtar"), "-", " ")
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		played := ""
		for _, f := range a.Files {
			if strings.HasPrefix(f.Name, "seen") && strings.Contains(string(a.Comment), "person "+f.Name+"\n") {
				played += string(f.Data)
			}
		}
		one, ok := all[name]
		if !ok {
			t.Errorf("%s is not told in docs/stories.md", file)
		} else if one.console != played {
			t.Errorf("docs/stories.md tells %q as\n%s\nand %s plays\n%s", name, one.console, file, played)
		}
	}
	browser := browserTests(t)
	for name, one := range all {
		if !slices.Contains(files, filepath.Join("testdata/stories", strings.ReplaceAll(name, " ", "-")+".txtar")) && len(one.browser) == 0 {
			t.Errorf("no test plays %q", name)
		}
		for _, test := range one.browser {
			if !strings.Contains(browser, "test('"+test+"'") {
				t.Errorf("%q: web/ui/e2e has no test %q", name, test)
			}
		}
	}
}

// browserTests is the text of all tests of the page.
func browserTests(t *testing.T) (all string) {
	t.Helper()
	files, err := filepath.Glob("../../web/ui/e2e/*.test.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}
