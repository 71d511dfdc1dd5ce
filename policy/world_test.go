package policy_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/policy"
)

// disk is what the calls of these tests find; "-> target" makes a link.
type disk map[string]string

func (d disk) Lstat(name string) (path.Info, error) {
	what, ok := d[name]
	switch {
	case name == "/" || what == "dir":
		return path.Info{Mode: fs.ModeDir}, nil
	case !ok:
		return path.Info{}, fs.ErrNotExist
	case strings.HasPrefix(what, "-> "):
		return path.Info{Mode: fs.ModeSymlink}, nil
	case what == "two names":
		return path.Info{Links: 2}, nil
	case what == "fifo":
		return path.Info{Mode: fs.ModeNamedPipe}, nil
	}
	return path.Info{Links: 1}, nil
}

func (d disk) Readlink(name string) (string, error) { return strings.TrimPrefix(d[name], "-> "), nil }

var machine = disk{
	"/home": "dir", "/home/dev": "dir", "/home/dev/.ssh": "dir", "/home/dev/.ssh/id_rsa": "file", "/home/dev/notes": "file",
	"/home/dev/.local": "dir", "/home/dev/.local/state": "dir", "/home/dev/.local/state/sayso": "dir", "/home/dev/.local/state/sayso/log.db": "file",
	"/home/dev/app": "dir", "/home/dev/app/.git": "dir", "/home/dev/app/.git/config": "file", "/home/dev/app/main.go": "file",
	"/home/dev/app/docs": "dir", "/home/dev/app/docs/a.md": "file", "/home/dev/app/docs/deep": "dir", "/home/dev/app/docs/deep/b.md": "file",
	"/home/dev/app/.env": "file", "/home/dev/app/hard": "two names", "/home/dev/app/fifo": "fifo",
	"/home/dev/app/out": "-> /etc", "/home/dev/app/loop": "-> loop", "/home/dev/app/state": "-> ../.local/state/sayso", "/home/dev/app/readme": "-> docs/a.md",
	"/home/dev/app2": "dir", "/home/dev/app2/secret": "file", "/etc": "dir", "/etc/passwd": "file",
}

func gather(_ context.Context, c sayso.Call) sayso.Facts { return gatherFor(nil, machine, c) }

// gatherFor gathers what a policy needs to know on a machine.
func gatherFor(p sayso.Policy, fs disk, c sayso.Call) sayso.Facts {
	o := facts.Options{FS: fs, Home: "/home/dev", State: []string{"/home/dev/.local/state/sayso", "/home/dev/.config/sayso"}}
	if p, ok := p.(*policy.Policy); ok {
		o.Roots = p.Roots()
	}
	return facts.Gather(context.Background(), c, o)
}

type obj = map[string]any

func call(t testing.TB, tool string, args any) sayso.Call {
	t.Helper()
	text, err := jcs.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return sayso.Call{Tool: tool, Cwd: "/home/dev/app", Args: text}
}

func bash(t testing.TB, command string) sayso.Call { return call(t, "bash", obj{"command": command}) }

func judge(p sayso.Policy, c sayso.Call) sayso.Verdict {
	return judgeOn(p, machine, c)
}

func judgeOn(p sayso.Policy, fs disk, c sayso.Call) sayso.Verdict {
	return p.Judge(context.Background(), c, gatherFor(p, fs, c))
}

// load makes a policy of one person's rules.
func load(t testing.TB, text string) *policy.Policy {
	t.Helper()
	return loadWith(t, policy.Options{Home: "/home/dev"}, text)
}

func loadWith(t testing.TB, o policy.Options, texts ...string) *policy.Policy {
	t.Helper()
	var tiers []policy.Tiered
	for i, text := range texts {
		f, err := policy.Parse("policy.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		tiers = append(tiers, policy.Tiered{Tier: []policy.Tier{policy.TierUser, policy.TierOrg}[i], File: f})
	}
	p, err := policy.New(o, tiers...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rules(lines ...string) string {
	return "version: 1\nrules:\n  - " + strings.Join(lines, "\n  - ") + "\n"
}

// sees is a call and what is expected of it.
type sees struct {
	name  string
	call  sayso.Call
	want  sayso.Effect
	cause sayso.Cause
}

func expect(t *testing.T, p sayso.Policy, tests []sees) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := judge(p, tt.call)
			if v.Effect != tt.want || tt.cause != "" && v.Cause != tt.cause {
				t.Errorf("%s %s: %s by %q (%s), want %s (%s)", tt.call.Tool, tt.call.Args, v.Effect, v.Rule, v.Cause, tt.want, tt.cause)
			}
			if v.Reason == "" || v.Rule == "" {
				t.Errorf("no reason: %+v", v.Match)
			}
		})
	}
}
