package main

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/notice"
)

// TestScripts runs the scripts in testdata/script, each in a home of its own.
func TestScripts(t *testing.T) { testscript.Run(t, scripts("testdata/script")) }

// scripts are the scripts of a folder, and what they can do.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SAYSO_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("SAYSO_NOTICE", "off")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("PERSON", home.PersonFolder())
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each command with the race detector sleeps for a second before it ends
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waiting": waiting, "decided": decided, "tamper": tamper, "serving": serving, "twin": twin,
			"watched": watched, "harmless": harmless, "receiving": receiving, "received": received, "begun": begun, "kept": kept,
			"quarantined": quarantined, "arrived": arrived,
		},
		RequireExplicitExec: true,
	}
}

// scriptEngine opens the log of a script.
func scriptEngine(ts *testscript.TestScript) (*local.Engine, context.Context, func()) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	paths, err := home.Find(ts.Getenv)
	ts.Check(err)
	e, err := local.OpenEngine(ctx, paths, local.Options{})
	ts.Check(err)
	return e, ctx, func() { cancel(); _ = e.Close() }
}

var admin = sayso.Actor{Principal: "test", Kind: sayso.PrincipalAdmin}

// waiting N waits until N requests are open, and sets ID1, FULL1 and DIGEST1 of
// the first, and so on.
func waiting(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waiting N")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	e, ctx, done := scriptEngine(ts)
	defer done()
	in := e.Inbox(admin)
	for seq := sayso.Seq(0); ; {
		list, err := in.Requests(ctx, sayso.RowQuery{States: sayso.OpenStates(), Oldest: true})
		ts.Check(err)
		if len(list) == n {
			for i, r := range list {
				ts.Setenv("ID"+strconv.Itoa(i+1), r.ShortID)
				ts.Setenv("FULL"+strconv.Itoa(i+1), string(r.ID))
				ts.Setenv("DIGEST"+strconv.Itoa(i+1), r.Digest.String())
			}
			return
		}
		head, err := in.Head(ctx)
		ts.Check(err)
		if head.Seq > seq {
			seq = head.Seq
			continue // it grew between the two looks
		}
		if _, err := e.Log.WaitSince(ctx, seq); err != nil {
			ts.Fatalf("%d requests are open, not %d: %v", len(list), n, err)
		}
	}
}

// quarantined SERVER TOOL sets DIGEST to that of the definition in quarantine.
func quarantined(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: quarantined SERVER TOOL")
	}
	e, ctx, done := scriptEngine(ts)
	defer done()
	pins, err := e.Pins(ctx)
	ts.Check(err)
	ts.Setenv("DIGEST", pins.Of(args[0])[args[1]].Quarantined.String())
}

// decided waits until a request is no longer open.
func decided(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: decided ID")
	}
	e, ctx, done := scriptEngine(ts)
	defer done()
	in := e.Inbox(admin)
	r, err := in.Request(ctx, args[0])
	ts.Check(err)
	for ev, err := range in.Follow(ctx, 0, sayso.EventQuery{Request: r.ID}) {
		ts.Check(err)
		if ev.Type.Terminal() {
			return
		}
	}
}

// serving waits until a server answers on the socket; negated, until none does.
func serving(ts *testscript.TestScript, neg bool, args []string) {
	paths, err := home.Find(ts.Getenv)
	ts.Check(err)
	until(ts, func() bool { return local.Answers(context.Background(), paths.Socket()) != neg })
}

// watched waits until somebody watches.
func watched(ts *testscript.TestScript, neg bool, args []string) {
	paths, err := home.Find(ts.Getenv)
	ts.Check(err)
	until(ts, func() bool { return notice.Watched(paths.Watchers()) != neg })
}

// harmless NAME... checks that what the last command printed, or what stands in
// files, holds nothing that a terminal obeys and nothing that cannot be seen.
func harmless(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: harmless stdout stderr")
	}
	for _, name := range args {
		text := ts.ReadFile(name)
		if !utf8.ValidString(text) {
			ts.Fatalf("%s is no text: %q", name, text)
		}
		for _, r := range text {
			if r != '\n' && !strconv.IsPrint(r) {
				ts.Fatalf("%s holds %U: %q", name, r, text)
			}
		}
	}
}

// until waits for something that nothing can be waited for.
func until(ts *testscript.TestScript, done func() bool) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(30 * time.Second)
	for !done() {
		select {
		case <-late:
			ts.Fatalf("it did not happen")
		case <-tick.C:
		}
	}
}

// tamper runs SQL on the database, with the triggers that guard it dropped and
// made again, so that nothing but what was done betrays it.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	c, err := sqlite.OpenConn(filepath.Join(ts.Getenv("SAYSO_HOME"), "sayso.db"), sqlite.OpenReadWrite)
	ts.Check(err)
	defer c.Close()
	triggers := map[string]string{}
	ts.Check(sqlitex.ExecuteTransient(c, `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error { triggers[s.ColumnText(0)] = s.ColumnText(1); return nil },
	}))
	for name := range triggers {
		ts.Check(sqlitex.ExecuteTransient(c, "DROP TRIGGER "+name, nil))
	}
	ts.Check(sqlitex.ExecuteTransient(c, strings.Join(args, " "), nil))
	if c.Changes() == 0 {
		ts.Fatalf("nothing was changed")
	}
	for _, text := range triggers {
		ts.Check(sqlitex.ExecuteTransient(c, text, nil))
	}
}

// twin copies a request under an id that begins as the first one's does.
func twin(ts *testscript.TestScript, neg bool, args []string) {
	e, ctx, done := scriptEngine(ts)
	defer done()
	id, err := sayso.ParseID(args[0])
	ts.Check(err)
	events, err := e.Log.Stream(ctx, sayso.RequestStream(id), 0)
	ts.Check(err)
	copied := events[0]
	copied.RequestID = id[:len(id)-1] + "0"
	if copied.RequestID == id {
		copied.RequestID = id[:len(id)-1] + "4"
	}
	copied.Stream, copied.CallID = sayso.RequestStream(copied.RequestID), "twin"
	_, err = e.Log.Append(ctx, sayso.Batch{Events: []sayso.Event{copied}, Expect: map[string]int{copied.Stream: 0}})
	ts.Check(err)
}
