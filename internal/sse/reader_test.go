package sse_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sayso-dev/sayso/internal/sse"
)

func event(id, name, data string) sse.Event {
	return sse.Event{ID: id, Name: name, Data: []byte(data)}
}

func TestReader(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream string
		want   []sse.Event
	}{
		{"empty", "", nil},
		{"two events", "data: a\n\ndata: b\n\n", []sse.Event{event("", "message", "a"), event("", "message", "b")}},
		{"all fields", "event: e\nid: 1\ndata: a\n\n", []sse.Event{event("1", "e", "a")}},
		{"lines are joined", "data: a\ndata: b\ndata\n\n", []sse.Event{event("", "message", "a\nb\n")}},
		{"CR LF", "id: 1\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []sse.Event{event("1", "message", "a"), event("1", "message", "b")}},
		{"CR", "id: 1\rdata: a\r\rdata: b\r\r", []sse.Event{event("1", "message", "a"), event("1", "message", "b")}},
		{"mixed ends", "data: a\rdata: b\r\ndata: c\n\r\n", []sse.Event{event("", "message", "a\nb\nc")}},
		{"byte order mark", "\ufeffdata: a\n\n", []sse.Event{event("", "message", "a")}},
		{"second mark is part of the name", "\ufeff\ufeffdata: a\n\n", nil},
		{"mark on a later line", "\n\ufeffdata: a\n\n", nil},
		{"comments", ": hi\n:\n:data: no\ndata: a\n: in between\ndata: b\n\n: bye\n\n", []sse.Event{event("", "message", "a\nb")}},
		{"one space is taken", "data:a\n\ndata: a\n\ndata:  a\n\ndata:\ta\n\n", []sse.Event{
			event("", "message", "a"), event("", "message", "a"), event("", "message", " a"), event("", "message", "\ta"),
		}},
		{"colons in values", "data: a: b\n\n", []sse.Event{event("", "message", "a: b")}},
		{"empty data is an event", "data\n\ndata:\n\n", []sse.Event{event("", "message", ""), event("", "message", "")}},
		{"two empty lines of data", "data\ndata\n\n", []sse.Event{event("", "message", "\n")}},
		{"no data is none", "event: e\nid: 3\n\ndata: a\n\n", []sse.Event{event("3", "message", "a")}},
		{"name does not last", "event: e\ndata: a\n\ndata: b\n\n", []sse.Event{event("", "e", "a"), event("", "message", "b")}},
		{"last name counts", "event: e\nevent: f\ndata: a\n\n", []sse.Event{event("", "f", "a")}},
		{"empty name", "event: e\nevent\ndata: a\n\n", []sse.Event{event("", "message", "a")}},
		{"id lasts", "id: 1\ndata: a\n\ndata: b\n\n", []sse.Event{event("1", "message", "a"), event("1", "message", "b")}},
		{"id without value", "id: 1\ndata: a\n\nid\ndata: b\n\n", []sse.Event{event("1", "message", "a"), event("", "message", "b")}},
		{"id with NUL", "id: 1\ndata: a\n\nid: 2\x003\ndata: b\n\n", []sse.Event{event("1", "message", "a"), event("1", "message", "b")}},
		{"unknown fields", "foo: bar\nDATA: no\n data: no\ndata : no\ndata: a\n\n", []sse.Event{event("", "message", "a")}},
		{"cut off event", "data: a\n\ndata: b\n", []sse.Event{event("", "message", "a")}},
		{"cut off line", "data: a\n\ndata: b", []sse.Event{event("", "message", "a")}},
		{"not UTF-8", "data: a\xffb\n\n", []sse.Event{event("", "message", "a\ufffdb")}},
		{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", []sse.Event{event("", "message", "a")}},
	} {
		for chunks, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r },
			"bytes": iotest.OneByteReader,
			"eof":   iotest.DataErrReader,
		} {
			t.Run(c.name+"/"+chunks, func(t *testing.T) {
				got, err := readAll(sse.NewReader(wrap(strings.NewReader(c.stream)), 0))
				if err != io.EOF {
					t.Errorf("error = %v, want EOF", err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

func readAll(r *sse.Reader) ([]sse.Event, error) {
	var all []sse.Event
	for {
		e, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
}

// The id to resume from is that of the last event that arrived whole.
func TestReaderLastID(t *testing.T) {
	r := sse.NewReader(strings.NewReader("id: 1\ndata: a\n\nid: 2\n\nid: 3\ndata: c\n"), 0)
	if _, err := r.Next(); err != nil || r.LastID() != "1" {
		t.Errorf("after the first event: %q, %v", r.LastID(), err)
	}
	if _, err := r.Next(); err != io.EOF || r.LastID() != "2" {
		t.Errorf("at the end: %q, %v, want 2, for 3 was cut off", r.LastID(), err)
	}
}

func TestReaderRetry(t *testing.T) {
	for stream, want := range map[string]time.Duration{
		"":                                 0,
		"retry: 1500\n\n":                  1500 * time.Millisecond,
		"retry: 1500\nretry: 15x\n":        1500 * time.Millisecond,
		"retry: -1\n":                      0,
		"retry: +1\n":                      0,
		"retry\n":                          0,
		"retry: 1.5\n":                     0,
		"retry: 99999999999999999999999\n": 0,
		"retry: 9223372036854775807\n":     0,
	} {
		r := sse.NewReader(strings.NewReader(stream), 0)
		if _, err := r.Next(); err != io.EOF || r.Retry() != want {
			t.Errorf("%q: retry = %v, %v, want %v", stream, r.Retry(), err, want)
		}
	}
}

func TestReaderLimit(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		events       int
		want         error
	}{
		{"line at the limit", "data: " + strings.Repeat("x", 26) + "\n\n", 1, io.EOF},
		{"line beyond", "data: a\n\ndata: " + strings.Repeat("x", 27) + "\n\n", 1, sse.ErrTooLong},
		{"line without end", strings.Repeat("x", 1000), 0, sse.ErrTooLong},
		{"comment beyond", ":" + strings.Repeat("x", 32) + "\n\n", 0, sse.ErrTooLong},
		{"many lines", strings.Repeat("data: xxxxxxxxx\n", 3) + "\n", 1, io.EOF},
		{"too many lines", strings.Repeat("data: xxxxxxxxx\n", 4) + "\n", 0, sse.ErrTooLong},
		{"too many empty lines", strings.Repeat("data\n", 34) + "\n", 0, sse.ErrTooLong},
		{"many events", strings.Repeat("data: xxxxxxxxx\n\n", 40), 40, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := sse.NewReader(strings.NewReader(c.stream), 32)
			got, err := readAll(r)
			if len(got) != c.events || !errors.Is(err, c.want) {
				t.Errorf("%d events and %v, want %d and %v", len(got), err, c.events, c.want)
			}
			if _, again := r.Next(); again != err {
				t.Errorf("error changed from %v to %v", err, again)
			}
		})
	}
}

func TestReaderKeepsCause(t *testing.T) {
	broken := errors.New("connection reset")
	r := sse.NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 0)
	got, err := readAll(r)
	if len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("%d events and %v, want 1 and the cause", len(got), err)
	}
}

// An event that ends in a bare CR must not wait for the byte after it.
func TestReaderDoesNotWaitAfterCR(t *testing.T) {
	in, out := io.Pipe()
	go func() {
		// The stream stays open: a reader that wants more would hang here.
		_, _ = out.Write([]byte("data: a\r\r"))
	}()
	e, err := sse.NewReader(in, 0).Next()
	if err != nil || string(e.Data) != "a" {
		t.Errorf("Next = %q, %v", e.Data, err)
	}
	_ = out.Close()
}

// The data of an event must survive the next one.
func TestReaderDataIsTheCallers(t *testing.T) {
	got, _ := readAll(sse.NewReader(strings.NewReader("data: aaaa\n\ndata: bbbb\n\n"), 0))
	if len(got) != 2 || string(got[0].Data) != "aaaa" {
		t.Errorf("events = %q", got)
	}
}
