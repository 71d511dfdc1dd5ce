package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *app) openCommand() *cobra.Command {
	return &cobra.Command{
		Use: "open", GroupID: "answer", Short: "opens the page in a browser", Args: cobra.NoArgs, Hidden: true, // until there is a page
		RunE: func(*cobra.Command, []string) error {
			return hint(errors.New("this build has no page"), "sayso watch, in a terminal")
		},
	}
}
