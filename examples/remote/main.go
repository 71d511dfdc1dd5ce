// Command remote asks a gate that runs elsewhere.
//
//	sayso serve --listen 127.0.0.1:7717
//	export SAYSO_TOKEN=$(sayso token create --name deployer --kind tool)
//	go run ./examples/remote http://127.0.0.1:7717
//	sayso watch          # in another terminal
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: SAYSO_TOKEN=… remote ADDRESS")
	}
	if err := run(context.Background(), os.Args[1], os.Getenv("SAYSO_TOKEN"), time.Hour, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run deploys, if the gate at address lets it while patience lasts.
func run(ctx context.Context, address, token string, patience time.Duration, out io.Writer) error {
	c, err := client.New(address, token, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	call := sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"make deploy"}`), Session: "deploys"}
	d, err := c.Gate().Admit(ctx, sayso.Admission{Call: call, Patience: patience, Immediate: true})
	if told := sayso.Told(d, err); told != "" {
		return errors.New(told) // pending, too: ask again to go on waiting
	}
	fmt.Fprintln(out, "deploying")
	return c.Gate().Report(ctx, sayso.Outcome{Request: d.Request})
}
