// Package agenttest is what every host's adapter promises, as a test.
package agenttest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Adapter is a host's adapter, and what its answers look like.
type Adapter struct {
	Parse func(text []byte) (agent.Hook, error)
	Deny  func(reason string) agent.Answer
	// Sample is what the hook is told of a call that runs "git push" in a shell.
	// It stands on one line, without blanks between its members. If the host's models
	// write about their calls, then "Push" is what this one wrote.
	Sample string
	// Required are the members of Sample without which there is no call.
	Required []string
	Allowed  string // all of what an allow prints
	Edited   string // what an allow prints with "git push" changed to "git status"
	Denied   string // the beginning of what a denial prints, up to the words
	Exit     int    // the status of a denial
}

// Run tests an adapter.
func Run(t *testing.T, a Adapter) {
	Parses(t, a)
	t.Run("replies", a.replies)
}

// Parses tests how an adapter reads: all that is asked of one whose replies differ
// from event to event.
func Parses(t *testing.T, a Adapter) {
	t.Run("reads", a.reads)
	t.Run("refuses", a.refuses)
	if strings.Contains(a.Sample, `"Push"`) {
		t.Run("keeps the model's words apart", a.words)
	}
}

func (a Adapter) reads(t *testing.T) {
	told := a.told(t, a.Sample)
	if told.Moment != agent.Before || told.Session == "" || told.Call.Session != told.Session || told.OwnScreen {
		t.Errorf("read %+v", told)
	}
	if err := told.Call.Validate(); err != nil {
		t.Error(err)
	}
	if d, err := told.Call.Digest(); err != nil || d.IsZero() {
		t.Errorf("the call has no digest: %v", err)
	}
	if !strings.Contains(string(told.Call.Args), `"git push"`) {
		t.Errorf("the arguments are %s", told.Call.Args)
	}
	more := a.told(t, strings.Replace(a.Sample, "{", `{"a_member_of_next_year":{"x":[1]},`, 1))
	if diff := cmp.Diff(told, more); diff != "" {
		t.Errorf("a member that nobody knows changed what was read:\n%s", diff)
	}
}

// words checks that what the model writes about a call is not part of what is
// judged and digested.
func (a Adapter) words(t *testing.T) {
	one := a.told(t, a.Sample).Call
	two := a.told(t, strings.Replace(a.Sample, `"Push"`, `"List files"`, 1)).Call
	if !slices.Contains(slices.Collect(maps.Values(one.Said)), "Push") || strings.Contains(string(one.Args), "Push") {
		t.Errorf("said %v, arguments %s", one.Said, one.Args)
	}
	x, _ := one.Digest()
	y, _ := two.Digest()
	if x != y || x.IsZero() {
		t.Error("the model's words changed the digest")
	}
}

func (a Adapter) told(t *testing.T, text string) agent.Told {
	t.Helper()
	h, err := a.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return h.Told()
}

func (a Adapter) refuses(t *testing.T) {
	for name, text := range a.wrong(t) {
		if text == a.Sample {
			t.Errorf("%s: the sample does not lend itself to this", name)
		}
		if h, err := a.Parse([]byte(text)); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s: read %+v, %v", name, h, err)
		}
	}
}

// wrong are samples that no reader must take for a call.
func (a Adapter) wrong(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{
		"nothing":             ``,
		"no object":           `[` + a.Sample + `]`,
		"half":                a.Sample[:len(a.Sample)/2],
		"trailing data":       a.Sample + `{}`,
		"an argument twice":   strings.Replace(a.Sample, `"git push"`, `"ls","x":1,"x":2`, 1),
		"a lone surrogate":    strings.Replace(a.Sample, `git push`, `git \ud800`, 1),
		"a number like none":  strings.Replace(a.Sample, `"git push"`, `"git push","n":1e999`, 1),
		"no call whatsoever":  `{}`,
		"a byte that is none": strings.Replace(a.Sample, `git push`, "git \xff", 1),
	}
	var members map[string]sayso.Args
	if err := jcs.Unmarshal([]byte(a.Sample), &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range a.Required {
		value := string(members[name])
		whole := fmt.Sprintf("%q:%s", name, value)
		if value == "" || strings.Count(a.Sample, whole) != 1 {
			t.Fatalf("%s does not stand once in the sample", whole)
		}
		swap := func(by string) string { return strings.Replace(a.Sample, whole, by, 1) }
		all[name+" twice"] = swap(whole + "," + whole)
		all[name+" in another case"] = swap(fmt.Sprintf("%q:%s", strings.ToUpper(name), value))
		all[name+" beside one in another case"] = swap(whole + "," + fmt.Sprintf("%q:%s", strings.ToUpper(name), value))
		all[name+" of another type"] = swap(fmt.Sprintf("%q:[7]", name))
		all["no "+name] = swap(`"other":1`)
	}
	return all
}

func (a Adapter) replies(t *testing.T) {
	h, err := a.Parse([]byte(a.Sample))
	if err != nil {
		t.Fatal(err)
	}
	id := sayso.NewID(sayso.Moment{}.Wall, [16]byte{1})
	ana := []sayso.Actor{{Principal: "ana"}}
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Request: id, By: ana}
	edited := yes
	edited.Args = sayso.Args(strings.Replace(string(h.Told().Call.Args), "git push", "git status", 1))
	broken := yes
	broken.Args = sayso.Args(`{"half`)
	no := sayso.Decision{State: sayso.StateDenied, Request: id, Source: sayso.SourcePerson, By: ana, Note: "use make deploy"}
	for _, tt := range []struct {
		name  string
		d     sayso.Decision
		err   error
		words string // of a denial
	}{
		{"allow", yes, nil, ""},
		{"edit", edited, nil, ""},
		{"deny", no, nil, "Denied by ana (ticket " + id.Short() + "): use make deploy"},
		{"the zero decision", sayso.Decision{}, nil, "Denied"},
		{"an allow with an error", yes, sayso.ErrUnavailable, "Could not find out"},
		{"an allow in another state", sayso.Decision{Effect: sayso.Allow}, nil, "Denied"},
		{"pending", sayso.Decision{}, &sayso.PendingError{Ticket: id}, "Not decided yet, ticket"},
		{"expired", sayso.Decision{Request: id}, sayso.ErrExpired, "Expired"},
	} {
		got := h.Reply(tt.d, tt.err)
		if err := jcs.Check(got.Stdout); err != nil {
			t.Errorf("%s: prints %q: %v", tt.name, got.Stdout, err)
		}
		switch {
		case tt.words != "":
			a.denies(t, tt.name, got, tt.words)
		case got.Exit != 0 || got.Stderr != "":
			t.Errorf("%s: exit %d with %q on standard error", tt.name, got.Exit, got.Stderr)
		case len(tt.d.Args) == 0 && string(got.Stdout) != a.Allowed:
			t.Errorf("%s: prints %s, not %s", tt.name, got.Stdout, a.Allowed)
		case len(tt.d.Args) > 0 && a.Edited != "" && !strings.Contains(string(got.Stdout), a.Edited):
			t.Errorf("%s: prints %s without %s", tt.name, got.Stdout, a.Edited)
		}
	}
	a.denies(t, "an edit that is no object", h.Reply(broken, nil), "")
	a.denies(t, "a denial without a reason", a.Deny(""), "Could not find out")
	if long := a.Deny(strings.Repeat("é", 20000)); !strings.Contains(string(long.Stdout), "more characters]") {
		t.Errorf("a long reason is not cut: %d bytes", len(long.Stdout))
	}
}

// denies checks that an answer is a denial in each way that the host listens to.
func (a Adapter) denies(t *testing.T, name string, got agent.Answer, words string) {
	t.Helper()
	if got.Exit != a.Exit || !strings.HasPrefix(string(got.Stdout), a.Denied+words) {
		t.Errorf("%s: exit %d, prints %s; want exit %d and %s%s…", name, got.Exit, got.Stdout, a.Exit, a.Denied, words)
	}
	if a.Exit != 0 && !strings.HasPrefix(got.Stderr, words) {
		t.Errorf("%s: %q on standard error", name, got.Stderr)
	}
}

// Payloads reads every recorded payload in a folder, as far as it is of an event
// that the gate is installed for, and compares what was read with the files in
// testdata/read. With update these are written.
func (a Adapter) Payloads(t *testing.T, dir string, mine func(name string) bool, update bool) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no payloads in %s: %v", dir, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if !mine(name) {
			continue
		}
		t.Run(strings.TrimSuffix(name, ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			Golden(t, filepath.Join("testdata", "read", name), read(a.told(t, string(text))), update)
		})
	}
}

// read is what is kept of what a hook was told.
func read(told agent.Told) any {
	tool, server := "", ""
	if told.Call.Tool != "" {
		tool, server = told.Call.CanonicalName()
	}
	return struct {
		Moment       agent.Moment
		Session      string
		Workspace    string
		OwnScreen    bool
		Call         sayso.Call
		Tool, Server string
		Kind         sayso.Kind
	}{told.Moment, told.Session, told.Workspace, told.OwnScreen, told.Call, tool, server, told.Call.EffectiveKind()}
}

// Golden compares what was read with what was read before, in a file. With update
// the file is written.
func Golden(t *testing.T, file string, read any, update bool) {
	t.Helper()
	got, err := jcs.MarshalIndent(read)
	if err != nil {
		t.Fatal(err)
	}
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Error(diff)
	}
}

// Lines are those of the sessions that were recorded from the real binary, in the
// files that fit a pattern.
func Lines(t testing.TB, pattern string) [][]byte {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d sessions in %s, %v", len(files), pattern, err)
	}
	var lines [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, bytes.Split(bytes.TrimSpace(text), []byte("\n"))...)
	}
	return lines
}

// Fuzz never sees a panic; what is read as a call has a digest, which does not depend on
// the order of the members. It begins with the recorded payloads and with more.
func (a Adapter) Fuzz(f *testing.F, more ...string) {
	files, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no payloads: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range append(more, a.Sample) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := a.Parse(text)
		if err != nil || h.Told().Moment != agent.Before {
			return
		}
		d, err := h.Told().Call.Digest()
		if err != nil || d.IsZero() {
			t.Fatalf("read, and has no digest: %v", err)
		}
		canonical, err := jcs.Canonicalize(text)
		if err != nil {
			t.Fatalf("read, and is not strict JSON: %v", err)
		}
		again, err := a.Parse(canonical)
		if err != nil {
			t.Fatalf("not read in canonical form: %v", err)
		}
		if e, _ := again.Told().Call.Digest(); e != d {
			t.Fatal("another digest in canonical form")
		}
	})
}

// Tools fails on a field of a built-in tool that the host offers its model and
// nobody has thought about. Fields that are neither listed in the table nor the
// model's words must be among those that are known to be asked about: asking, by
// tool.
func (a Adapter) Tools(t *testing.T, host, file string, said, asking map[string][]string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct {
		Name   string   `json:"name"`
		Fields []string `json:"fields"`
	}
	if err := jcs.Unmarshal(text, &tools); err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, tool := range tools {
		known := sayso.Call{Host: host, Tool: tool.Name}.Known()
		if known.OwnScreen || !slices.Contains(sayso.HostTools(host), tool.Name) {
			continue // no opinion, or asked about whatever it is sent
		}
		listed++
		for _, field := range tool.Fields {
			if !slices.Contains(slices.Concat(known.Args, said[tool.Name], asking[tool.Name]), field) {
				t.Errorf("%s has a field %q that is not listed", tool.Name, field)
			}
		}
		for _, field := range asking[tool.Name] {
			if slices.Contains(known.Args, field) {
				t.Errorf("%s lists %q, which is to be asked about", tool.Name, field)
			}
		}
	}
	if listed < 9 {
		t.Errorf("only %d tools of the host are in the table", listed)
	}
}
