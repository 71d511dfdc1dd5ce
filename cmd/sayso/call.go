package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/present"
	"github.com/sayso-dev/sayso/redact"
)

func (a *app) callCommand() *cobra.Command {
	digest := &cobra.Command{
		Use: "digest < calls.jsonl", Short: "prints the digest of each call", Args: cobra.NoArgs,
		Long: "Reads a call a line and prints {\"digest\"} or {\"error\"} for each.\nExits with 0 if all lines could be read, else with 1.",
		RunE: func(c *cobra.Command, _ []string) error { return a.eachCall(c.Context(), a.digestOf, nil) },
	}
	var text bool
	preview := &cobra.Command{
		Use: "preview [--text] < calls.jsonl", Short: "prints what people would be shown of each call", Args: cobra.NoArgs,
		Long: "Reads a call a line and prints {\"preview\", \"redactions\", \"warnings\"} for each, or\nwith --text what a terminal shows of the arguments; what else a request has, as\na diff, is made when it is asked. Exits with 0 if all lines could be read, else\nwith 1.",
		RunE: func(c *cobra.Command, _ []string) error {
			if text {
				return a.drawCalls(c.Context())
			}
			return a.eachCall(c.Context(), a.previewOf, nil)
		},
	}
	preview.Flags().BoolVar(&text, "text", false, "as a terminal shows it")
	c := &cobra.Command{Use: "call", GroupID: "gate", Short: "pure functions on calls"}
	return a.parent(c, digest, preview)
}

// eachCall runs do for each call of the input, and prints what cannot be read
// as {"error"} unless fail does so.
func (a *app) eachCall(ctx context.Context, do func(sayso.Call) error, fail func(error) error) error {
	var bad bool
	err := a.eachLine(ctx, func(line []byte) error {
		call, err := sayso.ParseCall(line)
		if err == nil {
			_, err = call.Digest() // arguments that two readers could read differently
		}
		if err == nil {
			return do(call)
		}
		bad = true
		if fail != nil {
			return fail(err)
		}
		return a.printLine(map[string]string{"error": err.Error()})
	})
	if err == nil && bad {
		return no{}
	}
	return err
}

func (a *app) digestOf(c sayso.Call) error {
	d, err := c.Digest()
	if err != nil {
		return err
	}
	return a.printLine(map[string]sayso.Digest{"digest": d})
}

// callPreview is what people are shown of a call.
type callPreview struct {
	Preview    sayso.Args        `json:"preview"`
	Redactions []sayso.Redaction `json:"redactions"`
	Warnings   []sayso.Warning   `json:"warnings"`

	full  []byte
	texts map[string]string
}

// previewed hides, cuts and makes safe what people are shown of a call.
func previewed(c sayso.Call) (callPreview, error) {
	texts := map[string]string{"description": c.Description, "cwd": c.Cwd, "caller": c.Caller}
	for name, said := range c.Said {
		texts["said/"+name] = said
	}
	r := redact.New(nil)
	hidden, err := r.Call(c.Args, texts)
	if err != nil {
		return callPreview{}, err
	}
	full, seen, err := present.SafeJSON(hidden.Full) // all of it, so that what a preview leaves out is warned of too
	if err != nil {
		return callPreview{}, err
	}
	shown, warnings := r.Preview(full)
	warnings = append(warnings, seen...)
	for _, name := range sortedKeys(hidden.Texts) {
		_, found := present.Inspect(hidden.Texts[name])
		warnings = noted(warnings, name, found)
	}
	for _, n := range [...]struct{ path, name string }{{"tool", c.Tool}, {"server", c.Server}, {"host", c.Host}, {"session", c.Session}} {
		_, found := present.InspectName(n.name)
		warnings = noted(warnings, n.path, found)
	}
	for _, name := range sortedKeys(c.Said) {
		_, found := present.InspectName(name)
		warnings = noted(warnings, "said", found)
	}
	redactions := append([]sayso.Redaction{}, hidden.Redactions...)
	return callPreview{shown, redactions, append([]sayso.Warning{}, warnings...), hidden.Full, hidden.Texts}, nil
}

// noted adds what was found in a text.
func noted(warnings []sayso.Warning, path string, found []sayso.Warning) []sayso.Warning {
	for _, w := range found {
		w.Path = path
		warnings = append(warnings, w)
	}
	return warnings
}

func (a *app) previewOf(c sayso.Call) error {
	p, err := previewed(c)
	if err != nil {
		return errors.Join(a.printLine(map[string]string{"error": err.Error()}), no{})
	}
	return a.printLine(p)
}

// drawCalls draws each call of the input, as risky as it is without any policy
// file and on no machine in particular.
func (a *app) drawCalls(ctx context.Context) error {
	builtins, err := policy.New(policy.Options{})
	if err != nil {
		return err
	}
	return a.eachCall(ctx, func(c sayso.Call) error { return a.drawCall(c, builtins.Judge(ctx, c, sayso.Facts{})) }, a.drawError)
}

func (a *app) drawCall(c sayso.Call, v sayso.Verdict) error {
	p, err := previewed(c)
	if err != nil {
		return errors.Join(a.drawError(err), no{})
	}
	tool, server := c.CanonicalName()
	view := present.View{
		Tool: tool, Server: server, From: p.texts["caller"], Host: c.Host, Session: c.Session, Cwd: p.texts["cwd"],
		Risk: present.Risk(v.Risk, nil), Danger: present.Dangers(v.Danger), Description: p.texts["description"], Said: map[string]string{},
		Preview: p.full, Warnings: words.OfWhole(p.Warnings), Redactions: p.Redactions,
	}
	if v.Risk == sayso.RiskDestructive && len(v.Danger) > 0 {
		view.Risk = "" // the danger says it
	}
	for name := range c.Said {
		view.Said[name] = p.texts["said/"+name]
	}
	if isTerminal(a.out) {
		fmt.Fprintln(a.out, present.Colored(view, width(a.out))) // which are safe as they come
		return nil
	}
	fmt.Fprintln(a.out, present.Terminal(view, 0))
	return nil
}

func (a *app) drawError(err error) error {
	a.print("%s\n", printable("not a call: "+err.Error()))
	return nil
}
