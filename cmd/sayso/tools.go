package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/present"
)

func (a *app) toolsCommand() *cobra.Command {
	list := func(c *cobra.Command, _ []string) error { return a.tools(c.Context()) }
	c := &cobra.Command{
		Use: "tools", GroupID: "force", Short: "the tools of MCP servers: which are trusted, and accepting changes", RunE: list,
		Long: `Lists what is known of the MCP servers that run behind sayso mcp, and of their
tools. What a server says of a tool is trusted when it says it first. When it says
something else later the tool is in quarantine, and does not run until a person
has seen the difference and accepted it, or kept what was there before.`,
	}
	var yes string
	accept := &cobra.Command{
		Use: "accept SERVER [TOOL]", Short: "shows what changed, and accepts it", Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			tool, named := "", len(args) == 2
			if named {
				tool = args[1]
			}
			return a.settleTools(c.Context(), args[0], tool, named, c.Name() == "keep", yes)
		},
	}
	accept.Flags().StringVar(&yes, "yes", "", "do not ask; the digest of what is accepted, as it is shown")
	keep := &cobra.Command{
		Use: "keep SERVER [TOOL]", Short: "shows what changed, and goes on trusting what was there before", Args: accept.Args, RunE: accept.RunE,
		Long: `Shows what changed, and goes on trusting what was there before: for a server that is
as it was again, or was another one for once. What comes with the change once more
waits again.`,
	}
	keep.Flags().StringVar(&yes, "yes", "", "do not ask; the digest of the change, as it is shown")
	return a.parent(c, &cobra.Command{Use: "list", Short: "lists what is known", Args: cobra.NoArgs, RunE: list}, accept, keep)
}

// knownTool is a line of the list.
type knownTool struct {
	Server      string       `json:"server"`
	Tool        string       `json:"tool"` // empty for the server itself
	State       string       `json:"state"`
	LooksLike   string       `json:"looks_like,omitempty"` // the tool known before it that people could take it for
	Digest      sayso.Digest `json:"digest"`
	Quarantined sayso.Digest `json:"quarantined"`
	By          string       `json:"by"`
}

func (a *app) tools(ctx context.Context) error {
	return a.withEngine(ctx, func(e *local.Engine) error {
		pins, err := e.Pins(ctx)
		if err != nil {
			return err
		}
		list := []knownTool{}
		for _, server := range pins.Servers() {
			if pins.Met(server).Full {
				a.note("%s presented more than is kept of one server: what came then is not trusted, and does not run", safe(server))
			}
			known, alike := pins.Of(server), pins.Alike(server)
			for _, tool := range slices.Sorted(maps.Keys(known)) {
				pin := known[tool]
				k := knownTool{server, tool, "trusted", alike[tool], pin.Trusted, pin.Quarantined, pin.By.Principal}
				if k.LooksLike != "" {
					k.State = "left-out"
				}
				if !pin.Quarantined.IsZero() {
					k.State = "changed"
				}
				list = append(list, k)
			}
		}
		if a.json {
			return a.printJSON(list)
		}
		return a.listTools(list)
	})
}

func (a *app) listTools(list []knownTool) error {
	if len(list) == 0 {
		a.note("no MCP server has run behind sayso mcp yet")
		return nil
	}
	rows := [][]string{{"SERVER", "TOOL", "STATE", "DIGEST", "TRUSTED BY"}}
	changed := ""
	for _, k := range list {
		if k.State == "changed" {
			changed = k.Server
		}
		rows = append(rows, []string{safe(k.Server), safe(toolName(k.Tool)), k.stands(), shortDigest(k.Digest), safe(k.By)})
	}
	if err := a.fitted(2, rows); err != nil {
		return err
	}
	if changed != "" {
		a.note("changed ones do not run; to see the difference: sayso tools accept %[1]s; if it is as it was before again: sayso tools keep %[1]s", changed)
	}
	return nil
}

// stands is the state in words, safe for the eye.
func (k knownTool) stands() string {
	switch {
	case k.LooksLike == "":
		return k.State
	case k.State == "changed":
		return "changed; looks like " + safe(k.LooksLike)
	}
	return "left out: looks like " + safe(k.LooksLike)
}

func toolName(tool string) string {
	if tool == "" {
		return "(the server itself)"
	}
	return tool
}

// settleTools shows each definition in quarantine of a server, or of one of its
// tools, and accepts those that the person agrees to, or keeps what was there before.
func (a *app) settleTools(ctx context.Context, server, tool string, named, keep bool, yes string) error {
	if err := a.noAgent("accepting or keeping the definition of a tool"); err != nil {
		return err
	}
	verb, said, settle := "accept", "accepted", (*local.Engine).AcceptDefinition
	if keep {
		verb, said, settle = "keep", "kept as before", (*local.Engine).KeepDefinition
	}
	return a.withEngine(ctx, func(e *local.Engine) error {
		pins, err := e.Pins(ctx)
		if err != nil {
			return err
		}
		known, met := pins.Of(server), 0
		if known == nil {
			return hint(fmt.Errorf("no server %s has run behind sayso mcp", asTyped(server)), "sayso tools")
		}
		if _, is := known[tool]; named && !is {
			return noTool(server, tool, known)
		}
		for _, name := range slices.Sorted(maps.Keys(known)) {
			pin := known[name]
			if pin.Quarantined.IsZero() || named && name != tool {
				continue
			}
			met++
			a.showDefinition(server, name, pin)
			if err := a.agreeToTool(ctx, verb, server, name, pin.Quarantined, yes); err != nil {
				return err
			}
			if err := settle(e, ctx, a.person(), server, name, pin.Quarantined); err != nil {
				return err
			}
			now := pin.Quarantined
			if keep {
				now = pin.Trusted
			}
			a.print("%s: %s of %s (%s)", said, safe(toolName(name)), safe(server), shortDigest(now))
		}
		if met == 0 {
			a.note("nothing of %s has changed", safe(server))
		}
		return nil
	})
}

// noTool says that a server has no such tool, and which of its have changed.
func noTool(server, tool string, known map[string]sayso.Pin) error {
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !known[name].Quarantined.IsZero() {
			changed = append(changed, safe(toolName(name)))
		}
	}
	what := "nothing of it has changed"
	if len(changed) > 0 {
		what = "changed have " + strings.Join(changed, ", ")
	}
	return hint(fmt.Errorf("%w: %s has no tool %s; %s", sayso.ErrNotFound, safe(server), asTyped(tool), what), "sayso tools")
}

// showDefinition shows the difference, made safe for the eye.
func (a *app) showDefinition(server, name string, pin sayso.Pin) {
	a.print("%s of %s changed (%s)", safe(toolName(name)), safe(server), shortDigest(pin.Quarantined))
	shown, kinds := present.Redefined(pin)
	fmt.Fprintln(a.out, strings.TrimRight(shown.Content, "\n"))
	for _, kind := range kinds {
		a.note("warning: the definition holds characters that deceive: %s", kind)
	}
}

// agreeToTool asks the person, or takes the digest that they gave.
func (a *app) agreeToTool(ctx context.Context, verb, server, name string, d sayso.Digest, yes string) error {
	question := "accept exactly this?"
	if verb == "keep" {
		question = "keep what was there before?"
	}
	err := a.agreeTo(ctx, question, d, yes)
	if errors.Is(err, errNoTerminal) {
		what := []string{"sayso tools " + verb, safe(server), safe(name), "--yes", shortDigest(d)}
		return hint(errNoTerminal, "%s", strings.Join(slices.DeleteFunc(what, func(s string) bool { return s == "" }), " "))
	}
	return err
}
