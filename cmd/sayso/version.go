package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/internal/version"
)

// versionOf is the version of this program: of the release, of the module, or
// of the commit.
func versionOf() string {
	if v := version.Version; v != "devel" {
		return v
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "dev-" + s.Value[:12]
		}
	}
	return "dev"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "prints the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(map[string]string{"version": versionOf(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			a.print("sayso %s %s %s/%s", versionOf(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
