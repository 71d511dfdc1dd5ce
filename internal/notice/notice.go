// Package notice tells a person at this machine that a request waits, when
// nobody is watching: by a desktop notice and by the terminal's bell.
//
// A notice is a courtesy. It never delays a request, never fails one, and says
// nothing that a lock screen must not show: which tool and which ticket, no
// arguments.
package notice

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

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
		for _, c := range commands(runtime.GOOS, title(r), text(r)) {
			if n.run(ctx, c[0], c[1:]...) == nil {
				return
			}
		} // no desktop here; the bell and the inbox remain
	})
}

// Wait returns when all notices have been shown or given up.
func (n *Notifier) Wait() { n.wg.Wait() }

// title is the first line of a notice.
func title(r sayso.Request) string {
	who := cmp.Or(r.Host, r.Life.Asker.Principal, "An agent")
	return "sayso: " + plain(who) + " waits for you"
}

// text is the rest of a notice.
func text(r sayso.Request) string {
	return plain(r.Tool) + ", ticket " + plain(r.ShortID) + ". Type: sayso show " + plain(r.ShortID)
}

// longest is how much of a name a notice shows, in characters.
const longest = 60

// plain keeps what could be markup, a control sequence or another letter than it
// seems out of a notice, and cuts what is too long for one.
func plain(s string) string {
	s = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) || strings.ContainsRune("<>&\"\\", c) || c > 0x24f {
			return '?'
		}
		return c
	}, s)
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return s
}

// commands are the programs that may show a notice, the best first, each found
// without a shell. A title and a text hold no quotes and no backslashes.
func commands(goos, title, text string) [][]string {
	switch goos {
	case "darwin":
		script := "display notification " + strconv.Quote(text) + " with title " + strconv.Quote(title)
		return [][]string{{"osascript", "-e", script}}
	case "linux":
		const desktop = "org.freedesktop.Notifications"
		return [][]string{
			{"notify-send", "--app-name=sayso", "--urgency=critical", "--", title, text},
			{
				"gdbus", "call", "--session", "--dest", desktop, "--object-path", "/org/freedesktop/Notifications", "--method", desktop + ".Notify",
				`"sayso"`, "uint32 0", `""`, `"` + title + `"`, `"` + text + `"`, "@as []", `@a{sv} {"urgency": <byte 2>}`, "int32 -1",
			},
		}
	}
	return nil
}

func (n *Notifier) run(ctx context.Context, name string, args ...string) error {
	if n.Run != nil {
		return n.Run(ctx, name, args...)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		return errors.New("not a program from the working directory")
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
