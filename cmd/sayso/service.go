package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/internal/home"
)

func (a *app) serviceCommand() *cobra.Command {
	var now bool
	install := &cobra.Command{
		Use: "install", Short: "lets the server start when you log in", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.installService(c.Context(), now) },
	}
	install.Flags().BoolVar(&now, "now", false, "start it at once too")
	remove := &cobra.Command{
		Use: "remove", Short: "takes that back", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.removeService(c.Context()) },
	}
	c := &cobra.Command{Use: "service", GroupID: "gate", Short: "runs the server for you"}
	return a.parent(c, install, remove)
}

// unit is the file that has the system start the server, and the commands that
// tell the system of it.
type unit struct {
	path, text          string
	load, start, unload [][]string
}

const label = "dev.sayso.server"

// unitFor is the unit for a system.
func (a *app) unitFor(goos, program string) (unit, error) {
	switch goos {
	case "linux":
		return a.systemd(program)
	case "darwin":
		return a.launchd(program)
	}
	return unit{}, errors.New("there is no service for this system")
}

func (a *app) systemd(program string) (unit, error) {
	dir := a.getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.getenv("HOME"), ".config")
	}
	env := ""
	if a.paths.Home != "" {
		env = "Environment=" + systemdQuote("SAYSO_HOME="+a.paths.Home) + "\n"
	}
	return unit{
		path: filepath.Join(dir, "systemd", "user", "sayso.service"),
		text: "[Unit]\nDescription=sayso, which asks before an agent's tool call runs\n\n[Service]\nType=exec\n" + env +
			"ExecStart=" + systemdQuote(program) + " serve\nRestart=on-failure\nRestartSec=1\nUMask=0077\n\n[Install]\nWantedBy=default.target\n",
		load:   [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", "sayso.service"}},
		start:  [][]string{{"systemctl", "--user", "restart", "sayso.service"}},
		unload: [][]string{{"systemctl", "--user", "disable", "--now", "sayso.service"}},
	}, nil
}

// systemdQuote is a word as unit files take it.
func systemdQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(s) + `"`
}

func (a *app) launchd(program string) (unit, error) {
	esc := func(s string) (string, error) {
		var b strings.Builder
		err := xml.EscapeText(&b, []byte(s))
		return b.String(), err
	}
	p, err := esc(program)
	if err != nil {
		return unit{}, err
	}
	env := ""
	if a.paths.Home != "" {
		h, err := esc(a.paths.Home)
		if err != nil {
			return unit{}, err
		}
		env = "\t<key>EnvironmentVariables</key><dict><key>SAYSO_HOME</key><string>" + h + "</string></dict>\n"
	}
	path := filepath.Join(a.getenv("HOME"), "Library", "LaunchAgents", label+".plist")
	return unit{
		path: path,
		text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
	<key>Label</key><string>` + label + `</string>
	<key>ProgramArguments</key><array><string>` + p + `</string><string>serve</string></array>
` + env + `	<key>RunAtLoad</key><true/>
	<key>KeepAlive</key><true/>
	<key>Umask</key><integer>63</integer>
</dict></plist>
`,
		start:  [][]string{{"launchctl", "load", "-w", path}},
		unload: [][]string{{"launchctl", "unload", "-w", path}},
	}, nil
}

func (a *app) installService(ctx context.Context, now bool) error {
	if err := a.noAgent("installing a service"); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	u, err := a.unitFor(runtime.GOOS, program)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(u.path), 0o755); err != nil {
		return err
	}
	if err := home.Write(u.path, []byte(u.text)); err != nil {
		return err
	}
	a.print("wrote %s", u.path)
	steps := u.load
	if now {
		steps = append(steps, u.start...)
	}
	return a.steps(ctx, steps)
}

func (a *app) removeService(ctx context.Context) error {
	if err := a.noAgent("removing a service"); err != nil {
		return err
	}
	u, err := a.unitFor(runtime.GOOS, "")
	if err != nil {
		return err
	}
	if _, err := os.Stat(u.path); err != nil {
		return err
	}
	if err := a.steps(ctx, u.unload); err != nil {
		a.note("warning: %v", err) // it may never have been loaded; the file goes all the same
	}
	if err := os.Remove(u.path); err != nil {
		return err
	}
	a.print("removed %s", u.path)
	return nil
}

// steps runs commands of the system, without a shell.
func (a *app) steps(ctx context.Context, list [][]string) error {
	for _, words := range list {
		out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
		if err != nil {
			return hint(fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, printable(string(out))), "%s", strings.Join(words, " "))
		}
	}
	return nil
}
