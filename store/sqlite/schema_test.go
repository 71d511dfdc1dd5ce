package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// The attack: somebody with the file changes no event, but what the log promises
// of events. Each change here was once called whole and unchanged.
func TestVerify_findsAChangedSchema(t *testing.T) {
	e := newEvidence(t)
	for _, script := range []string{
		`DROP INDEX one_spending`,
		`DROP INDEX one_decision`,
		`DROP INDEX event_place`,
		`DROP INDEX one_spending; CREATE INDEX one_spending ON events (stream)`,
		`DROP INDEX one_spending; CREATE UNIQUE INDEX one_spending ON events (stream) WHERE type = 'approval.redeemed'`,
		`DROP INDEX request_unspent`,
		`DROP TRIGGER events_stay`,
		`DROP TRIGGER keys_stay; CREATE TRIGGER keys_stay BEFORE UPDATE ON keys BEGIN SELECT 1; END`,
		`CREATE TRIGGER forget BEFORE INSERT ON keys BEGIN SELECT raise(IGNORE); END`,
		`CREATE TABLE more (x)`,
		`CREATE INDEX more ON events (type)`,
		`ALTER TABLE requests RENAME TO hidden; CREATE VIEW requests AS SELECT * FROM hidden`,
		`ALTER TABLE grants ADD COLUMN more TEXT`,
		`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'approval.voided', 'approval.void')
			WHERE name = 'one_spending'`,
	} {
		l := e.tampered(t, ``)
		tamper(t, l.Path(), script)
		r, err := l.Verify(t.Context(), nil)
		if err != nil {
			t.Errorf("Verify: %v after %s", err, script)
		} else if len(r.Problems) == 0 {
			t.Errorf("nothing was found after %s", script)
		}
	}
}

// The attack: somebody with the file frees the name of a call, so that it can
// ask and run again, or gives it to another request.
func TestVerify_findsChangedKeys(t *testing.T) {
	e := newEvidence(t)
	for _, script := range []string{
		`DELETE FROM keys`,
		`DELETE FROM keys WHERE name = (SELECT max(name) FROM keys)`,
		`UPDATE keys SET stream = (SELECT max(stream) FROM keys)`,
		`UPDATE keys SET stream = (SELECT max(stream) FROM keys) WHERE name = (SELECT name FROM keys ORDER BY stream LIMIT 1)`,
		`UPDATE keys SET name = CAST(name || x'00' AS BLOB) WHERE name = (SELECT max(name) FROM keys)`,
		`INSERT INTO keys SELECT CAST(name || x'00' AS BLOB), stream FROM keys LIMIT 1`,
		`INSERT INTO keys VALUES (x'00', (SELECT max(stream) FROM keys))`,
	} {
		e.exposed(t, script, nil)
	}
}

// The attack: somebody with the file says that the events of a call lie in a
// segment, so that they are looked for there and not found.
func TestVerify_findsAFalseArchive(t *testing.T) {
	e := newEvidence(t)
	for _, script := range []string{
		`INSERT INTO archived SELECT stream, 7, 1 FROM events LIMIT 1`,
		`INSERT INTO archived VALUES ('request/nobody', 1, 1)`,
		`INSERT INTO erasing SELECT 7, request FROM events WHERE request <> '' LIMIT 1`,
	} {
		e.exposed(t, script, nil)
	}
}

// The attack: somebody with the file takes away what keeps an approval from
// being spent twice, and waits for the next process to open it.
func TestOpen_refusesALogWithoutItsGuards(t *testing.T) {
	e := newEvidence(t)
	for _, tt := range []struct{ script, says string }{
		{`DROP INDEX one_spending`, "index one_spending is missing"},
		{`DROP INDEX one_decision`, "index one_decision is missing"},
		{`DROP INDEX event_place; CREATE INDEX event_place ON events (stream, pos)`, "index event_place is missing or was changed"},
		{`DROP TABLE keys; CREATE TABLE keys (name BLOB, stream TEXT)`, "table keys is missing or was changed"},
		{`CREATE TRIGGER forget BEFORE INSERT ON events BEGIN SELECT raise(IGNORE); END`, "trigger forget was added"},
		{`CREATE VIEW shown AS SELECT * FROM events`, "view shown was added"},
	} {
		path := place(t)
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		copyFile(t, e.path, path)
		tamper(t, path, tt.script)
		_, err := sqlite.Open(t.Context(), path, nil)
		if !errors.Is(err, sayso.ErrUnavailable) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("Open says %v after %s", err, tt.script)
		}
	}
}

// TestVerify_knowsTheKeysOfABroker lets a broker take every kind of key that it
// takes, which verification must not take for forged ones.
func TestVerify_knowsTheKeysOfABroker(t *testing.T) {
	l := open(t, place(t), nil)
	b, err := broker.New(l, saysotest.AskAlways{}, &broker.Options{MaxOpen: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	g := b.Gate(sayso.Actor{Principal: "agent", Kind: sayso.PrincipalAgent, Channel: "test"})
	for _, c := range []struct{ id, command string }{
		{"c1", "ls"}, {"c2", "ls"}, {"c1", "ls"}, {"", "pwd"}, {"c3", "pwd"}, {"c4", "id"}, {"c5", "id"},
	} {
		_, err := g.Admit(t.Context(), sayso.Admission{
			Call:     sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"` + c.command + `"}`), Session: "s", Cwd: "/", CallID: c.id},
			Patience: time.Millisecond,
		})
		if !errors.Is(err, sayso.ErrPending) && !errors.Is(err, sayso.ErrTooMany) {
			t.Fatal(err)
		}
	}
	seen := map[sayso.EventType]int{}
	for _, e := range all(t, l) {
		seen[e.Type]++
	}
	if seen[sayso.EventRequested] != 3 || seen[sayso.EventTaken] < 2 || seen[sayso.EventResolved] != 1 {
		t.Fatalf("the broker took other keys than it was to: %v", seen)
	}
	sound(t, l)
}
