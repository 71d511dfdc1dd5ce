package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
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
	forget              [][]string // once the file is gone
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
	for _, v := range a.serviceEnv() {
		env += "Environment=" + systemdQuote(v.name+"="+v.value) + "\n"
	}
	path := filepath.Join(dir, "systemd", "user", "sayso.service")
	return unit{
		path: path,
		text: "[Unit]\nDescription=sayso, which asks before an agent's tool call runs\n\n[Service]\nType=exec\n" + env +
			"ExecStart=" + systemdQuote(program) + " serve\nRestart=on-failure\nRestartSec=1\nUMask=0077\n\n[Install]\nWantedBy=default.target\n",
		load:   [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", path}}, // systemd may look elsewhere for names
		start:  [][]string{{"systemctl", "--user", "restart", "sayso.service"}},
		unload: [][]string{{"systemctl", "--user", "disable", "--now", "sayso.service"}},
		forget: [][]string{{"systemctl", "--user", "daemon-reload"}},
	}, nil
}

// variable is one of the service's environment.
type variable struct{ name, value string }

// serviceEnv is what the service must be told so that it finds what commands
// find here: the system starts it without what a shell sets.
func (a *app) serviceEnv() []variable {
	var list []variable
	if a.paths.Home != "" {
		list = append(list, variable{"SAYSO_HOME", a.paths.Home})
	} else {
		for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
			if v := a.getenv(name); filepath.IsAbs(v) {
				list = append(list, variable{name, v})
			}
		}
	}
	for _, s := range a.settings.All() {
		if s.Source != "default" && !slices.Contains([]string{"home", "server", "token-file"}, s.Name) { // these say whom commands ask
			list = append(list, variable{s.Env, wherever(s)})
		}
	}
	return list
}

// wherever is a setting's value as it is from any folder: the system starts the
// service in another one.
func wherever(s home.Setting) string {
	if s.Name == "tls-cert" || s.Name == "tls-key" {
		if path, err := filepath.Abs(s.Value); err == nil {
			return path
		}
	}
	return s.Value
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
	for _, v := range a.serviceEnv() {
		value, err := esc(v.value)
		if err != nil {
			return unit{}, err
		}
		env += "<key>" + v.name + "</key><string>" + value + "</string>"
	}
	if env != "" {
		env = "\t<key>EnvironmentVariables</key><dict>" + env + "</dict>\n"
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
	return hint(a.steps(ctx, steps), "log in where the system runs services for you, then sayso service install; or run sayso serve yourself")
}

func (a *app) removeService(ctx context.Context) error {
	if err := a.noAgent("removing a service"); err != nil {
		return err
	}
	u, err := a.unitFor(runtime.GOOS, "")
	if err != nil {
		return err
	}
	if _, err := os.Stat(u.path); errors.Is(err, fs.ErrNotExist) {
		return hint(fmt.Errorf("%w: there is no service of ours, %s", sayso.ErrNotFound, u.path), "sayso service install")
	} else if err != nil {
		return err
	}
	if err := a.steps(ctx, u.unload); err != nil {
		a.note("warning: %v", err) // it may never have been loaded; the file goes all the same
	}
	if err := os.Remove(u.path); err != nil {
		return err
	}
	a.print("removed %s", u.path)
	if err := a.steps(ctx, u.forget); err != nil {
		a.note("warning: %v", err) // the system forgets it when it starts again
	}
	return nil
}

// steps runs commands of the system, without a shell.
func (a *app) steps(ctx context.Context, list [][]string) error {
	for _, words := range list {
		out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
