// Sayso-hook is the program that a host starts on every call of its agent. It
// reads the host's JSON from standard input and answers in the host's own way;
// whatever goes wrong, the call does not run. See package internal/hook.
//
//	sayso-hook claude-code
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/sayso-dev/sayso/internal/hook"
	"github.com/sayso-dev/sayso/internal/version"
)

func main() {
	if runtime.GOOS == "windows" {
		fmt.Fprintln(os.Stderr, "sayso-hook does not run on Windows natively; install it in the Windows Subsystem for Linux")
		os.Exit(2) // which blocks the call
	}
	hook.Main(hook.Env{
		Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Exit: os.Exit, Version: version.Version,
	})
}
