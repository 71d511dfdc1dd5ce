package sse_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/sse"
)

func TestWriterEvent(t *testing.T) {
	for _, c := range []struct {
		name            string
		id, event, data string
		want            string
	}{
		{"all", "7", "decided", `{"a":1}`, "id: 7\nevent: decided\ndata: {\"a\":1}\n\n"},
		{"data alone", "", "", "x", "data: x\n\n"},
		{"empty data", "1", "", "", "id: 1\ndata: \n\n"},
		{"every line end", "", "", "a\nb\rc\r\nd", "data: a\ndata: b\ndata: c\ndata: d\n\n"},
		{"LF then CR", "", "", "a\n\rb", "data: a\ndata: \ndata: b\n\n"},
		{"line end last", "", "", "a\n", "data: a\ndata: \n\n"},
		{"leading space", " 1", " n", " x", "id:  1\nevent:  n\ndata:  x\n\n"},
		{"data like fields", "", "", "x\n\nid: 9\nevent: granted", "data: x\ndata: \ndata: id: 9\ndata: event: granted\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if err := sse.NewWriter(&b, nil).Event(c.id, c.event, []byte(c.data)); err != nil {
				t.Fatal(err)
			}
			if b.String() != c.want {
				t.Errorf("wrote %q, want %q", b.String(), c.want)
			}
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	for _, c := range []struct{ name, id, event, data string }{
		{"LF in id", "1\nevent: granted", "", "x"},
		{"CR in id", "1\r", "", "x"},
		{"NUL in id", "1\x00", "", "x"},
		{"LF in name", "", "a\n\ndata: granted", "x"},
		{"CR in name", "", "a\rb", "x"},
		{"id is not UTF-8", "\xff", "", "x"},
		{"name is not UTF-8", "", "\xff", "x"},
		{"data is not UTF-8", "", "", "x\xff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			w := sse.NewWriter(&b, nil)
			if err := w.Event(c.id, c.event, []byte(c.data)); !errors.Is(err, sse.ErrField) {
				t.Errorf("error = %v, want ErrField", err)
			}
			if b.Len() > 0 {
				t.Errorf("wrote %q", b.String())
			}
			if err := w.Event("1", "a", nil); err != nil {
				t.Errorf("the stream is whole, yet the next event fails: %v", err)
			}
		})
	}
}

func TestWriterCommentAndRetry(t *testing.T) {
	var b strings.Builder
	w := sse.NewWriter(&b, nil)
	for _, err := range []error{w.Comment(""), w.Comment("a\nb\r\ndata: c"), w.Retry(1500 * time.Millisecond), w.Retry(1), w.Retry(0)} {
		if err != nil {
			t.Error(err)
		}
	}
	want := ": \n\n: a\n: b\n: data: c\n\nretry: 1500\n\nretry: 1\n\nretry: 0\n\n"
	if b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	if err := w.Retry(-time.Second); !errors.Is(err, sse.ErrField) {
		t.Errorf("negative retry: %v", err)
	}
	if err := w.Comment("\xff"); !errors.Is(err, sse.ErrField) {
		t.Errorf("comment that is not UTF-8: %v", err)
	}
}

// pipe counts writes and flushes and fails when told to.
type pipe struct {
	writes, flushes     int
	writeErr, flushErr  error
	flushedBeforeWrites bool
}

func (p *pipe) Write(b []byte) (int, error) {
	p.writes++
	return len(b), p.writeErr
}

func (p *pipe) Flush() error {
	p.flushes++
	p.flushedBeforeWrites = p.flushedBeforeWrites || p.flushes > p.writes
	return p.flushErr
}

func TestWriterFlushesEachPiece(t *testing.T) {
	var p pipe
	w := sse.NewWriter(&p, p.Flush)
	for range 3 {
		if err := w.Event("1", "a", []byte("x\ny")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Comment("beat"); err != nil {
		t.Fatal(err)
	}
	if p.writes != 4 || p.flushes != 4 || p.flushedBeforeWrites {
		t.Errorf("%d writes and %d flushes, want 4 of each in turn", p.writes, p.flushes)
	}
}

func TestWriterStaysBroken(t *testing.T) {
	broken := errors.New("broken pipe")
	for name, p := range map[string]*pipe{"write": {writeErr: broken}, "flush": {flushErr: broken}} {
		t.Run(name, func(t *testing.T) {
			w := sse.NewWriter(p, p.Flush)
			if err := w.Event("1", "", []byte("x")); !errors.Is(err, broken) {
				t.Fatalf("error = %v", err)
			}
			p.writeErr, p.flushErr = nil, nil
			if err := w.Comment("beat"); !errors.Is(err, broken) {
				t.Errorf("error after a failure = %v, want it again", err)
			}
			if p.writes != 1 {
				t.Errorf("%d writes, want none after the failure", p.writes)
			}
		})
	}
}
