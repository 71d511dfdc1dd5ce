//go:build unix

package hosts_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/lab/hosts"
)

// switched is what a file of a project did to the gate, and what sayso status
// says of it.
type switched struct {
	File    string `json:"file"`
	Text    string `json:"text"`
	Trusted string `json:"trusted"` // what became of a denied call in a folder that the host trusts
	Strange string `json:"strange"` // and in one that it was not told to trust
	Status  string `json:"status"`
}

// TestSwitches has each host make a call that a rule denies, in a folder whose
// settings are said to switch hooks off, and compares what became of it with the
// record. Where the call runs, sayso status must not call the folder protected.
// With -update the record is written.
func TestSwitches(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h hosts.Host) {
		t.Parallel()
		got := make([]switched, len(h.Switches))
		t.Run("files", func(t *testing.T) {
			for i, s := range h.Switches {
				got[i] = switched{File: s.File, Text: s.Text}
				for name, saw := range map[string]*string{"trusted": &got[i].Trusted, "strange": &got[i].Strange} {
					t.Run(fmt.Sprintf("%d %s", i, name), func(t *testing.T) {
						t.Parallel()
						call, status := thrown(t, h, s, name == "trusted")
						if *saw = call; name == "trusted" {
							got[i].Status = status
						}
					})
				}
			}
		})
		if *update {
			amend(t, h, func(r *record) { r.Switches = got })
		}
		if diff := cmp.Diff(readRecord(t, recordFile(h)).Switches, got); diff != "" {
			t.Errorf("the host does otherwise than in the record (-record +seen):\n%s", diff)
		}
	})
}

// thrown runs a host in a folder with such a file.
func thrown(t *testing.T, h hosts.Host, s hosts.Switch, trusted bool) (call, status string) {
	t.Helper()
	g := bare(t, h)
	if out, err := exec.Command("git", "init", "-q", g.Dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	if trusted {
		if err := h.Trust(g.Home, g.Dir); err != nil {
			t.Fatal(err)
		}
	}
	g.wire(denyMarker)
	if status := firstWords(g.Sayso("status").Stdout); status != "protected" {
		t.Errorf("before, sayso status says %q", status)
	}
	g.Write(filepath.Join(g.Dir, s.File), s.Text)
	results := alone(g)
	call, status = blocked, firstWords(g.Sayso("status").Stdout)
	if g.Exists("marker") {
		call = runs
	} else {
		g.heard(results, "Denied by policy")
	}
	if call == runs && status != "not protected" {
		t.Errorf("the call ran, and sayso status says %q", status)
	}
	return call, status
}

// firstWords are what sayso status begins with.
func firstWords(status string) string {
	words, _, _ := strings.Cut(status, ":")
	return words
}
