package install

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// Run is what was seen of one release of a host, whose real program was driven
// with the hook as init installs it.
type Run struct {
	Host    string   `json:"host"`
	Version string   `json:"version"`
	Date    string   `json:"date"`
	Open    []string `json:"open"` // when a call runs that must not
}

// runsFile is made of the records of the runs, and a test keeps it so.
//
//go:embed runs.json
var runsFile []byte

// Runs are those of the releases of a host, the oldest first; none if nobody ran
// it.
func (h Host) Runs() []Run {
	var all []Run
	if err := jcs.Unmarshal(runsFile, &all); err != nil {
		panic(fmt.Sprintf("the runs of hosts: %v", err)) // it is a part of the program
	}
	return slices.DeleteFunc(all, func(r Run) bool { return r.Host != h.Name })
}

// Ran is the run of one release, which says its version.
func (h Host) Ran(version string) (Run, bool) {
	all := h.Runs()
	i := slices.IndexFunc(all, func(r Run) bool { return r.Version == version })
	if i < 0 {
		return Run{}, false
	}
	return all[i], true
}

// Known are the releases that were run, for people.
func (h Host) Known() string {
	var versions []string
	for _, r := range h.Runs() {
		versions = append(versions, r.Version+" ("+r.Date+")")
	}
	return strings.Join(versions, ", ")
}
