// Command sayso is the program that people use: it shows what agents wait for,
// records what people answer, serves the API, wires the gate into hosts, and
// says whether it is live.
//
// Standard output holds the answer and nothing else; everything else goes to
// standard error. The exit status is 0 for yes, 1 for no (denied, another
// decision stands, a check failed), and 2 if the answer could not be found out.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	if runtime.GOOS == "windows" {
		fmt.Fprintln(os.Stderr, "sayso: error: sayso does not run on Windows natively; install it in the Windows Subsystem for Linux")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
