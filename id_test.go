package sayso_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

func TestNewID(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 1))
	seen := map[sayso.ID]bool{}
	var last sayso.ID
	for i := range 1000 {
		var random [16]byte
		for k := range random {
			random[k] = byte(luck.Uint32())
		}
		id := sayso.NewID(noon.Add(time.Duration(i)*time.Millisecond), random)
		if seen[id] || id <= last {
			t.Fatalf("id %s comes after %s", id, last)
		}
		seen[id], last = true, id
		if got, err := sayso.ParseID(string(id)); got != id || err != nil {
			t.Fatalf("%s is read as %q, %v", id, got, err)
		}
		if len(id) != 36 || strings.ContainsAny(string(id), "ilouILOU-_") {
			t.Fatalf("%s is hard to read out", id)
		}
	}
}

// All 128 bits count, and the time before 1970 is no reason to fail.
func TestNewID_everyBit(t *testing.T) {
	zero := sayso.NewID(noon, [16]byte{})
	for bit := range 128 {
		var random [16]byte
		random[bit/8] = 1 << (bit % 8)
		if id := sayso.NewID(noon, random); id == zero || id[:10] != zero[:10] {
			t.Errorf("bit %d: %s and %s", bit, id, zero)
		}
	}
	if early := sayso.NewID(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC), [16]byte{}); early[:10] != "0000000000" {
		t.Errorf("an id of 1960 is %s", early)
	}
}

func TestParseID_refuses(t *testing.T) {
	id := string(sayso.NewID(noon, [16]byte{1, 2, 3}))
	for _, s := range []string{
		"", id[:35], id + "0", strings.ToUpper(id), " " + id[1:], id[:35] + "\n", id[:35] + "u", id[:34] + "é", "../" + id[3:], id[:35] + "%",
	} {
		if got, err := sayso.ParseID(s); got != "" || !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%q is read as %q, %v", s, got, err)
		}
	}
}

func TestID_matches(t *testing.T) {
	id := sayso.NewID(noon, [16]byte{0xab, 0xcd, 0xef, 1, 2, 3})
	if id.Short() != string(id[10:14]) {
		t.Errorf("%s is %s in short", id, id.Short())
	}
	for typed, want := range map[string]bool{
		id.Short(): true, string(id[10:20]): true, string(id[10:]): true, string(id): true,
		"": false, string(id[10:13]): false, string(id[:14]): false, string(id[11:15]): false, id.Short() + "0": false,
		strings.ToUpper(string(id)): false, string(id) + "0": false, "%": false, "____": false,
	} {
		if got := id.Matches(typed); got != want {
			t.Errorf("%q names %s: %v, want %v", typed, id, got, want)
		}
	}
	for _, none := range []sayso.ID{"", "abcd", "abcdef"} {
		if none.Matches(string(none)) || none.Short() != string(none) {
			t.Errorf("%q, which is no id, is named by itself", none)
		}
	}
}

func TestID_Time(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 47, 28, 310*int(time.Millisecond), time.UTC)
	for want, id := range map[time.Time]sayso.ID{
		at:                      sayso.NewID(at.Add(999*time.Microsecond), [16]byte{1, 2, 3}),
		time.UnixMilli(0).UTC(): sayso.NewID(time.Unix(-1, 0), [16]byte{}),
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC): sayso.NewID(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), [16]byte{255}),
	} {
		if got := id.Time(); !got.Equal(want) {
			t.Errorf("%s was made at %v, not %v", id, want, got)
		}
	}
	for _, none := range []sayso.ID{"", "k7fm", sayso.NewID(at, [16]byte{})[:35], "UUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUU"} {
		if got := none.Time(); !got.IsZero() {
			t.Errorf("%q, which is no id, was made at %v", none, got)
		}
	}
}
