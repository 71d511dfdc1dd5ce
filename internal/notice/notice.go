// Package notice tells a person at this machine that a request waits, when
// nobody is watching: by a desktop notice and by the terminal's bell.
//
// A notice is a courtesy. It never delays a request, never fails one, and says
// nothing that a lock screen must not show: which tool and which ticket, no
// arguments.
package notice

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

// limit is how long the program may take that shows the notice.
const limit = 5 * time.Second

// Notifier tells people. The zero Notifier is ready for use.
type Notifier struct {
	// Run starts a program; nil starts it for real.
	Run func(ctx context.Context, name string, args ...string) error
	// Terminal is where the bell rings; empty for the controlling terminal.
	Terminal string

	wg sync.WaitGroup
}

// Tell rings the bell and shows a notice about a request. It returns at once.
func (n *Notifier) Tell(r sayso.Request) {
	n.wg.Go(func() {
		n.bell()
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if name, args := command(runtime.GOOS, Title(r), Text(r)); name != "" {
			_ = n.run(ctx, name, args...) // no desktop here; the bell and the inbox remain
		}
	})
}

// Wait returns when all notices have been shown or given up.
func (n *Notifier) Wait() { n.wg.Wait() }

// Title is the first line of a notice.
func Title(r sayso.Request) string {
	who := r.Host
	if who == "" {
		who = "An agent"
	}
	return "sayso: " + plain(who) + " waits for you"
}

// Text is the rest of a notice.
func Text(r sayso.Request) string {
	return plain(r.Tool) + ", ticket " + r.ShortID + ". Type: sayso show " + r.ShortID
}

// plain keeps what could be markup or a control sequence out of a notice.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || strings.ContainsRune("<>&\"\\", c) || c > 0x24f {
			return '?'
		}
		return c
	}, s)
}

// command is the program that shows a notice, found without a shell.
func command(goos, title, text string) (string, []string) {
	switch goos {
	case "darwin":
		script := "display notification " + strconv.Quote(text) + " with title " + strconv.Quote(title)
		return "osascript", []string{"-e", script}
	case "linux":
		return "notify-send", []string{"--app-name=sayso", "--urgency=critical", "--", title, text}
	}
	return "", nil
}

func (n *Notifier) run(ctx context.Context, name string, args ...string) error {
	if n.Run != nil {
		return n.Run(ctx, name, args...)
	}
	path, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(path) { // never a program from the working directory
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

// bell rings in the terminal that this process belongs to, if there is one.
func (n *Notifier) bell() {
	path := n.Terminal
	if path == "" {
		path = "/dev/tty"
	}
	tty, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return // a hook has no terminal
	}
	defer tty.Close()
	_, _ = tty.WriteString("\a") // a terminal that went away rings no bell
}
