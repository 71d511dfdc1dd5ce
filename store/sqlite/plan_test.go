package sqlite

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// TestPlans keeps every query that a broker makes away from reading all of a
// table.
func TestPlans(t *testing.T) {
	l, err := Open(t.Context(), filepath.Join(t.TempDir(), "state", "log.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	digest := sayso.HashOf("digest")
	queries := map[string]string{"open requests": openOfAll, "open requests of a session": openOfSession, "length": lengthOf,
		"a request that is absent": unspentExists, "a grant that is absent": grantExists}
	for name, q := range map[string]sayso.RowQuery{
		"open rows":            {States: []sayso.State{sayso.StateOpen, sayso.StateParked}, Oldest: true},
		"a page of open rows":  {States: sayso.OpenStates(), Before: 7},
		"open rows of some":    {States: []sayso.State{sayso.StateOpen}, Sessions: []string{"a", "b"}},
		"what may be taken up": {Session: "a", Digest: digest, Unspent: true, Oldest: true},
		"what may lapse":       {States: []sayso.State{sayso.StateAllowed}, Unspent: true, Oldest: true},
		"a group":              {Group: "g", Oldest: true},
		"a session":            {Session: "a", Tool: "bash", Since: time.Now(), Before: 7},
		"a call":               {Session: "a", CallID: "c"},
		"a call that waits":    {Session: "a", CallID: "c", States: sayso.OpenStates(), Oldest: true},
		"some sessions":        {Sessions: []string{"a", "b"}},
	} {
		queries[name], _ = rowQuery(q)
	}
	for name, keys := range map[string][]sayso.Digest{"a grant": {digest}, "grants": {digest, sayso.HashOf("x"), sayso.HashOf("y")}} {
		queries[name], _ = grantQuery(keys, "", false)
	}
	queries["grants of a session"], _ = grantQuery(nil, "a", false)
	err = l.read(t.Context(), "plan", func(c *sqlite.Conn) error {
		for name, query := range queries {
			err := run(c, "EXPLAIN QUERY PLAN "+query, func(st *sqlite.Stmt) error {
				step := st.ColumnText(3)
				if strings.HasPrefix(step, "SCAN requests") && !strings.Contains(step, "request_open") &&
					!strings.Contains(step, "request_unspent") || strings.HasPrefix(step, "SCAN e") ||
					strings.HasPrefix(step, "SCAN grants") {
					t.Errorf("%s: %s", name, step)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPlans_ofWrites keeps the statements of an append from making temporary
// tables, which takes longer than all else that they do.
func TestPlans_ofWrites(t *testing.T) {
	l, err := Open(t.Context(), filepath.Join(t.TempDir(), "state", "log.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	queries := []string{insertEvent, insertContent, insertKey, insertRequest, unspentExists, grantExists, lengthOf}
	queries = slices.AppendSeq(queries, maps.Values(updateStatements))
	err = l.read(t.Context(), "plan", func(c *sqlite.Conn) error {
		for _, query := range queries {
			err := run(c, "EXPLAIN "+query, func(st *sqlite.Stmt) error {
				if op := st.ColumnText(1); op == "OpenEphemeral" || op == "OpenAutoindex" {
					t.Errorf("%s in %s", op, query)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
