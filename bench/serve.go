package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/garbage"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/server"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/web"
)

// serving is the task of a server.
type serving struct {
	Dir  string `json:"dir"` // a home
	Page bool   `json:"page"`
}

// ready is where a server can be reached, and with which tokens.
type ready struct {
	HTTP   string `json:"http"`
	Socket string `json:"socket,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Person string `json:"person,omitempty"`
	Sketch bool   `json:"sketch,omitempty"`
}

// usage is what a server has used so far.
type usage struct {
	RSS    int64   `json:"rss"`    // bytes, now
	Heap   int64   `json:"heap"`   // of it in use by objects, garbage included
	Stacks int64   `json:"stacks"` // and by goroutines
	CPU    float64 `json:"cpu"`    // seconds
}

// unlimited lifts the limits on how often a session may ask: a benchmark asks
// more often than any agent.
const unlimited = 1 << 30

// serve is the whole server as `sayso serve` runs it, with a policy of a
// hundred rules.
func serve(c *child) error {
	var task serving
	told := make(chan struct{}, 1)
	ctx, err := c.begin(&task, func() { told <- struct{}{} })
	if err != nil {
		return err
	}
	garbage.Tune(ctx)
	paths, err := homeIn(task.Dir)
	if err != nil {
		return err
	}
	b, closing, err := engine(ctx, paths)
	if err != nil {
		return err
	}
	go func() { _ = b.Run(ctx) }() // a sweep that fails is not measured
	at, listeners, err := open(ctx, paths)
	if err != nil {
		return err
	}
	tokens := paths.Tokens()
	options := &server.Options{
		Authenticate: func(secret string) (sayso.Actor, error) {
			t, err := tokens.Authenticate(secret, time.Now())
			return t.Actor(""), err
		},
	}
	if task.Page {
		options.Page = web.Handler()
	}
	srv, err := server.New(func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.Gate(a), b.Inbox(a) }, options)
	if err != nil {
		return err
	}
	if err := c.write(at); err != nil {
		return err
	}
	go func() { // ends with the process
		n := 0
		for range told {
			n++
			_ = errors.Join(c.write(used()), profileMemory(n)) // the parent sees what is missing
		}
	}()
	return errors.Join(srv.Serve(ctx, listeners...), closing())
}

func homeIn(dir string) (home.Paths, error) {
	return home.Find(func(name string) string {
		if name == "SAYSO_HOME" {
			return dir
		}
		return ""
	})
}

// engine is a broker on the log of a home.
func engine(ctx context.Context, paths home.Paths) (*broker.Broker, func() error, error) {
	if err := paths.Make(); err != nil {
		return nil, nil, err
	}
	log, err := sqlite.Open(ctx, paths.Database(), &sqlite.Options{Checkpoint: true})
	if err != nil {
		return nil, nil, err
	}
	rules, err := hundredRules()
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	b, err := broker.New(log, rules, &broker.Options{MaxAsks: unlimited, MaxOpen: unlimited})
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	return b, func() error { return errors.Join(b.Close(), log.Close()) }, nil
}

// open listens on loopback and on a Unix socket, and makes the tokens.
func open(ctx context.Context, paths home.Paths) (at ready, _ []net.Listener, err error) {
	tcp, err := listen(ctx)
	if err != nil {
		return at, nil, err
	}
	at.HTTP = "http://" + tcp.Addr().String()
	dir, err := os.MkdirTemp("", "sb-") // paths of sockets must be short
	if err != nil {
		return at, nil, err
	}
	at.Socket = filepath.Join(dir, "s")
	socket, err := (&net.ListenConfig{}).Listen(ctx, "unix", at.Socket)
	if err != nil {
		return at, nil, err
	}
	context.AfterFunc(ctx, func() { _ = os.RemoveAll(dir) }) // a folder of ours
	now, tokens := time.Now(), paths.Tokens()
	at.Agent, _, err = tokens.Create(now, home.Token{Name: agentName, Kind: sayso.PrincipalAgent, Owner: personName})
	if err != nil {
		return at, nil, err
	}
	at.Person, _, err = tokens.Create(now, home.Token{Name: personName, Kind: sayso.PrincipalPerson})
	return at, []net.Listener{tcp, socket}, err
}

const (
	agentName  = "bench-agent"
	personName = "ada"
)

// hundredRules is a policy as a careful team would have it: addresses, files,
// tools of servers. One rule asks about the tool that the benchmarks call.
func hundredRules() (*policy.Policy, error) {
	var text strings.Builder
	text.WriteString("version: 1\nrules:\n  - ask: \"mcp__deploy__apply\"\n")
	for i := range 33 {
		fmt.Fprintf(&text, "  - allow: \"mcp__docs__read%d\"\n", i)
		fmt.Fprintf(&text, "  - ask: \"web-fetch:https://host%d.example.com/api/*\"\n", i)
		fmt.Fprintf(&text, "  - deny: \"file-write:generated/part%d/**\"\n", i)
	}
	f, err := policy.Parse("bench.yaml", []byte(text.String()))
	if err != nil {
		return nil, err
	}
	return policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: f})
}

// call is one call of an agent, unlike every other.
func call(session, id string, n int) sayso.Call {
	return sayso.Call{
		Server: "deploy", Tool: "apply", Session: session, CallID: id, Cwd: "/home/ada/project",
		Description: "roll the new release out",
		Args: fmt.Appendf(nil, `{"environment":"staging","release":"2026.11.%d","replicas":3,"wait":true,"token":"hunter2-%d"}`,
			n, n),
	}
}

// used is what this process has used so far.
func used() usage {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return usage{}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{
		RSS: resident(), Heap: int64(m.HeapInuse), Stacks: int64(m.StackInuse),
		CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds(),
	}
}

// resident is the memory of this process, as the system counts it if it tells,
// else as the runtime does.
func resident() int64 {
	var total, pages int64
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		if _, err = fmt.Sscan(string(text), &total, &pages); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
