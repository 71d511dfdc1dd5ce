package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/policy"
)

// explainOptions are the flags of policy explain.
type explainOptions struct {
	checkOptions
	command string
}

func (a *app) policyExplainCommand() *cobra.Command {
	var o explainOptions
	c := &cobra.Command{
		Use: "explain [ID|CALL] [--command TEXT] [--policy FILE] [--workspace DIR] < calls.jsonl", Short: "says why a call comes out as it does, and what to write to change that",
		Args: cobra.MaximumNArgs(1),
		Long: `Says of a call what it comes out as, by which rule, in which file and line, which
words decided, what each command of a line comes to, which rule almost matched,
and what to write for it to come out otherwise. What is to be written was tried.
The call is a command (--command), a request of the log (ID), a call as JSON, or
read from standard input, one a line. Nothing is recorded; modes and remembered answers
play no part. With --policy only the built-ins that are final are added to that
file.`,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("command") && strings.TrimSpace(o.command) == "" {
				return usage(errNoCall, "sayso policy explain --command 'git push'")
			}
			return a.policyExplain(c.Context(), strings.Join(args, ""), o)
		},
	}
	c.Flags().StringVar(&o.command, "command", "", "a line of bash instead of a call")
	c.Flags().StringVar(&o.file, "policy", "", "a policy file instead of those in force")
	c.Flags().StringVar(&o.workspace, "workspace", "", "the folder of the project; without, it is found from each call's directory")
	c.Flags().StringVar(&o.session, "session", "", "the session of calls that name none")
	return c
}

func (a *app) policyExplain(ctx context.Context, id string, o explainOptions) error {
	var err error
	if id != "" && o.command != "" {
		return usage(errors.New("it is either a request or a command"), "sayso policy explain --help")
	}
	if strings.HasPrefix(strings.TrimSpace(id), "{") { // a call, typed in place of an id
		there := *a
		there.in = strings.NewReader(id)
		return there.policyExplain(ctx, "", o)
	}
	if strings.ContainsAny(id, " \t\n") {
		command := strings.TrimPrefix(id, "bash:") // as a pattern of the policy has it
		return usage(fmt.Errorf("request %s: %w", asTyped(id), sayso.ErrNotFound), "for a command: sayso policy explain --command "+home.Quoted(withoutSecrets(command)))
	}
	if o.workspace, err = a.workspaceFolder(o.workspace, "sayso policy explain --help"); err != nil {
		return err
	}
	if a.settings.Server != "" && o.file == "" { // its policy is the one in force
		return a.withClient(ctx, func(c *client.Client) error { return a.explainThere(ctx, c, id, o) })
	}
	p, err := a.loadedPolicy(o.checkOptions)
	if err != nil {
		return err
	}
	a.noteFinalOnly(o.file)
	if id != "" {
		return a.explainRequest(ctx, p, id)
	}
	return a.explainCalls(ctx, o, func(c sayso.Call) error {
		return a.printExplanation(p.Explain(c, facts.Gather(ctx, c, a.machine(o.workspace, p.Roots()))))
	})
}

// explainThere has a server elsewhere explain.
func (a *app) explainThere(ctx context.Context, c *client.Client, id string, o explainOptions) error {
	show := func(out client.Explanation, err error) error {
		var x policy.Explanation
		if err == nil {
			err = wire.Convert(out, &x)
		}
		if err != nil {
			return err
		}
		return a.printExplanation(x)
	}
	if id != "" {
		return show(c.ExplainRequest(ctx, typedID(id)))
	}
	return a.explainCalls(ctx, o, func(call sayso.Call) error {
		return show(c.ExplainCall(ctx, call, facts.Gather(ctx, call, a.machine(o.workspace, nil))))
	})
}

// explainCalls explains the command, or each call of the input.
func (a *app) explainCalls(ctx context.Context, o explainOptions, explain func(sayso.Call) error) error {
	one := func(c sayso.Call) error {
		if c.Session == "" {
			c.Session = o.session
		}
		c.Cwd = runsIn(c, o.workspace)
		return explain(c)
	}
	if o.command != "" {
		args, err := jcs.Marshal(map[string]string{"command": o.command})
		if err != nil {
			return usage(fmt.Errorf("the command is no text: %w", err), "sayso policy explain --command 'git push'")
		}
		return one(sayso.Call{Tool: "bash", Args: args})
	}
	if _, tty := a.terminal(); tty {
		return usage(errNoCall, "sayso policy explain --command 'git push', or sayso policy explain ID")
	}
	return a.explainLines(ctx, one)
}

// explainLines explains each call of the input.
func (a *app) explainLines(ctx context.Context, explain func(sayso.Call) error) error {
	n := 0
	err := a.eachLine(ctx, func(line []byte) error {
		n++
		c, err := sayso.ParseCall(line)
		if err == nil {
			_, err = c.Digest()
		}
		if err != nil {
			return hint(fmt.Errorf("line %d: %w", n, err), callExample)
		}
		if n > 1 && !a.json {
			a.print("")
		}
		return explain(c)
	})
	if err == nil && n == 0 {
		return usage(errNoCall, callExample)
	}
	return err
}

// loadedPolicy is the policy in force, or that of one file, as it can be
// explained.
func (a *app) loadedPolicy(o checkOptions) (*policy.Policy, error) {
	loaded, err := a.policyFor(o)
	if err == nil {
		switch p := loaded.(type) {
		case *local.Rules:
			return p.Policy()
		case *policy.Policy:
			return p, nil
		}
	}
	return nil, mend(err)
}

// folder is the absolute name of a folder that somebody named, empty for none.
func folder(name, usageLine string) (string, error) {
	if name == "" {
		return "", nil
	}
	if st, err := os.Stat(name); err != nil || !st.IsDir() {
		return "", usage(fmt.Errorf("the workspace %s is no folder", name), usageLine)
	}
	return filepath.Abs(name)
}

// explainRequest explains a request of the log, with the facts that were
// gathered when it was made. What is hidden of it stays hidden.
func (a *app) explainRequest(ctx context.Context, p *policy.Policy, id string) error {
	return a.withEngine(ctx, func(e *local.Engine) error {
		r, err := find(ctx, e.Inbox(a.admin()), id)
		if err != nil {
			return err
		}
		x, err := e.ExplainRequest(&r, p)
		if errors.Is(err, sayso.ErrNotFound) {
			return hint(fmt.Errorf("what %s asked for was erased, so nothing can be said of it", r.ShortID), "sayso show %s", r.ShortID)
		}
		if err != nil {
			return err
		}
		return a.printExplanation(x)
	})
}

func (a *app) printExplanation(x policy.Explanation) error {
	if a.json {
		return a.printLine(x)
	}
	name := x.Tool
	if x.Text != "" {
		name += ": " + x.Text
	}
	a.print("%s", name)
	a.print("%s   %s", x.Effect, whose(x.Rule, x.File, x.Line))
	a.print("  because  %s", x.Reason)
	if x.Words != "" && x.Words != x.Text {
		a.print("  words    %s   (bytes %d to %d)", quote(x.Words), x.Span[0], x.Span[1])
	}
	a.print("  risk     %s%s", x.Risk, dangerous(x.Danger))
	if len(x.Kinds) > 1 {
		a.print("  judged   as a call of the kind %s, as its caller says, and of the kind %s, as the tool is; the stricter holds", x.Kinds[0], x.Kinds[1])
	}
	a.printSpoke(x)
	if x.Nearest != nil {
		a.print("  nearly   %s at %s:%d:%d: %s", x.Nearest.Effect.String()+": "+x.Nearest.Pattern, dash(x.Nearest.File), x.Nearest.Line, x.Nearest.Column, x.Nearest.Why)
	}
	for _, ch := range x.Changes {
		a.printChange(ch)
	}
	return nil
}

func (a *app) printSpoke(x policy.Explanation) {
	if len(x.Spoke) > 1 {
		a.print("  spoke")
		for _, s := range x.Spoke {
			a.print("    %-5s  %s", s.Effect.String(), whose(s.Rule, s.File, s.Line))
		}
	}
	if len(x.Commands) > 1 {
		a.print("  commands")
		for _, c := range x.Commands {
			text := c.Effect.String()
			if c.NamedOnly {
				text = "named"
			}
			a.print("    %-5s  %s   %s", text, c.Text, whose(c.Rule, c.File, c.Line))
		}
	}
}

// whose is a rule and where it stands.
func whose(rule, file string, line int) string {
	if file == "" {
		return rule + " (built in)"
	}
	return fmt.Sprintf("%s (%s:%d)", rule, file, line)
}

func dangerous(list []sayso.Danger) string {
	var words []string
	for _, d := range list {
		words = append(words, string(d))
	}
	if len(words) == 0 {
		return ""
	}
	return ", danger: " + strings.Join(words, ", ")
}

func (a *app) printChange(ch policy.Change) {
	if !ch.Possible {
		a.print("  to %s: %s", ch.Effect.String(), ch.Why)
		return
	}
	head := ch.Effect.String()
	if len(ch.Write) > 1 {
		head += ", all of these"
	}
	a.print("  to %s:", head)
	for _, e := range ch.Write {
		a.print("    %s", a.told(e))
	}
}

// told says what is to be written, and where.
func (a *app) told(e policy.Edit) string {
	file := e.File
	if file == "" && e.Tier == policy.TierUser {
		file = a.paths.Policy()
	}
	at := file + ":" + strconv.Itoa(e.Line)
	if e.Column > 0 {
		at += ":" + strconv.Itoa(e.Column)
	}
	switch {
	case e.Under == "when":
		return "in " + at + ", for the condition of the rule " + ruleCalled(e) + "write " + e.Text
	case e.Do == "remove":
		return "in " + at + ", under " + e.Under + ", " + removed(e)
	case e.Do == "insert":
		return "in " + at + ", under " + e.Under + ", before " + e.Old + ", write " + e.Text
	case e.Do == "replace":
		return "in " + at + ", for " + e.Old + ", write " + e.Text
	}
	return "in " + file + ", under " + e.Under + ", write " + e.Text
}

// removed says whether a rule goes, or one entry of its list.
func removed(e policy.Edit) string {
	switch {
	case e.Whole:
		return "remove the rule " + ruleCalled(e) + "with " + e.Old + "; then it stops nothing else that it matches"
	case e.Under == "rules":
		return "take " + e.Old + " out of the list"
	}
	return "remove " + e.Old
}

// ruleCalled is what the file calls a rule, in quotes and with a blank behind it.
func ruleCalled(e policy.Edit) string {
	if e.Rule == "" {
		return ""
	}
	return quote(e.Rule) + " "
}
