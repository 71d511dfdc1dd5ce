package sqlite

import (
	"context"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// Rebuild drops the rows of requests and grants and makes them again from the
// log. Keys are no projection: they are names that events do not hold. Others
// wait meanwhile.
func (l *Log) Rebuild(ctx context.Context) error {
	err := l.exec(ctx, "rebuild", func(c *sqlite.Conn) error {
		if err := secureDelete(c); err != nil {
			return err
		}
		return writeTransaction(c, func() error {
			if err := runScript(c, projections...); err != nil {
				return err
			}
			return l.replay(ctx, c)
		})
	})
	if err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return nil
}

// replay fills the empty projections from the log.
func (l *Log) replay(ctx context.Context, c *sqlite.Conn) error {
	r := projector{conn: c, streams: map[string]*streamState{}}
	return l.eachEvent(ctx, c, r.apply)
}

type projector struct {
	conn    *sqlite.Conn
	streams map[string]*streamState // requests that are not over
}

func (r *projector) apply(e *sayso.Event) error {
	if !strings.HasPrefix(e.Stream, requestPrefix) && !strings.HasPrefix(e.Stream, grantPrefix) {
		return nil
	}
	st, err := r.stream(e)
	if err != nil {
		return err
	}
	b, err := readFirst(e)
	if err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	d := batchWrite{conn: r.conn}
	if err := d.project(st, e, b); err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	if err := st.save(r.conn, e.Stream); err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	if st.row == nil || st.row.Spent {
		delete(r.streams, e.Stream)
	}
	return nil
}

// stream returns what the events before e made of their stream.
func (r *projector) stream(e *sayso.Event) (*streamState, error) {
	st, ok := r.streams[e.Stream]
	if ok {
		return st, nil
	}
	st = &streamState{}
	r.streams[e.Stream] = st
	if e.Pos > 1 && strings.HasPrefix(e.Stream, requestPrefix) {
		return st, st.load(r.conn, sayso.StreamID(e.Stream))
	}
	return st, nil
}

// makeTempProjections makes empty projections under the same names in the temporary
// database of a connection, which unqualified names find first.
func makeTempProjections(c *sqlite.Conn) error {
	for _, name := range projections {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		for query := range strings.SplitSeq(string(text), ";") {
			query = toTemp.Replace(strings.TrimSpace(stripComments(query)))
			if query == "" || strings.HasPrefix(query, "DROP TABLE") {
				continue
			}
			if err := run(c, query, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

var toTemp = strings.NewReplacer("CREATE TABLE ", "CREATE TEMP TABLE ",
	"CREATE INDEX ", "CREATE INDEX temp.", "CREATE UNIQUE INDEX ", "CREATE UNIQUE INDEX temp.",
	"DROP INDEX ", "DROP INDEX temp.")

func stripComments(query string) string {
	var out strings.Builder
	for line := range strings.Lines(query) {
		code, _, _ := strings.Cut(line, "--")
		out.WriteString(code)
	}
	return out.String()
}
