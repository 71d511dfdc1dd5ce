package gateway

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/redact"
)

// identity is what a server on this machine is: its command line, and the program
// that it starts. The command line is shown without what is secret in it, and
// compared by its digest. Its environment is nobody's business.
type identity struct {
	Command string       `json:"command"`
	Digest  sayso.Digest `json:"command_digest"`
	Program string       `json:"program"`
	Binary  sayso.Digest `json:"program_digest"`
}

// Identity is what a command starts, to be pinned.
func Identity(args []string) (sayso.Args, error) {
	if len(args) == 0 {
		return nil, rpc.Invalid("there is no command to start")
	}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return nil, err
	}
	if program, err = filepath.Abs(program); err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return nil, err
	}
	binary, err := fileDigest(program)
	if err != nil {
		return nil, fmt.Errorf("reading the program of the server: %w", err)
	}
	parts := make([][]byte, len(args))
	for i, a := range args {
		parts[i] = []byte(a)
	}
	text, err := jcs.Marshal(identity{redact.Scrub(strings.Join(args, " ")), sayso.HashOf("sayso/server/1", parts...), program, binary})
	if err != nil {
		return nil, err
	}
	return jcs.Object(text)
}

func fileDigest(name string) (d sayso.Digest, err error) {
	f, err := os.Open(name)
	if err != nil {
		return d, err
	}
	defer f.Close() // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return d, err
	}
	return sayso.Digest(sum.Sum(nil)), nil
}

// launchers start what their arguments name.
var launchers = []string{"npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "python", "python3", "uv", "env", "sh", "bash"}

var (
	// takesCode is a flag of a launcher that is given what to run, as sh -c is.
	takesCode = regexp.MustCompile(`^(-[A-Za-z]{0,3}[ceS]|--(eval|call|split-string)(=.*)?)$`)
	assigns   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	// takesSecret is one whose operand is a secret.
	takesSecret = regexp.MustCompile(`(?i)^--?[a-z0-9_-]*(token|secret|pass|key|auth|credential)[a-z0-9_-]*$`)
	shownName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
)

// NameOf is a name for a server that was given none: that of its program or, where
// that starts what its arguments name, of the first of those. A name stands in
// rows that cannot be erased: what may hold a secret, as code does, gives none.
func NameOf(args []string) (string, error) {
	word := program(args)
	name := base(word)
	shown := strings.Contains(redact.Scrub(strings.Join(args, " ")), word)
	if !shown || !shownName.MatchString(name) || redact.Scrub(name) != name {
		return "", rpc.Invalid("the command of this server says no name that can be shown: type --name NAME")
	}
	return name, nil
}

// program is the argument that names what a command runs; empty if it runs code.
func program(args []string) string {
	if !slices.Contains(launchers, base(args[0])) {
		return args[0]
	}
	for i, a := range args[1:] {
		switch {
		case takesCode.MatchString(a) || a == "eval":
			return ""
		case takesSecret.MatchString(args[i]): // the flag before it
		case !strings.HasPrefix(a, "-") && !assigns.MatchString(a) && a != "run" && a != "exec":
			return program(args[1+i:])
		}
	}
	return args[0]
}

// base is the last part of a path or a package, without its version or ending.
func base(s string) string {
	s = filepath.Base(s)
	if at := strings.LastIndexByte(s, '@'); at > 0 {
		s = s[:at]
	}
	return strings.TrimSuffix(s, filepath.Ext(s))
}
