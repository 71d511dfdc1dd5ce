package shell_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sayso-dev/sayso/inspect/shell"
)

var (
	lines = flag.Int("lines", 5000, "random lines that the differential test runs")
	torn  = flag.Int("torn", 1000, "lines that are torn before the differential test runs them")
	seed  = flag.Uint64("seed", 1, "where its random numbers begin")
)

// few is what there is to do of n: all of it, or a tenth in a short run.
func few(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// theater is a place where lines of bash run and can start nothing but stubs.
type theater struct {
	bin  string // every program is the same stub
	bash string
	// patience is how long a line may run.
	patience time.Duration
	// endless counts the lines that ran longer.
	endless atomic.Int64
}

// newTheater builds the stubs.
func newTheater(tb testing.TB) *theater {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("the stubs find out who they are in /proc, which only Linux has; on Linux, type: go test ./inspect/shell")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		tb.Skip("no bash here, which the lines are run with; type: sudo apt-get install bash")
	}
	dir := tb.TempDir()
	stub := filepath.Join(dir, "stub")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", stub, "./testdata/stub")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("building the stub: %v\n%s", err, out)
	}
	th := &theater{bin: filepath.Join(dir, "bin"), bash: bash, patience: time.Minute}
	if err := os.Mkdir(th.bin, 0o755); err != nil {
		tb.Fatal(err)
	}
	for _, name := range append(wrapperNames(), leaves...) {
		if err := os.Link(stub, filepath.Join(th.bin, name)); err != nil && !os.IsExist(err) {
			tb.Fatal(err)
		}
	}
	return th
}

func wrapperNames() []string {
	var names []string
	for _, w := range wrappings {
		names = append(names, w.name)
	}
	return names
}

var errEndless = errors.New("the line does not end")

// started is a program that ran, and the folder that it ran in.
type started struct {
	folder, name string
	args         []string
}

// played is what a line did: the programs that it started, the folder that it
// ran in, and the files that it left there.
type played struct {
	programs []started
	folder   string
	files    []string
}

// clear removes the folder of a line.
func (p played) clear() { os.RemoveAll(p.folder) }

// stage makes a folder to run a line in, with folders and a link in it.
func (th *theater) stage() (string, error) {
	dir, err := os.MkdirTemp(filepath.Dir(th.bin), "line")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "d1", "d2"), 0o755)
	}
	if err == nil {
		err = os.Symlink(filepath.Join("d1", "d2"), filepath.Join(dir, "link"))
	}
	if err == nil {
		err = os.Symlink(th.bin, filepath.Join(dir, "bin"))
	}
	return dir, err
}

// left are the files in a folder that no stage has.
func left(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if n := e.Name(); n != "bin" && n != "d1" && n != "link" {
			files = append(files, n)
		}
	}
	return files, err
}

// run runs a line in a folder of its own, which stays until it is cleared away.
// The programs that the line starts write to a pipe, which ends when the last
// of them has.
func (th *theater) run(text string) (played, error) {
	dir, err := th.stage()
	p := played{folder: dir}
	if err != nil {
		return p, err
	}
	log, err := th.play(text, dir)
	if err != nil {
		return p, err
	}
	if p.programs, err = readLog(log); err == nil {
		p.files, err = left(dir)
	}
	return p, err
}

// play runs a line and returns what its programs wrote.
func (th *theater) play(text, dir string) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), th.patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, th.bash, "-c", text)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + th.bin, "HOME=" + dir, "FUNCNEST=20", "LC_ALL=C.UTF-8", "name=gamma", "v=value"}
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	timer := time.AfterFunc(th.patience+5*time.Second, func() { r.Close() })
	out, readErr := io.ReadAll(r)
	timer.Stop()
	cmd.Wait()
	if ctx.Err() != nil || readErr != nil {
		return nil, errEndless
	}
	return out, nil
}

// readLog reads what the stubs wrote.
func readLog(log []byte) (all []started, err error) {
	for line := range bytes.Lines(log) {
		rest := strings.TrimSuffix(string(line), "\n")
		var words []string
		for rest != "" {
			q, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("a stub wrote %q", line)
			}
			w, err := strconv.Unquote(q)
			if err != nil {
				return nil, err
			}
			words = append(words, w)
			rest = strings.TrimPrefix(rest[len(q):], " ")
		}
		if len(words) < 2 {
			return nil, fmt.Errorf("a stub wrote %q", line)
		}
		all = append(all, started{words[0], words[1], words[2:]})
	}
	return all, nil
}

// unlisted returns the first program that started and is not in the line.
func unlisted(l *shell.Line, p played) (started, bool) {
	for _, s := range p.programs {
		if !listed(l, s, p.folder) {
			return s, true
		}
	}
	return started{}, false
}

// listed reports whether inspection listed a program: by its last path part,
// with exactly its arguments where it said that they are certain, and in one of
// the folders that it named.
func listed(l *shell.Line, s started, root string) bool {
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.Program.Unknown() || c.Program.Dynamic&shell.Glob != 0 {
			return true
		}
		if c.Base() == s.name && (!certain(c) || argsOf(c, s.args)) && reaches(c.Dirs, root, s.folder) {
			return true
		}
	}
	return false
}

// reaches reports whether one of some folders is the one that a program ran in.
func reaches(dirs []shell.Dir, root, folder string) bool {
	for _, d := range dirs {
		if d.Unknown {
			return true
		}
		path := root
		for _, step := range d.Steps {
			if path += "/" + step; strings.HasPrefix(step, "/") {
				path = step
			}
		}
		if real, err := filepath.EvalSymlinks(path); err == nil && real == folder {
			return true
		}
	}
	return false
}

// unwritten returns the first file that a line left and that no redirection of
// it is said to write.
func unwritten(l *shell.Line, p played) (string, bool) {
	for _, file := range p.files {
		if !slices.ContainsFunc(l.Redirects, func(r shell.Redirect) bool {
			return r.Kind == shell.Write && (!r.Target.Literal() || filepath.Base(r.Target.Text) == file)
		}) {
			return file, true
		}
	}
	return "", false
}

// mentioned reports whether a program is found in a line that was not read
// whole.
func mentioned(l *shell.Line, s started) bool {
	_, ok := l.Mentions([]string{s.name}, nil)
	return ok
}

// certain reports whether every word of a command is literal.
func certain(c *shell.Command) bool {
	if c.Open || !c.Program.Literal() {
		return false
	}
	for _, a := range c.Args {
		if !a.Literal() {
			return false
		}
	}
	return true
}

func argsOf(c *shell.Command, args []string) bool {
	if len(args) != len(c.Args) {
		return false
	}
	for i, a := range c.Args {
		if a.Text != args[i] {
			return false
		}
	}
	return true
}

// literalLine reports whether inspection called every word of a line certain,
// but for those that a wrapper fills in.
func literalLine(l *shell.Line) bool {
	for _, c := range l.Commands {
		for _, w := range c.Words() {
			if w.Dynamic&^shell.Added != 0 {
				return false
			}
		}
	}
	return len(l.Problems) == 0
}

// count counts the lines that have each node of the grammar.
func count(nodes map[string]int, text string) {
	f, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return
	}
	seen := map[string]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		if n != nil {
			seen[reflect.TypeOf(n).Elem().Name()] = true
		}
		return true
	})
	for name := range seen {
		nodes[name]++
	}
}

// everyNode are the nodes of the grammar that bash has.
var everyNode = []string{
	"File", "Stmt", "Assign", "Redirect", "CallExpr", "Subshell", "Block", "IfClause", "WhileClause", "ForClause", "WordIter", "CStyleLoop",
	"BinaryCmd", "FuncDecl", "Word", "Lit", "SglQuoted", "DblQuoted", "CmdSubst", "ParamExp", "ArithmExp", "ArithmCmd", "BinaryArithm", "UnaryArithm",
	"ParenArithm", "CaseClause", "CaseItem", "TestClause", "BinaryTest", "UnaryTest", "ParenTest", "DeclClause", "ArrayExpr", "ArrayElem", "ExtGlob",
	"ProcSubst", "TimeClause", "CoprocClause", "LetClause",
}

// TestSH2_differential writes random lines, runs them where only stubs can be
// started, and wants every program that started to be in what inspection lists.
func TestSH2_differential(t *testing.T) {
	th := newTheater(t)
	g := newGenerator(*seed)
	nodes := map[string]int{}
	var literal, reported, programs atomic.Int64
	texts := make(chan string)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for text := range texts {
				programs.Add(int64(th.listsAll(t, text)))
			}
		})
	}
	many := few(*lines)
	for i := range many {
		text := g.line(i%100 < 45)
		count(nodes, text)
		if i%100 < 45 {
			literal.Add(1)
			if literalLine(shell.Inspect(text)) {
				reported.Add(1)
			} else if literal.Load()-reported.Load() < 5 {
				t.Logf("not reported literal: %s", text)
			}
		}
		texts <- text
		if t.Failed() && testing.Short() {
			break
		}
	}
	close(texts)
	wg.Wait()
	t.Logf("%d lines, %d programs started, %d lines literal, %d of them reported so", many, programs.Load(), literal.Load(), reported.Load())
	if reported.Load()*100 < literal.Load()*99 {
		t.Errorf("of %d literal lines only %d were reported literal", literal.Load(), reported.Load())
	}
	covered(t, g, nodes, many)
}

// listsAll runs a line and wants all that it did in what inspection lists. It
// returns how many programs were started.
func (th *theater) listsAll(t *testing.T, text string) int {
	p, err := th.run(text)
	defer p.clear()
	switch {
	case errors.Is(err, errEndless) && th.patience < time.Minute:
		th.endless.Add(1)
		return 0
	case err != nil:
		t.Errorf("%v:\n%s", err, text)
		return 0
	}
	l := shell.Inspect(text)
	if s, missing := unlisted(l, p); missing && !mentioned(l, s) && (l.Understood() || !hidden(text, s)) {
		t.Errorf("%s %q started in %s of %s and is not listed (%v):\n%q\n%s", s.name, s.args, s.folder, p.folder, l.Problems, text, text)
	}
	if file, missing := unwritten(l, p); missing && l.Understood() {
		t.Errorf("%q was written and no redirection says so:\n%q\n%s", file, text, text)
	}
	return len(p.programs)
}

// covered wants every node and every wrapper in at least one line of a hundred.
func covered(t *testing.T, g *generator, nodes map[string]int, lines int) {
	t.Helper()
	for _, name := range everyNode {
		if nodes[name]*100 < lines {
			t.Errorf("node %s is in %d of %d lines", name, nodes[name], lines)
		}
	}
	for _, name := range wrapperNames() {
		if g.used[name]*100 < lines {
			t.Errorf("wrapper %s was written %d times in %d lines", name, g.used[name], lines)
		}
	}
}
