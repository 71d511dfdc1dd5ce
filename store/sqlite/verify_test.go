package sqlite_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	engine "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// places is how many random places each kind of change is tried at.
const places = 100

// evidence is a log that verifies, in one file, to be tampered with.
type evidence struct {
	path   string
	guards string // makes the triggers again, which nothing may lack
	head   sayso.Head
	events []sayso.Event
}

func newEvidence(t *testing.T) evidence {
	t.Helper()
	l := open(t, place(t), nil)
	lived(t, l, 24)
	e := evidence{path: filepath.Join(t.TempDir(), "backup.db"), events: all(t, l)}
	var err error
	if e.head, err = l.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Backup(t.Context(), e.path); err != nil {
		t.Fatal(err)
	}
	e.guards = triggers(t, e.path)
	tamper(t, e.path, unguarded)
	if r := sound(t, l); r.Events != len(e.events) || r.Head != e.head || r.Erased == 0 {
		t.Fatalf("verified %+v", r)
	}
	return e
}

// unguarded lets scripts do what triggers refuse.
const unguarded = `
	DROP TRIGGER events_stay;
	DROP TRIGGER events_are_not_removed;
	DROP TRIGGER content_only_empties;
	DROP TRIGGER content_is_not_removed;
	DROP TRIGGER segments_stay;
	DROP TRIGGER keys_stay;
	DROP TRIGGER keys_are_not_freed;`

// triggers is what made the triggers of a database.
func triggers(t *testing.T, path string) string {
	t.Helper()
	return column(t, path, `SELECT group_concat(sql, ';') || ';' FROM sqlite_schema WHERE type = 'trigger'`)
}

// column is the one text that a query finds.
func column(t *testing.T, path, query string) (text string) {
	t.Helper()
	c, err := engine.OpenConn(path, engine.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = sqlitex.ExecuteTransient(c, query, &sqlitex.ExecOptions{
		ResultFunc: func(st *engine.Stmt) error { text = st.ColumnText(0); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tampered runs a script on a copy of the evidence, hides how, and opens it.
func (e evidence) tampered(t *testing.T, script string) *sqlite.Log {
	t.Helper()
	path := place(t)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	copyFile(t, e.path, path)
	tamper(t, path, script+";"+e.guards)
	return open(t, path, nil)
}

// tamper runs a script on a database behind the engine's back.
func tamper(t *testing.T, path, script string) {
	t.Helper()
	c, err := engine.OpenConn(path, engine.OpenReadWrite, engine.OpenCreate, engine.OpenWAL)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteTransient(c, `PRAGMA synchronous = OFF`, nil); err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteScript(c, script, nil); err != nil {
		t.Fatalf("%v in %s", err, script)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}

// exposed fails the test if a change is not found.
func (e evidence) exposed(t *testing.T, script string, kept *sayso.Head) {
	t.Helper()
	r, err := e.tampered(t, script).Verify(t.Context(), kept)
	if err != nil {
		t.Fatalf("Verify: %v after\n%s", err, script)
	}
	if len(r.Problems) == 0 {
		t.Errorf("nothing was found after\n%s", script)
	}
}

// edits change one column of the event %d. All but the last three are columns
// of the event itself.
var edits = []string{
	`UPDATE events SET seq = seq + 100000 WHERE seq = %d`,
	`UPDATE events SET stream = stream || 'x' WHERE seq = %d`,
	`UPDATE events SET pos = pos + 1000 WHERE seq = %d`,
	`UPDATE events SET type = type || 'x' WHERE seq = %d`,
	`UPDATE events SET id = id || 'x' WHERE seq = %d`,
	`UPDATE events SET version = version + 1 WHERE seq = %d`,
	`UPDATE events SET wall = wall + 1 WHERE seq = %d`,
	`UPDATE events SET boot = boot || 'x' WHERE seq = %d`,
	`UPDATE events SET since = since - 1 WHERE seq = %d`,
	`UPDATE events SET principal = 'ada2' WHERE seq = %d`,
	`UPDATE events SET kind = 'admin' WHERE seq = %d`,
	`UPDATE events SET channel = 'http' WHERE seq = %d`,
	`UPDATE events SET session = session || 'x' WHERE seq = %d`,
	`UPDATE events SET run = run || 'x' WHERE seq = %d`,
	`UPDATE events SET request = request || 'x' WHERE seq = %d`,
	`UPDATE events SET call = call || 'x' WHERE seq = %d`,
	`UPDATE events SET payload = replace(payload, '{', '{ ') WHERE seq = %d`,
	`UPDATE events SET commitment = iif(commitment ISNULL, randomblob(32), NULL) WHERE seq = %d`,
	`UPDATE events SET prev = randomblob(32) WHERE seq = %d`,
	`UPDATE events SET hash = randomblob(32) WHERE seq = %d`,
	`UPDATE content SET salt = randomblob(16) WHERE seq = %d`,
	`UPDATE content SET body = randomblob(length(body)) WHERE seq = %d`,
	`UPDATE content SET salt = NULL, body = NULL WHERE seq = %d`,
	`DELETE FROM content WHERE seq = %d`,
}

const onEvent = 20 // edits of the event's own columns

func TestVerify_columns(t *testing.T) {
	c, err := engine.OpenConn(newEvidence(t).path, engine.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = sqlitex.ExecuteTransient(c, `SELECT name FROM pragma_table_info('events')`, &sqlitex.ExecOptions{
		ResultFunc: func(st *engine.Stmt) error {
			for _, edit := range edits {
				if strings.Contains(edit, "events SET "+st.ColumnText(0)+" =") {
					return nil
				}
			}
			t.Errorf("no test edits the column %s", st.ColumnText(0))
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEV1_findsEdits(t *testing.T) {
	e := newEvidence(t)
	luck := rand.New(rand.NewPCG(1, 1))
	for i := range places {
		edit := edits[i%len(edits)]
		at := e.events[luck.IntN(len(e.events))]
		for i%len(edits) >= onEvent && at.Content == nil {
			at = e.events[luck.IntN(len(e.events))]
		}
		e.exposed(t, fmt.Sprintf(edit, at.Seq), nil)
	}
}

func TestEV1_findsRemovals(t *testing.T) {
	e := newEvidence(t)
	luck := rand.New(rand.NewPCG(2, 1))
	for i := range places {
		at := 1 + luck.IntN(len(e.events)-1)
		script := fmt.Sprintf(`DELETE FROM events WHERE seq = %[1]d; DELETE FROM content WHERE seq = %[1]d;`, at)
		if i%2 == 1 { // and close the gap
			script += shift(at, -1)
		}
		e.exposed(t, script, nil)
	}
}

// shift moves all events behind a place.
func shift(behind, by int) (script string) {
	for _, table := range []string{"events", "content"} {
		script += fmt.Sprintf(`UPDATE %[1]s SET seq = seq + 1000000 WHERE seq > %[2]d;
			UPDATE %[1]s SET seq = seq - 1000000 + %[3]d WHERE seq > 1000000;`, table, behind, by)
	}
	return script
}

func TestEV1_findsInsertions(t *testing.T) {
	e := newEvidence(t)
	luck := rand.New(rand.NewPCG(3, 1))
	for range places {
		at, like := luck.IntN(len(e.events)), e.events[luck.IntN(len(e.events))]
		e.exposed(t, shift(at, 1)+fmt.Sprintf(`INSERT INTO events SELECT %d, 'forged', 1, type, id, version, wall, boot,
			since, principal, kind, channel, session, run, request, call, payload, NULL, prev, hash
			FROM events WHERE id = '%s'`, at+1, like.ID), nil)
	}
}

func TestEV1_findsReorderings(t *testing.T) {
	e := newEvidence(t)
	luck := rand.New(rand.NewPCG(4, 1))
	for range places {
		a, b := 1+luck.IntN(len(e.events)), 1+luck.IntN(len(e.events))
		if a == b {
			b = a%len(e.events) + 1
		}
		script := ""
		for _, table := range []string{"events", "content"} {
			script += fmt.Sprintf(`UPDATE %[1]s SET seq = 1000000 WHERE seq = %[2]d; UPDATE %[1]s SET seq = %[2]d
				WHERE seq = %[3]d; UPDATE %[1]s SET seq = %[3]d WHERE seq = 1000000;`, table, a, b)
		}
		e.exposed(t, script, nil)
	}
}

func TestEV1_findsACutTail(t *testing.T) {
	e := newEvidence(t)
	luck := rand.New(rand.NewPCG(5, 1))
	silent := 0
	for range places {
		from := 1 + luck.IntN(len(e.events))
		l := e.tampered(t, fmt.Sprintf(`DELETE FROM events WHERE seq >= %[1]d; DELETE FROM content WHERE seq >= %[1]d;
			DELETE FROM keys WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.stream = keys.stream)`, from))
		if err := l.Rebuild(t.Context()); err != nil { // so that nothing else betrays it
			t.Fatal(err)
		}
		r, err := l.Verify(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Problems) == 0 {
			silent++
		}
		r, err = l.Verify(t.Context(), &e.head)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Problems) == 0 {
			t.Errorf("a tail cut from %d was not found", from)
		}
	}
	if silent < places/2 {
		t.Errorf("only %d of %d cuts needed the head that was kept", silent, places)
	}
}

func TestVerify_findsAnotherHistory(t *testing.T) {
	e := newEvidence(t)
	l := e.tampered(t, ``)
	kept := sayso.Head{Seq: e.head.Seq - 1, Hash: sayso.HashOf("another")}
	if r, err := l.Verify(t.Context(), &kept); err != nil || len(r.Problems) == 0 {
		t.Errorf("another event at the kept head was not found: %v", err)
	}
}

func TestVerify_findsEditedProjections(t *testing.T) {
	e := newEvidence(t)
	for _, script := range []string{
		`UPDATE requests SET state = 'allowed', spent = 0 WHERE state = 'denied'`,
		`UPDATE requests SET open = 0 WHERE first_seq = (SELECT max(first_seq) FROM requests WHERE open = 1)`,
		`UPDATE requests SET digest = randomblob(32) WHERE first_seq = (SELECT max(first_seq) FROM requests)`,
		`DELETE FROM requests WHERE first_seq = (SELECT max(first_seq) FROM requests)`,
		`UPDATE grants SET live = 1 WHERE live = 0`,
		`UPDATE grants SET key = randomblob(32) WHERE first_seq = (SELECT max(first_seq) FROM grants)`,
		`DELETE FROM grants`,
		`INSERT INTO keys VALUES (x'00', 'request/nobody')`,
		`INSERT INTO content VALUES (1, randomblob(16), '{}'), (100000, randomblob(16), '{}')`,
	} {
		e.exposed(t, strings.ReplaceAll(script, "'{}'", "x'7b7d'"), nil)
	}
}

func TestRebuild_makesTheSame(t *testing.T) {
	l := open(t, place(t), nil)
	m := lived(t, l, 80)
	before := rows(t, l)
	grants := func() (out [][]string) {
		for _, all := range []bool{false, true} {
			streams, err := l.Grants(t.Context(), nil, "", all)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, streams)
		}
		return out
	}
	granted := grants()
	if err := l.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "the rows", rows(t, l), before)
	same(t, "the grants", grants(), granted)
	lived2(t, l, m)
	sound(t, l)
}
