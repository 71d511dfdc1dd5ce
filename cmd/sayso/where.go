package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/internal/home"
)

// place is one line of `sayso where`.
type place struct {
	What   string `json:"what"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

func (a *app) whereCommand() *cobra.Command {
	return &cobra.Command{
		Use: "where", GroupID: "wire", Short: "says where everything is", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.where() },
	}
}

func (a *app) places() []place {
	p := a.paths
	list := []place{
		{What: "database", Path: p.Database()}, {What: "policy", Path: p.Policy()}, {What: "org-policy", Path: home.OrgPolicy},
		{What: "socket", Path: p.Socket()}, {What: "tokens", Path: p.TokenList()}, {What: "off", Path: p.OffFile()},
		{What: "lock", Path: p.LockFile()}, {What: "state", Path: p.State}, {What: "configuration", Path: p.Config},
	}
	for i := range list {
		_, err := os.Lstat(list[i].Path)
		list[i].Exists = err == nil
	}
	return list
}

func (a *app) where() error {
	list := a.places()
	if a.json {
		return a.printJSON(list)
	}
	var rows [][]string
	for _, p := range list {
		there := ""
		if !p.Exists {
			there = "(not there)"
		}
		rows = append(rows, []string{p.What, p.Path, there})
	}
	return table(a.out, rows)
}
