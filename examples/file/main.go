// Command file embeds a gate on a file, and is answered from another terminal.
//
//	go run ./examples/file "$HOME/.local/state/sayso/sayso.db"
//	sayso watch          # in another terminal
//
// Stop it while it waits, start it again, and it goes on waiting for the same
// answer.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"os/user"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/store/sqlite"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: file PATH-OF-THE-LOG")
	}
	me, err := user.Current()
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1], me.Username, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run deploys, if owner lets it, wherever owner answers.
func run(ctx context.Context, path, owner string, out io.Writer) error {
	events, err := sqlite.Open(ctx, path, nil) // one file, any number of processes
	if err != nil {
		return err
	}
	defer events.Close()
	rules, err := policy.New(policy.Options{})
	if err != nil {
		return err
	}
	b, err := broker.New(events, rules, nil)
	if err != nil {
		return err
	}
	defer b.Close()

	gate := b.Gate(sayso.Actor{Principal: "deployer", Kind: sayso.PrincipalTool, Owner: owner})
	call := sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"make deploy"}`), Session: "deploys"}
	fmt.Fprintln(out, "waiting: run sayso watch")
	d, err := gate.Admit(ctx, sayso.Admission{Call: call, Immediate: true}) // redeemed as it is recorded
	if told := sayso.Told(d, err); told != "" {
		return errors.New(told)
	}
	fmt.Fprintln(out, "deploying, as", d.Who(), "said")
	return gate.Report(ctx, sayso.Outcome{Request: d.Request})
}
