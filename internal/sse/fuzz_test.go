package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/sayso-dev/sayso/internal/sse"
)

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// What the writer takes, the reader gives back, and nothing else: no text can
// forge a second event, and what stands around it arrives as well.
func FuzzRoundTrip(f *testing.F) {
	f.Add("1", "decided", []byte(`{"a":1}`), "beat")
	f.Add("", "", []byte(""), "")
	f.Add("2", "e", []byte("a\r\nb\rc\n\n"), "x\ndata: forged")
	f.Add("\x00", "a\nb", []byte("\n\ndata: forged\n\n"), "\r\r")
	f.Add(" ", " ", []byte(" : \ufeff"), "\xff")
	f.Fuzz(func(t *testing.T, id, name string, data []byte, comment string) {
		var stream bytes.Buffer
		w := sse.NewWriter(&stream, nil)
		var want []sse.Event
		add := func(id, name string, data []byte) {
			if err := w.Event(id, name, data); err != nil {
				if !errors.Is(err, sse.ErrField) {
					t.Fatal(err)
				}
				return
			}
			want = append(want, wanted(want, id, name, data))
		}
		add("first", "", nil)
		add(id, name, data)
		if err := w.Comment(comment); err != nil && !errors.Is(err, sse.ErrField) {
			t.Fatal(err)
		}
		add("", "last", data)
		for _, r := range []io.Reader{bytes.NewReader(stream.Bytes()), iotest.OneByteReader(&stream)} {
			got, err := readAll(sse.NewReader(r, 0))
			if err != io.EOF {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}

// wanted is the event as it must arrive after those before it.
func wanted(before []sse.Event, id, name string, data []byte) sse.Event {
	if id == "" && len(before) > 0 {
		id = before[len(before)-1].ID
	}
	if name == "" {
		name = sse.DefaultName
	}
	return sse.Event{ID: id, Name: name, Data: []byte(lineEnds.Replace(string(data)))}
}

// Chunks and line ends change nothing, and no stream makes the reader hold more
// than its limit.
func FuzzReader(f *testing.F) {
	f.Add("id: 1\nevent: e\ndata: a\ndata: b\n\n: c\n\nretry: 5\n\n")
	f.Add("\ufeffdata\r\rdata\r\n\r\nid\x00\n")
	f.Add("data: \xff\n\nid: 1\x00\ndata\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		const limit = 64
		want, wantErr := readAll(sse.NewReader(strings.NewReader(stream), limit))
		for _, e := range want {
			if len(e.Data) > 4*limit { // bytes that are not UTF-8 grow to three
				t.Fatalf("data of %d bytes", len(e.Data))
			}
		}
		same := lineEnds.Replace(stream)
		for name, r := range map[string]io.Reader{
			"byte by byte": iotest.OneByteReader(strings.NewReader(stream)),
			"LF":           strings.NewReader(same),
			"CR":           strings.NewReader(strings.ReplaceAll(same, "\n", "\r")),
			"CR LF":        iotest.HalfReader(strings.NewReader(strings.ReplaceAll(same, "\n", "\r\n"))),
		} {
			got, err := readAll(sse.NewReader(r, limit))
			if diff := cmp.Diff(want, got); diff != "" || errors.Is(err, sse.ErrTooLong) != errors.Is(wantErr, sse.ErrTooLong) {
				t.Fatalf("%s: error %v, want %v (-want +got):\n%s", name, err, wantErr, diff)
			}
		}
	})
}
