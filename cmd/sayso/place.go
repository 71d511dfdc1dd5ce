package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sayso-dev/sayso/internal/home"
)

// placeFlags let a command that others start be told where the gate is: clients
// pass on little of the environment, and what is in it a project may have set.
func placeFlags(flags *pflag.FlagSet) {
	flags.String("state-dir", "", "where the log is, whatever the environment says; sayso init mcp writes all three")
	flags.String("config-dir", "", "where the policy is")
	flags.String("runtime-dir", "", "where the socket of a server is")
}

// placeArgs are those flags for this gate, as sayso init mcp writes them.
func (a *app) placeArgs() []string {
	args := []string{"--state-dir", a.paths.State, "--config-dir", a.paths.Config, "--runtime-dir", a.paths.Runtime}
	if a.settings.Server != "" {
		args = append(args, "--server", a.settings.Server)
	}
	if a.settings.TokenFile != "" {
		args = append(args, "--token-file", a.settings.TokenFile)
	}
	return args
}

// pinnedPlace is where the flags say that the gate is, and the environment without
// what would move it; nil without these flags.
func pinnedPlace(flags *pflag.FlagSet, environ []string) (*home.Paths, []string, error) {
	var dirs []string
	for _, name := range []string{"state-dir", "config-dir", "runtime-dir"} {
		if f := flags.Lookup(name); f != nil && f.Changed {
			dirs = append(dirs, f.Value.String())
		}
	}
	if len(dirs) == 0 {
		return nil, environ, nil
	}
	if len(dirs) != 3 || slices.ContainsFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) }) {
		return nil, nil, errors.New("--state-dir, --config-dir and --runtime-dir are three absolute folders")
	}
	kept := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "SAYSO_HOME" || name == "SAYSO_SERVER" || name == "SAYSO_TOKEN_FILE"
	})
	return &home.Paths{State: dirs[0], Config: dirs[1], Runtime: dirs[2]}, kept, nil
}
