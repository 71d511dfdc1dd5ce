package gateway

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
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
		return nil, invalid("there is no command to start")
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

// NameOf is a name for a server that was given none: that of its program or, where
// that starts what its arguments name, of the first of those.
func NameOf(args []string) string {
	name := base(args[0])
	for _, l := range launchers {
		if name != l {
			continue
		}
		for _, a := range args[1:] {
			if !strings.HasPrefix(a, "-") && a != "run" && a != "exec" {
				return base(a)
			}
		}
	}
	return name
}

// base is the last part of a path or a package, without its version or ending.
func base(s string) string {
	s = filepath.Base(s)
	if at := strings.LastIndexByte(s, '@'); at > 0 {
		s = s[:at]
	}
	return strings.TrimSuffix(s, filepath.Ext(s))
}
