package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

// Bash is the name of the shell tool.
const Bash = "bash"

// What holds unless [ShellOptions] say otherwise.
const (
	ShellTimeout = 2 * time.Minute
	ShellHead    = 24 << 10 // bytes of output from its beginning
	ShellTail    = 8 << 10  // bytes of output from its end
	MaxCommand   = 128 << 10
)

// ShellOptions change how commands run. The zero value means the defaults.
type ShellOptions struct {
	// Timeout is how long a command may run; 0 means [ShellTimeout].
	Timeout time.Duration
	// Grace is how long a command that is told to end has before it is killed;
	// 0 kills it at once.
	Grace time.Duration
	// Head and Tail are how many bytes of output are kept from its beginning and
	// its end; 0 means [ShellHead] and [ShellTail]. What lies between is counted.
	Head, Tail int
	// Env are the variables that commands see, as NAME=VALUE. Nil hands down
	// those of this process; an empty slice is none but PATH, HOME, USER, LANG,
	// TERM and TMPDIR. What makes bash run or read something besides the command
	// is taken out in any case.
	Env []string
}

// Shell is a tool that runs lines of bash. It is a [Set], a [Describer] and an
// [Asker]; every command asks, and policy says which need not.
//
// What runs is bash -c with exactly the text that was judged, in the directory
// that was opened, without input, in a session and process group of its own. At
// the end of the command, of its time or of the context, the whole group is
// killed: what it left in the background goes with it. A process that leaves
// the group on purpose is not caught.
type Shell struct {
	dir  string
	open *os.Root
	info os.FileInfo
	bash string
	o    ShellOptions
}

// OpenShell opens the directory that commands run in. Nil options are the
// defaults. It fails where there is no bash.
func OpenShell(dir string, o *ShellOptions) (*Shell, error) {
	s := &Shell{}
	if o != nil {
		s.o = *o
	}
	var err error
	if s.bash, err = exec.LookPath("bash"); err != nil {
		return nil, fmt.Errorf("opening the shell tool: %w; install bash", err)
	}
	if s.dir, err = filepath.Abs(dir); err == nil {
		s.dir, err = filepath.EvalSymlinks(s.dir)
	}
	if err == nil {
		s.open, err = os.OpenRoot(s.dir)
	}
	if err == nil {
		s.info, err = s.open.Stat(".")
	}
	if err != nil {
		return nil, fmt.Errorf("opening the shell tool: %w", err)
	}
	return s, nil
}

// Close lets go of the directory.
func (s *Shell) Close() error { return s.open.Close() }

// Tools implements [Describer].
func (s *Shell) Tools() []Definition {
	return []Definition{{Bash, "Run a line of bash, without input. Processes left in the background end with it.", sayso.KindShell,
		schema(`"command":{"type":"string"}`, `"command"`)}}
}

// Call implements [Set], without a gate: any command runs.
func (s *Shell) Call(ctx context.Context, c sayso.Call) (Result, error) { return bare(ctx, s, c) }

// Ask implements [Asker].
func (s *Shell) Ask(ctx context.Context, c sayso.Call) (*Ask, error) { return planAsks(ctx, s, c) }

type shellArgs struct {
	Command string `json:"command"`
}

func (s *Shell) plan(_ context.Context, c sayso.Call) (*plan, error) {
	if c.Tool != Bash {
		return nil, unknown(c.Tool)
	}
	var a shellArgs
	if err := arguments(c, &a); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Tool, err)
	}
	if why := unrunnable(a.Command); why != "" {
		return nil, fmt.Errorf("%w: %s: the command %s", sayso.ErrInvalid, c.Tool, why)
	}
	if c.Cwd == "" {
		c.Cwd = s.dir
	}
	if c.Cwd != s.dir && !sameFolder(c.Cwd, s.dir) {
		return nil, fmt.Errorf("%w: %s: the call is for another directory than that of the tool", sayso.ErrInvalid, c.Tool)
	}
	ask := &Ask{
		ToolAsk: sayso.ToolAsk{Required: true, Description: "Execute: " + opening(a.Command)},
		Present: func(context.Context) (*sayso.Presentation, error) {
			return new(present.Command(a.Command, c.Cwd, present.Understood(a.Command)...)), nil
		},
	}
	return &plan{
		parts: onePart(part{call: c, cwd: s.dir, ask: ask}),
		still: s.inPlace,
		run:   func(ctx context.Context) (Result, error) { return s.run(ctx, a.Command) },
	}, nil
}

// unrunnable says why a text cannot be run as it is.
func unrunnable(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "is empty"
	case len(text) > MaxCommand:
		return fmt.Sprintf("may have %d bytes", MaxCommand)
	case strings.IndexByte(text, 0) >= 0:
		return "holds a NUL byte"
	}
	return ""
}

// opening is the first line of a command, for a title. The request shows all.
func opening(command string) string {
	line, _, more := strings.Cut(strings.TrimSpace(command), "\n")
	if r := []rune(line); len(r) > 50 {
		line, more = string(r[:50]), true
	}
	if more {
		line += "..."
	}
	return line
}

// inPlace reports whether the directory still is where people were told.
func (s *Shell) inPlace() error {
	info, err := os.Lstat(s.dir)
	if err != nil || !os.SameFile(info, s.info) {
		return fmt.Errorf("%w: another folder is in the place of %s", sayso.ErrMismatch, s.dir)
	}
	return nil
}

// run runs a text that was let through, and nothing else.
func (s *Shell) run(ctx context.Context, command string) (Result, error) {
	if err := s.inPlace(); err != nil {
		return Result{}, err
	}
	here, err := s.open.Open(".")
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", Bash, err)
	}
	defer here.Close() // only run in
	limit := s.o.Timeout
	if limit <= 0 {
		limit = ShellTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTime)
	defer cancel()
	out := &capture{head: orDefault(s.o.Head, ShellHead), tail: orDefault(s.o.Tail, ShellTail)}
	// The two dashes make the text a command even where it begins with one.
	cmd := exec.Command(s.bash, "-c", "--", command)
	cmd.Env = s.environment()
	exit, err := runGroup(ctx, cmd, here, s.dir, out, s.o.Grace)
	text := out.String()
	switch {
	case err != nil && context.Cause(ctx) == errTime:
		err = fmt.Errorf("%s: %w after %s and was killed; so far it said:\n%s", Bash, errTime, limit, text)
	case err != nil && ctx.Err() != nil:
		err = fmt.Errorf("%s: %w, and the command was killed; so far it said:\n%s", Bash, ctx.Err(), text)
	case err != nil:
		err = fmt.Errorf("%s: %w", Bash, err)
	}
	if err != nil {
		return Result{}, err
	}
	if exit != 0 {
		text += fmt.Sprintf("[exit status %d]\n", exit)
	}
	return Result{Text: text, Exit: &exit}, nil
}

var errTime = errors.New("the command ran out of time")

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// plainNames are the variables that commands see if they are to see no other.
var plainNames = []string{"PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR"}

// environment is what commands see.
func (s *Shell) environment() []string {
	env := s.o.Env
	switch {
	case env == nil:
		env = os.Environ()
	case len(env) == 0:
		for _, name := range plainNames {
			if value, ok := os.LookupEnv(name); ok {
				env = append(env, name+"="+value)
			}
		}
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, ok := strings.Cut(v, "=")
		return !ok || steersBash(name)
	})
	return append(env, "PWD="+s.dir)
}

// steersBash reports whether a variable makes bash do something besides or
// otherwise than the text that it is given.
func steersBash(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "PS4", "BASH_XTRACEFD", "BASH_COMPAT", "POSIXLY_CORRECT",
		"IFS", "EXECIGNORE", "PWD", "OLDPWD", "BASH_LOADABLES_PATH", "PROMPT_COMMAND":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_") || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}
