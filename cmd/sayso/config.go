package main

import "github.com/spf13/cobra"

func (a *app) configCommand() *cobra.Command {
	return &cobra.Command{
		Use: "config", GroupID: "wire", Short: "shows every setting and its source", Args: cobra.NoArgs,
		Long: "Shows every setting, its value and where that came from.\nA flag counts before the environment, the environment before the default.",
		RunE: func(*cobra.Command, []string) error { return a.config() },
	}
}

func (a *app) config() error {
	if a.json {
		return a.printJSON(a.settings.All())
	}
	rows := [][]string{{"SETTING", "VALUE", "SOURCE", "VARIABLE", "MEANING"}}
	for _, s := range a.settings.All() {
		rows = append(rows, []string{s.Name, dash(s.Value), s.Source, s.Env, s.Meaning})
	}
	return table(a.out, rows)
}
