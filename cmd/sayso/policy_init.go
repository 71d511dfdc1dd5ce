package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/policy"
)

func (a *app) policyInitCommand() *cobra.Command {
	var show bool
	names := policy.Presets()
	c := &cobra.Command{
		Use: "init " + strings.Join(names, "|"), Short: "writes a policy to begin with", ValidArgs: names, Args: cobra.ExactArgs(1),
		Long: `Writes one of the ready-made policies (` + strings.Join(names, ", ") + `) to your policy
file, unless there is one. With --print it writes nothing and prints it.`,
		RunE: func(_ *cobra.Command, args []string) error { return a.policyInit(args[0], show) },
	}
	c.Flags().BoolVar(&show, "print", false, "print it instead")
	return c
}

func (a *app) policyInit(name string, show bool) error {
	text, ok := policy.Preset(name)
	if !ok {
		return usage(fmt.Errorf("there is no policy called %s", quote(name)), "sayso policy init "+strings.Join(policy.Presets(), "|"))
	}
	if show {
		_, err := a.out.Write(text)
		return err
	}
	if err := a.noAgent("writing the policy"); err != nil {
		return err
	}
	file := a.paths.Policy()
	if _, err := os.Lstat(file); err == nil {
		return hint(fmt.Errorf("there is a policy already: %s", file), "sayso policy init %s --print", name)
	}
	if err := a.paths.Make(); err != nil {
		return err
	}
	if err := home.Write(file, text); err != nil {
		return err
	}
	a.say("", "wrote "+file+": it is in force from the next call on")
	a.note("say what it should say of your own programs; `sayso policy check` looks for mistakes")
	return nil
}

func (a *app) policySchemaCommand() *cobra.Command {
	var tests bool
	c := &cobra.Command{
		Use: "schema [--tests]", Short: "prints the JSON Schema of policy files, for editors", Args: cobra.NoArgs,
		Long: `Prints the JSON Schema of policy files, or of files of tests. Editors that know the YAML language server
show its texts where the first line of the file names it:

    # yaml-language-server: $schema=FILE`,
		RunE: func(*cobra.Command, []string) error {
			schema := policy.Schema
			if tests {
				schema = policy.TestsSchema
			}
			text, err := schema()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s\n", text)
			return err
		},
	}
	c.Flags().BoolVar(&tests, "tests", false, "of files of tests")
	return c
}
