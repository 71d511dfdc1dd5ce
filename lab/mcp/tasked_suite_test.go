//go:build unix

package mcp

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// taskScenarios are those of the conformance suite about tasks, with how many checks
// end well: all that say something.
var taskScenarios = map[string]int{
	"tasks-capability-negotiation": 5, "tasks-dispatch-and-envelope": 9, "tasks-lifecycle": 9, "tasks-mrtr-composition": 2, "tasks-mrtr-input": 4,
	"tasks-request-headers": 5, "tasks-request-state-removal": 3, "tasks-required-task-error": 3, "tasks-status-notifications": 0, "tasks-wire-fields": 4,
}

// taskWays are the ways on which they are looked at, without the gate and through it.
var taskWays = []string{"direct", "HTTP", "program", "HTTP, asked", "program, asked"}

// taskResults are how the scenarios ended, by the ways.
type taskResults struct {
	mu    sync.Mutex // guards cells
	cells map[string]map[string]string
}

// ends runs a scenario on a way until all checks end well, or the tries are over.
func (r *taskResults) ends(t *testing.T, scenario, way, at string) {
	t.Helper()
	want, got := fmt.Sprintf("%d/%d", taskScenarios[scenario], taskScenarios[scenario]), checks(nil)
	for range tries {
		if got = conform(t, "2026-07-28", at, scenario)[scenario]; got.passed() == want {
			break
		}
		t.Logf("%s: %s of the checks end well, not %s: %v", way, got.passed(), want, got)
	}
	if got.passed() != want {
		t.Errorf("%s: not all checks end well", way)
	}
	cell := got.passed()
	if cell == "0/0" {
		cell = "skipped"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cells[scenario] == nil {
		r.cells[scenario] = map[string]string{}
	}
	r.cells[scenario][way] = cell
}

// A server's own tasks are through the gate what they are without it, as the official
// conformance suite finds: in front of a server that speaks HTTP and of a program, where
// policy allows, and where people are asked and say yes. Each way of the gate is gone by
// every other scenario; with -update each is by all, and the suite is run without the
// gate, too.
func TestConformance_tasks(t *testing.T) {
	conformance.Path(t)
	s := httptest.NewServer(newTasked())
	t.Cleanup(s.Close)
	servers := fmt.Sprintf("version: 1\nservers:\n  http: {url: %q}\n  program: {command: %q, env: {LAB_TASKED: \"1\"}}\n", s.URL, os.Args[0])
	allowed := listening(t, "version: 1\nrules:\n  - allow: {server: [http, program]}\n", servers, 2)
	asked := listening(t, "version: 1\n", servers, 2)
	answered := approving(t, asked)
	at := map[string]string{
		"direct": s.URL, "HTTP": withToken(t, allowed.at["http"], allowed.token), "program": withToken(t, allowed.at["program"], allowed.token),
		"HTTP, asked": withToken(t, asked.at["http"], asked.token), "program, asked": withToken(t, asked.at["program"], asked.token),
	}
	for _, way := range taskWays[1:] { // people are asked about tools that were never listed
		lists(t, at[way])
	}
	r := &taskResults{cells: map[string]map[string]string{}}
	t.Run("scenarios", func(t *testing.T) {
		for i, scenario := range slices.Sorted(maps.Keys(taskScenarios)) {
			t.Run(scenario, func(t *testing.T) {
				t.Parallel() // most of the time they wait
				ways := []string{taskWays[1+i%2], taskWays[4-i%2]}
				if *update {
					ways = taskWays
				}
				for _, way := range ways {
					r.ends(t, scenario, way, at[way])
				}
			})
		}
	})
	if n := answered(); n < 10 {
		t.Errorf("people were asked %d times: the suite did not go through the gate", n)
	}
	r.compare(t)
}

// compare compares the results with those that are committed, or writes them.
func (r *taskResults) compare(t *testing.T) {
	t.Helper()
	if *update {
		before, _, _ := strings.Cut(committedResults(t), tasksKey)
		writeResults(t, before+tasksKey+r.table())
		return
	}
	committed := map[string][]string{}
	for line := range strings.Lines(committedTasks(t)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `tasks-") {
			committed[strings.Trim(cells[0], "| `")] = cells[1:]
		}
	}
	for scenario, ways := range r.cells {
		for way, cell := range ways {
			if i := slices.Index(taskWays, way); len(committed[scenario]) != len(taskWays) || strings.Trim(committed[scenario][i], " |\n") != cell {
				t.Errorf("%s: %s has %s, which is not what %s has; if it is right, run this with -update", way, scenario, cell, resultsFile)
			}
		}
	}
}

// table is what is written.
func (r *taskResults) table() string {
	var page strings.Builder
	fmt.Fprintf(&page, "\nRun on %s.\n\n| scenario | %s |\n|---|%s\n", time.Now().UTC().Format(time.DateOnly), strings.Join(taskWays, " | "), strings.Repeat("---|", len(taskWays)))
	for _, scenario := range slices.Sorted(maps.Keys(r.cells)) {
		fmt.Fprintf(&page, "| `%s` |", scenario)
		for _, way := range taskWays {
			fmt.Fprintf(&page, " %s |", r.cells[scenario][way])
		}
		page.WriteString("\n")
	}
	return page.String()
}

// committedResults is the page as it is.
func committedResults(t *testing.T) string {
	t.Helper()
	return text(t, resultsFile)
}

// committedTasks is what it has of tasks.
func committedTasks(t *testing.T) string {
	t.Helper()
	_, tasks, there := strings.Cut(committedResults(t), tasksKey)
	if !there {
		return ""
	}
	return tasksKey + tasks
}

func writeResults(t *testing.T, page string) {
	t.Helper()
	if err := os.WriteFile(resultsFile, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

const tasksKey = `
## Tasks, an extension of 2026-07-28

In front of a server of our own (` + "`lab/mcp`" + `), since no official library has them yet. The suite itself skips ` + "`tasks-status-notifications`" + `: it says that it is to be
written anew for the stream on which servers tell of tasks. Where people are asked, the one who says yes does so within the second that a call waits before
its client has a task of the gate's.
`
