package race_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
)

// The environment is no part of a call: no host tells what it will be, and what
// a command assigns itself is part of its text.

// bound is the call that people approve in these tests.
func bound(name, cwd string) sayso.Call {
	return sayso.Call{
		Tool: "mcp__deployer__release", Args: sayso.Args(`{"to":"staging","what":{"app":"web","build":7},"flags":["a","b"]}`),
		Cwd: cwd, Session: "bound-" + name, CallID: "first", DefinitionDigest: "sha256:v1",
	}
}

// redefined is the call of a tool that was defined anew.
const redefined = "the tool's definition"

// other are the calls that an approval of bound is not for.
var other = map[string]func(*sayso.Call){
	"an argument": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"to":"production","what":{"app":"web","build":7},"flags":["a","b"]}`)
	},
	"an argument more": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"to":"staging","what":{"app":"web","build":7},"flags":["a","b"],"now":true}`)
	},
	"an argument less": func(c *sayso.Call) { c.Args = sayso.Args(`{"to":"staging","what":{"app":"web","build":7}}`) },
	"a null for nothing": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"to":"staging","what":{"app":"web","build":7},"flags":["a","b"],"now":null}`)
	},
	"the order of a list": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"to":"staging","what":{"app":"web","build":7},"flags":["b","a"]}`)
	},
	"a text for a number": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"to":"staging","what":{"app":"web","build":"7"},"flags":["a","b"]}`)
	},
	"the case of a name": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"To":"staging","what":{"app":"web","build":7},"flags":["a","b"]}`)
	},
	"a blank": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"to":"staging ","what":{"app":"web","build":7},"flags":["a","b"]}`)
	},
	"the working directory": func(c *sayso.Call) { c.Cwd += "/.." },
	"no working directory":  func(c *sayso.Call) { c.Cwd = "" },
	"the tool":              func(c *sayso.Call) { c.Tool = "mcp__deployer__rollback" },
	"the server":            func(c *sayso.Call) { c.Tool = "mcp__other__release" },
	"the session":           func(c *sayso.Call) { c.Session += "x" },
	redefined:               func(c *sayso.Call) { c.DefinitionDigest = "sha256:v2" },
	"no definition of it":   func(c *sayso.Call) { c.DefinitionDigest = "" },
	"a repeated argument": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"to":"production","to":"staging","what":{"app":"web","build":7},"flags":["a","b"]}`)
	},
	"arguments that are a list": func(c *sayso.Call) { c.Args = sayso.Args(`[]`) },
}

// same are spellings of the very same call.
var same = map[string]func(*sayso.Call){
	"the order of members": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"flags":["a","b"],"what":{"build":7,"app":"web"},"to":"staging"}`)
	},
	"blanks between members": func(c *sayso.Call) {
		c.Args = sayso.Args("{ \"to\" : \"staging\",\n\"what\":{\"app\":\"web\",\"build\":7},\"flags\":[\"a\", \"b\"] }")
	},
	"how a number is written": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"to":"staging","what":{"app":"web","build":7.0},"flags":["a","b"]}`)
	},
	"how a letter is written": func(c *sayso.Call) {
		c.Args = sayso.Args(`{"to":"st\u0061ging","what":{"app":"web","build":7},"flags":["a","b"]}`)
	},
	"what it is called": func(c *sayso.Call) { c.Description, c.Caller, c.Run = "release it", "somebody", "run-2" },
}

// approved has a person approve a call that waits at a gate, and returns the
// decision that the caller got.
func (w *world) approved(g gateway, a sayso.Admission, answer ...func(*sayso.Answer)) sayso.Decision {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	type outcome struct {
		d   sayso.Decision
		err error
	}
	got := make(chan outcome, 1)
	go func() {
		d, err := g.Admit(ctx, a)
		got <- outcome{d, err}
	}()
	r := w.await(a.Call)
	yes := answerTo(r, sayso.Allow)
	for _, change := range answer {
		change(&yes)
	}
	if _, err := w.engine.Inbox(owner).Answer(ctx, r.ID, yes); err != nil {
		w.t.Fatal(err)
	}
	o := <-got
	if o.err != nil || !o.d.Allowed() {
		w.t.Fatalf("the caller got %+v, %v", o.d, o.err)
	}
	return o.d
}

// ways are the gates that an approval is redeemed at.
var ways = []string{doorHTTP, doorFile}

// An approval runs the call that was approved, spelled in any way, and no
// other; a try with another does not spend it.
func TestBinding_redeem(t *testing.T) {
	w := newWorld(t, "")
	for _, door := range ways {
		g := w.door(door, agentName)
		for name, spell := range same {
			d := w.approved(g, sayso.Admission{Call: bound(door+" "+name, "/work")})
			for what, change := range other {
				call := bound(door+" "+name, "/work")
				change(&call)
				if err := g.Redeem(t.Context(), d.Receipt, call); !errors.Is(err, sayso.ErrMismatch) && !errors.Is(err, sayso.ErrInvalid) {
					t.Errorf("%s: with another %s: %v", door, what, err)
				}
				if digest, err := call.Digest(); err == nil {
					if err := g.Redeem(t.Context(), sayso.Receipt{Request: d.Request, Digest: digest}, call); !errors.Is(err, sayso.ErrMismatch) {
						t.Errorf("%s: with another %s and a receipt that says so: %v", door, what, err)
					}
				}
			}
			call := bound(door+" "+name, "/work")
			spell(&call)
			if err := g.Redeem(t.Context(), d.Receipt, call); err != nil {
				t.Errorf("%s: with another %s: %v", door, name, err)
			}
			if err := g.Redeem(t.Context(), d.Receipt, call); !errors.Is(err, sayso.ErrSpent) {
				t.Errorf("%s: twice: %v", door, err)
			}
		}
	}
}

// An approval that waits for its caller, and a remembered one, are not those
// of another call.
func TestBinding_askedAgain(t *testing.T) {
	w := newWorld(t, "")
	ask := func(g gateway, c sayso.Call) (sayso.Decision, error) {
		return g.Admit(t.Context(), sayso.Admission{Call: c, Patience: time.Nanosecond})
	}
	for _, door := range ways {
		g := w.door(door, agentName)
		parked := bound(door+" parked", "/work")
		if _, err := ask(g, parked); !errors.Is(err, sayso.ErrPending) {
			t.Fatal(err)
		}
		r := w.await(parked)
		if _, err := w.engine.Inbox(owner).Answer(t.Context(), r.ID, answerTo(r, sayso.Allow)); err != nil {
			t.Fatal(err)
		}
		remembered := bound(door+" remembered", "/work")
		w.approved(g, sayso.Admission{Call: remembered, Immediate: true}, func(a *sayso.Answer) { a.Scope = sayso.ScopeSession })
		for _, base := range []sayso.Call{parked, remembered} {
			for what, change := range other {
				if base.Session == remembered.Session && what == redefined {
					continue // ends what is remembered, see below
				}
				for _, id := range []string{base.CallID, "another " + what} {
					call := base
					call.CallID = id
					change(&call)
					d, err := ask(g, call)
					if d.Allowed() || err == nil {
						t.Errorf("%s: another %s was allowed: %+v", door, what, d)
					}
				}
			}
			call := base
			call.CallID = "the same"
			same["the order of members"](&call)
			if d, err := ask(g, call); err != nil || !d.Allowed() {
				t.Errorf("%s: the same call in another order: %+v, %v", door, d, err)
			}
		}
		// A tool that was defined anew ends what was remembered of it, for good.
		for _, change := range []func(*sayso.Call){other[redefined], func(*sayso.Call) {}} {
			call := remembered
			call.CallID = ""
			change(&call)
			if d, err := ask(g, call); d.Allowed() || !errors.Is(err, sayso.ErrPending) {
				t.Errorf("%s: remembered of a tool that was defined anew: %+v, %v", door, d, err)
			}
		}
	}
}

// A folder or a script is swapped after the approval: neither the approval that
// waits nor the remembered one is for what is there now.
func TestBinding_placeAndScript(t *testing.T) {
	w := newWorld(t, "")
	for _, door := range ways {
		g := w.door(door, agentName)
		for _, remember := range []bool{false, true} {
			for what, swap := range swaps {
				dir := t.TempDir()
				lay(t, dir)
				call := sayso.Call{
					Tool: "bash", Args: sayso.Args(`{"command":"sh build.sh"}`), Cwd: filepath.Join(dir, "here"),
					Session: "swap-" + door + dir, CallID: "first",
				}
				ask := func(id string) (sayso.Decision, error) {
					call.CallID = id
					return g.Admit(t.Context(), sayso.Admission{
						Call: call, Facts: facts.Gather(t.Context(), call, facts.Options{Workspace: dir}), Patience: time.Nanosecond,
					})
				}
				if _, err := ask("first"); !errors.Is(err, sayso.ErrPending) {
					t.Fatal(err)
				}
				r := w.await(call)
				yes := answerTo(r, sayso.Allow)
				if remember {
					yes.Scope = sayso.ScopeSession
				}
				if _, err := w.engine.Inbox(owner).Answer(t.Context(), r.ID, yes); err != nil {
					t.Fatal(err)
				}
				if remember {
					if d, err := ask("second"); err != nil || !d.Allowed() {
						t.Fatalf("as it was: %+v, %v", d, err)
					}
				}
				swap(t, dir)
				for _, id := range []string{"first", "third"} {
					if d, err := ask(id); d.Allowed() || err == nil {
						t.Errorf("%s: after %s, remembered %v, it was allowed: %+v", door, what, remember, d)
					}
				}
			}
		}
	}
}

// lay makes two folders with a script in each, and a link to one.
func lay(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{"good": "echo good", "bad": "echo bad"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "build.sh"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("good", filepath.Join(dir, "here")); err != nil {
		t.Fatal(err)
	}
}

// swaps change what is behind the same words.
var swaps = map[string]func(*testing.T, string){
	"the folder was swapped": func(t *testing.T, dir string) { relink(t, filepath.Join(dir, "here"), "bad") },
	"the script was written": func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, "good", "build.sh"), []byte("echo worse"), 0o600); err != nil {
			t.Fatal(err)
		}
	},
	"the script was swapped": func(t *testing.T, dir string) {
		relink(t, filepath.Join(dir, "good", "build.sh"), "../bad/build.sh")
	},
	"the script was removed": func(t *testing.T, dir string) {
		if err := os.Remove(filepath.Join(dir, "good", "build.sh")); err != nil {
			t.Fatal(err)
		}
	},
}

func relink(t *testing.T, path, to string) {
	t.Helper()
	if err := errors.Join(os.Remove(path), os.Symlink(to, path)); err != nil {
		t.Fatal(err)
	}
}

// A policy that changes after the approval voids it, and changing it back does
// not bring it back. Remembered answers ask anew.
func TestBinding_policy(t *testing.T) {
	w := newWorld(t, "version: 1\n")
	write := func(text string) {
		t.Helper()
		draft := filepath.Join(w.dir, "draft.yaml")
		if err := errors.Join(os.WriteFile(draft, []byte(text), 0o600), os.Rename(draft, pathsOf(w.dir).Policy())); err != nil {
			t.Fatal(err)
		}
	}
	for _, door := range ways {
		g := w.door(door, agentName)
		call := bound(door+" policy", "/work")
		once := w.approved(g, sayso.Admission{Call: call})
		remembered := bound(door+" policy, remembered", "/work")
		w.approved(g, sayso.Admission{Call: remembered, Immediate: true}, func(a *sayso.Answer) { a.Scope = sayso.ScopeSession })
		write("version: 1\n# " + door + "\n")
		if err := g.Redeem(t.Context(), once.Receipt, call); !errors.Is(err, sayso.ErrVoided) {
			t.Errorf("%s: under another policy: %v", door, err)
		}
		remembered.CallID = "second"
		if d, err := g.Admit(t.Context(), sayso.Admission{Call: remembered, Patience: time.Nanosecond}); !errors.Is(err, sayso.ErrPending) || d.Allowed() {
			t.Errorf("%s: remembered under another policy: %+v, %v", door, d, err)
		}
		write("version: 1\n")
		if err := g.Redeem(t.Context(), once.Receipt, call); !errors.Is(err, sayso.ErrVoided) {
			t.Errorf("%s: under the first policy again: %v", door, err)
		}
		if n := w.life(once.Request); n[sayso.EventVoided] != 1 || n[sayso.EventRedeemed] != 0 {
			t.Errorf("%s: the log has %v", door, n)
		}
	}
}
