package sqlite_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	engine "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

var keep = flag.String("keep", "", "write a database of this program's schema to testdata/NAME.db, for ever")

// TestKeep makes the file that TestMigrate_kept will migrate once the schema
// has gone on. Run it before a release that changes the schema:
//
//	go test ./store/sqlite -run TestKeep -keep v0.1
func TestKeep(t *testing.T) {
	if *keep == "" {
		t.Skip("a release with another schema keeps a file of its own; for one, type: go test ./store/sqlite -run TestKeep -keep v0.1")
	}
	l := open(t, place(t), nil)
	lived(t, l, 12)
	if err := l.Backup(t.Context(), filepath.Join("testdata", *keep+".db")); err != nil {
		t.Fatal(err)
	}
}

// TestMigrate_kept opens a file of every released schema.
func TestMigrate_kept(t *testing.T) {
	kept, err := filepath.Glob("testdata/*.db")
	if err != nil || len(kept) == 0 {
		t.Fatalf("no files are kept: %v", err)
	}
	for _, from := range kept {
		t.Run(filepath.Base(from), func(t *testing.T) {
			path := place(t)
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			copyFile(t, from, path)
			l := open(t, path, nil)
			sound(t, l)
			requests, err := l.Open(t.Context(), "", 0)
			if err != nil || len(requests) == 0 {
				t.Fatalf("%d requests are open, %v", len(requests), err)
			}
			id := requests[0][0].RequestID
			add(t, l, storetest.NewMaker(99).Answer(id, len(requests[0]), sayso.Deny, "no"))
			sound(t, l)
		})
	}
}

func TestOpen_refusesSchemas(t *testing.T) {
	for _, tt := range []struct{ name, script, says string }{
		{"newer", `PRAGMA user_version = 1000`, "use the newer sayso"},
		{"foreign", `CREATE TABLE t (x)`, "another program"},
		{"garbage", ``, "damaged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := place(t)
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.script != "" {
				tamper(t, path, tt.script)
			} else if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := sqlite.Open(t.Context(), path, nil)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Open says %v, not that it is %s", err, tt.says)
			}
		})
	}
}

func TestMigrations_sayWhatTheyAreFor(t *testing.T) {
	files, err := filepath.Glob("migration/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "-- ") {
			t.Errorf("%s does not begin with a sentence", file)
		}
		if want := []string{"0001", "0002", "0003", "0004", "0005"}[i]; !strings.HasPrefix(filepath.Base(file), want+"_") {
			t.Errorf("%s is not number %s", file, want)
		}
	}
}

func TestTriggers_refuse(t *testing.T) {
	path := place(t)
	l := open(t, path, nil)
	lived(t, l, 20)
	for _, script := range []string{
		`UPDATE events SET principal = 'eve' WHERE seq = 3`,
		`DELETE FROM events WHERE seq = 3`,
		`DELETE FROM events`,
		`UPDATE content SET body = x'7b7d' WHERE body NOTNULL`,
		`DELETE FROM content`,
		`UPDATE keys SET stream = 'request/x'`,
		`DELETE FROM keys`,
		`INSERT INTO events SELECT 9999, stream, 99, type, id, version, wall, boot, since, principal, kind, channel,
			session, run, request, call, payload, commitment, prev, hash FROM events WHERE type = 'approval.resolved'`,
		`INSERT INTO events SELECT 9999, stream, pos, type, id, version, wall, boot, since, principal, kind, channel,
			session, run, request, call, payload, commitment, prev, hash FROM events WHERE seq = 2`,
	} {
		c, err := engine.OpenConn(path, engine.OpenReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		if err := sqlitex.ExecuteScript(c, script, nil); engine.ErrCode(err).ToPrimary() != engine.ResultConstraint {
			t.Errorf("%v for %s", err, script)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sound(t, l)
}
