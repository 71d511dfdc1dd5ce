package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/local"
)

// grade is how a check came out.
type grade string

const (
	ok        grade = "ok"
	warn      grade = "warn"
	fail      grade = "FAIL"
	notProved grade = "not proved"
)

// finding is one line of the doctor's list.
type finding struct {
	Host  string `json:"host,omitempty"`
	Check string `json:"check"`
	Grade grade  `json:"grade"`
	Text  string `json:"text"`
	Type  string `json:"type,omitempty"` // what to type
}

// doctor goes through the checks.
type doctor struct {
	*app
	programs map[string]*string // of the hosts, where they were named
	about    install.Host       // the host that is looked at; none at first
	off      *install.Doubt     // what switches its hooks off here
	list     []finding
}

func (a *app) doctorCommand() *cobra.Command {
	d := &doctor{app: a, programs: map[string]*string{}}
	var still bool
	c := &cobra.Command{
		Use: "doctor", GroupID: "wire", Short: "proves that the gate is live, and says what is not proved", Args: cobra.NoArgs,
		Long: `Looks at files, database, policy, hook and settings, and then starts the installed
agent with your own settings against a model of its own on this machine, which
asks for a call that the policy denies: if that call runs, the gate does not
hold. It does so for each agent that has the hook. What cannot be driven is
called not proved. No account is used and nothing
leaves the machine. Exits with 0 if nothing failed, else with 1.`,
		RunE: func(c *cobra.Command, _ []string) error { return d.run(c.Context(), still) },
	}
	programFlags(c.Flags(), d.programs)
	c.Flags().BoolVar(&still, "no-live", false, "do not start the agents")
	return c
}

func (d *doctor) add(check string, g grade, typed, format string, args ...any) {
	d.list = append(d.list, finding{d.about.Name, check, g, fmt.Sprintf(format, args...), typed})
}

func (d *doctor) run(ctx context.Context, still bool) error {
	d.files()
	d.switches()
	d.database(ctx)
	d.policy(ctx)
	d.loggedIn()
	dir, err := os.Getwd()
	if err != nil {
		d.add("settings", fail, "", "%v", err)
		return d.report()
	}
	hosts := d.hosts(dir)
	for _, d.about = range hosts {
		d.host(ctx, dir, still)
	}
	d.about = install.Host{}
	d.servers(dir)
	return d.report()
}

// hosts are those to look at: that were named, or whose settings name our hook;
// the first if there are none.
func (d *doctor) hosts(dir string) []install.Host {
	var hosts []install.Host
	for _, h := range install.Hooked(d.getenv, d.found) {
		_, wired := d.wiring(h, dir, h.Places(d.getenv, dir))
		switch program, err := exec.LookPath(h.Program); {
		case wired || *d.programs[h.Name] != "":
			hosts = append(hosts, h)
		case err == nil && h.Program != "":
			d.about = h
			d.add("settings", warn, "sayso init "+h.Name, "%s is in PATH, and what %s calls is not gated", program, h.Title)
		}
	}
	d.about = install.Host{}
	if len(hosts) == 0 {
		hosts = install.Hosts()[:1]
		d.list = slices.DeleteFunc(d.list, func(f finding) bool { return f.Host == hosts[0].Name })
	}
	return hosts
}

// found reports whether the program of a host is in PATH, or was named.
func (d *doctor) found(program string) bool {
	if slices.ContainsFunc(install.Hosts(), func(h install.Host) bool { return h.Program == program && *d.programs[h.Name] != "" }) {
		return true
	}
	_, err := exec.LookPath(program)
	return err == nil
}

// host looks at one host.
func (d *doctor) host(ctx context.Context, dir string, still bool) {
	d.off = nil
	program := d.wired(dir)
	d.hook(ctx, program)
	if still && d.about.Program != "" {
		d.add("live proof", notProved, "sayso doctor", "%s was not started, as you asked", d.about.Program)
		return
	}
	d.live(ctx, program)
}

func (d *doctor) report() error {
	var err error
	if d.json {
		err = d.printJSON(d.list)
	} else {
		d.print("%s", strings.Join(d.lines(width(d.out)), "\n"))
	}
	if err == nil && slices.ContainsFunc(d.list, func(f finding) bool { return f.Grade == fail }) {
		return no{}
	}
	return err
}

// lines are the findings in so many columns; zero for a line each. Where there are
// several agents each is named, and one that is not the first always.
func (d *doctor) lines(columns int) []string {
	first := install.Hosts()[0].Name
	several := slices.ContainsFunc(d.list, func(f finding) bool { return f.Host != "" && f.Host != first })
	checks, edge := make([]string, len(d.list)), 0
	for i, f := range d.list {
		if checks[i] = f.Check; f.Host != "" && several {
			checks[i] = f.Host + " " + f.Check
		}
		edge = max(edge, len(checks[i]))
	}
	var lines []string
	for i, f := range d.list {
		grade := fmt.Sprintf("%-*s  ", len(notProved), f.Grade)
		line := hanging(columns, len(grade), fmt.Sprintf("%s%-*s  ", grade, edge, checks[i]), safe(printable(f.Text)))
		switch {
		case f.Type == "":
		case columns == 0:
			line += "  type: " + f.Type
		default: // where it is seen at once
			line += "\n" + strings.Repeat(" ", len(grade)) + "type: " + f.Type
		}
		lines = append(lines, line)
	}
	return lines
}

func (d *doctor) files() {
	found := d.paths.Audit()
	for _, err := range found {
		typed := ""
		var open *home.OpenError
		if errors.As(err, &open) {
			typed = open.Hint()
		}
		d.add("files", fail, typed, "%v", err)
	}
	if _, err := os.Stat(d.paths.State); errors.Is(err, fs.ErrNotExist) {
		d.add("files", ok, "", "nothing was there yet; it is made in %s", d.paths.State)
	} else if len(found) == 0 {
		d.add("files", ok, "", "folders and files are closed to others")
	}
}

func (d *doctor) switches() {
	if o, off, err := d.paths.IsOff(d.now()); off {
		d.add("switches", warn, "sayso off --end", "the gate is off until %s", o.Until.Local().Format(time.DateTime))
	} else if err != nil {
		d.add("switches", warn, "sayso off --end", "the gate is on, but the switch cannot be read: %v", err)
	}
	if d.paths.Locked() {
		d.add("switches", warn, "sayso lock --release", "locked: everything asks or denies")
	}
}

// loggedIn tells of the logins to MCP servers.
func (d *doctor) loggedIn() {
	all, err := d.logins().List()
	if err != nil {
		d.add("logins", warn, "sayso mcp login URL", "%v", err)
	}
	for _, l := range all {
		if l.Ended != "" {
			d.add("logins", warn, l.Command, "%s needs a login: %s", l.URL, l.Ended)
			continue
		}
		d.add("logins", ok, "", "%s: %s", l.URL, loginStands(l, d.now()))
	}
}

func (d *doctor) database(ctx context.Context) {
	e, err := local.OpenEngine(ctx, d.paths, local.Options{})
	if err != nil {
		d.add("database", fail, cmp.Or(ownHint(err), "sayso where"), "%v", err)
		return
	}
	head, err := verifyLog(ctx, e.Log, sayso.Head{})
	if err = errors.Join(err, e.Close()); err != nil {
		d.add("database", fail, "sayso log verify", "%v", err)
		return
	}
	if err := local.Writable(ctx, d.paths); err != nil {
		d.add("database", fail, "sayso where", "%v", err)
		return
	}
	if head.Seq == 0 {
		d.add("database", ok, "", "opens; it is empty")
		return
	}
	d.add("database", ok, "", "opens; %s, whole and unchanged", count(int(head.Seq), "event"))
}

func (d *doctor) policy(ctx context.Context) {
	rules := local.NewRules(d.paths)
	if err := rules.Err(); err != nil {
		d.add("policy", fail, "sayso policy check </dev/null", "%s%s", firstMistake(err), d.meanwhile(ctx, firstMistake(err)))
		return
	}
	for _, w := range rules.Warnings() {
		d.add("policy", warn, "", "%s", w)
	}
	if files := rules.Files(); len(files) > 0 {
		d.add("policy", ok, "", "%s loads", strings.Join(files, " and "))
	} else {
		d.add("policy", ok, "", "there is no file; the built-ins hold")
	}
}

// meanwhile says what becomes of calls while the policy has a mistake.
func (d *doctor) meanwhile(ctx context.Context, mistake string) string {
	l, err := d.open(ctx)
	if err != nil {
		return "" // of which other lines tell
	}
	defer l.Close()
	in, err := l.Inbox(ctx, d.person())
	if err != nil {
		return ""
	}
	if on, err := d.stands(ctx, l, in, mistake); err != nil || on == "" {
		return "; every call is denied"
	}
	return "; the server that runs goes on with the one before"
}

// wired looks at the settings of the host and returns the hook's program if it
// is installed.
func (d *doctor) wired(dir string) (program string) {
	var where string
	before := len(d.list)
	for _, p := range d.about.Places(d.getenv, dir) {
		s, err := surveyed(d.about, p)
		if err != nil {
			d.add("settings", fail, "", "%s: %v", p.Path, err)
			continue
		}
		d.place(p, s)
		if s.Installed {
			program, where = s.Program, p.Path
		} else if s.Differs != "" {
			d.add("settings", fail, "sayso init "+d.about.Name, "the hook in %s is not as sayso init writes it (%s), so it may let calls run", p.Path, s.Differs)
		}
	}
	if program == "" {
		if !failed(d.list[before:]) {
			d.add("settings", fail, "sayso init "+d.about.Name, "%s has no hook of ours that blocks", d.about.Title)
		}
		return ""
	}
	if d.off = d.switchedOff(dir); d.off != nil {
		d.add("settings", fail, d.off.Type, "%s", d.off.Why)
	}
	if !failed(d.list[before:]) {
		d.add("settings", ok, "", "the hook is in %s", where)
	}
	return program
}

func failed(list []finding) bool {
	return slices.ContainsFunc(list, func(f finding) bool { return f.Grade == fail })
}

// switchedOff is what switches hooks off for a host that is started in a
// directory.
func (d *doctor) switchedOff(dir string) *install.Doubt {
	if d.about.Off == nil {
		return nil
	}
	return d.about.Off(d.getenv, dir)
}

// place tells what in one settings file gets in the way.
func (d *doctor) place(p install.Place, s install.Survey) {
	if s.DisableAllHooks {
		d.add("settings", fail, "", "%s sets disableAllHooks: no hook runs", p.Path)
	}
	if s.ManagedOnly && !(p.Scope == install.ScopeManaged && s.Installed) {
		d.add("settings", fail, "", "%s sets allowManagedHooksOnly: ours runs only if it is in the managed settings", p.Path)
	}
	for _, other := range s.OtherHooks {
		d.add("settings", warn, "", "another hook answers too: %s (%s)", other, p.Path)
	}
	for _, r := range s.Rules {
		if r.List == "ask" {
			d.add("settings", warn, "", "%s asks for %s itself, so you are asked twice", p.Path, r.Text)
		}
	}
	if !s.Installed || d.about.Doubt == nil {
		return
	}
	if doubt := d.about.Doubt(d.getenv, p); doubt != nil {
		d.add("settings", fail, doubt.Type, "%s", doubt.Why)
	}
}

// canary is a call that the policy in the hook's temporary home denies.
const canary = sayso.Canary

// hook runs the hook itself on a call that must be denied, in a home of its
// own.
func (d *doctor) hook(ctx context.Context, program string) {
	if program == "" {
		return
	}
	if err := runnable(program); err != nil {
		d.add("hook", fail, "sayso init "+d.about.Name, "%v", err)
		return
	}
	denied, err := d.denies(ctx, program)
	switch {
	case err != nil:
		d.add("hook", fail, "", "%s: %v", program, err)
	case !denied:
		d.add("hook", fail, "", "%s let a call through that its policy denies", program)
	default:
		d.add("hook", ok, "", "%s denies what the policy denies", program)
	}
}

func (d *doctor) denies(ctx context.Context, program string) (bool, error) {
	place, err := d.canaryHome()
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(place)
	input, err := canaryCall(d.about.Hook(), place)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, d.about.Hook())
	cmd.Stdin, cmd.Dir = strings.NewReader(string(input)), place
	cmd.Env = append(d.environWithout("SAYSO_"), "SAYSO_HOME="+filepath.Join(place, "home"))
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exited *exec.ExitError
	if err != nil && !(errors.As(err, &exited) && exited.ExitCode() == 2) {
		return false, err
	}
	if strings.Contains(string(out), "Denied by policy") {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("it denies every call, and says: %s", firstLineOf(string(exited.Stderr)))
	}
	return false, nil
}

// canaryCall is what a hook is told of a call of the canary in a shell.
func canaryCall(host, cwd string) ([]byte, error) {
	input := map[string]any{"command": canary}
	call := map[string]any{
		"session_id": canary, "transcript_path": filepath.Join(cwd, "none"), "cwd": cwd, "permission_mode": "default",
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": canary, "tool_input": input,
	}
	switch host {
	case "gemini":
		call["hook_event_name"], call["tool_name"] = "BeforeTool", "run_shell_command"
	case "copilot":
		call = map[string]any{"sessionId": canary, "cwd": cwd, "toolName": "bash", "toolArgs": input}
	case "cursor":
		call["hook_event_name"], call["tool_name"], call["conversation_id"] = "preToolUse", "Shell", canary
	case "opencode":
		call = map[string]any{
			"event": "tool.execute.before", "tool": "bash", "callID": canary, "sessionID": canary, "rootID": canary, "directory": cwd,
			"args": input, "registered": true,
		}
	case "antigravity":
		call = map[string]any{
			"conversationId": canary, "workspacePaths": []string{cwd},
			"toolCall": map[string]any{"name": "run_command", "args": map[string]any{"CommandLine": canary}},
		}
	}
	return jcs.Marshal(call)
}

// canaryHome makes a temporary home whose policy denies the canary.
func (d *doctor) canaryHome() (string, error) {
	place, err := os.MkdirTemp("", "sayso-doctor-") // made with mode 0700
	if err != nil {
		return "", err
	}
	paths := home.Paths{Home: place, State: filepath.Join(place, "home"), Config: filepath.Join(place, "home"), Runtime: filepath.Join(place, "home")}
	if err := paths.Make(); err != nil {
		return place, err
	}
	return place, home.Write(paths.Policy(), []byte(canaryPolicy))
}

// canaryPolicy denies the canary and nothing else.
const canaryPolicy = "version: 1\nrules:\n  - name: canary of sayso doctor\n    deny: \"bash:*" + canary + "*\"\n"

// environWithout is our environment without the variables of a prefix.
func (d *doctor) environWithout(prefix string) []string {
	var kept []string
	for _, line := range d.environ {
		if !strings.HasPrefix(line, prefix) {
			kept = append(kept, line)
		}
	}
	return kept
}
