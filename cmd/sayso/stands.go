package main

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/sayso-dev/sayso/internal/child"
)

// handedOn are the signals that are for the program that we stand in front of. One
// who reads us and is gone is an error of writing, and not the end of us.
func handedOn() <-chan os.Signal {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return signals
}

// mirror ends as the program ended that we stand in front of.
func mirror(end child.End) error {
	if end.Signal != 0 {
		signal.Reset(end.Signal)
		_ = syscall.Kill(os.Getpid(), end.Signal) // the status says it where this does not
	}
	if end.Status != 0 {
		return otherStatus(end.Status)
	}
	return nil
}

// otherStatus is the exit status of another program, which has said itself what was
// wrong.
type otherStatus int

func (s otherStatus) Error() string { return "exit status " + strconv.Itoa(int(s)) }
