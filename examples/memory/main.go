// Command memory embeds a gate without a disk, and asks on its own terminal.
//
//	go run ./examples/memory
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/store/memory"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run deploys, if the person at the terminal lets it.
func run(ctx context.Context, in io.Reader, out io.Writer) error {
	rules, err := policy.New(policy.Options{}) // the built-ins; policy.Load reads a file
	if err != nil {
		return err
	}
	b, err := broker.New(memory.New(nil), rules, nil)
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go prompt(ctx, b.Inbox(sayso.Actor{Principal: "ana", Kind: sayso.PrincipalPerson}), in, out)

	gate := b.Gate(sayso.Actor{Principal: "deployer", Kind: sayso.PrincipalTool, Owner: "ana"})
	call := sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"make deploy"}`), Session: "s1", CallID: "1"}
	d, err := gate.Admit(ctx, sayso.Admission{Call: call})
	if told := sayso.Told(d, err); told != "" {
		return errors.New(told)
	}
	if err := gate.Redeem(ctx, d.Receipt, call); err != nil { // once, and for exactly this call
		return err
	}
	fmt.Fprintln(out, "deploying")
	return gate.Report(ctx, sayso.Outcome{Request: d.Request})
}

// prompt asks about each request as it comes, until ctx ends.
func prompt(ctx context.Context, inbox sayso.Inbox, in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for e, err := range inbox.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			return
		}
		r, err := sayso.RequestIn(&e)
		if err != nil {
			return
		}
		fmt.Fprintf(out, "%s wants %s %s (%s)\nallow? [y/N] ", e.Actor.Principal, r.Tool, r.Preview, r.Risk)
		a := sayso.Answer{Digest: r.Digest, Content: r.Content} // the zero effect denies
		if lines.Scan() && lines.Text() == "y" {
			a.Effect = sayso.Allow
		}
		if _, err := inbox.Answer(ctx, r.ID, a); err != nil {
			fmt.Fprintln(out, err)
		}
	}
}
