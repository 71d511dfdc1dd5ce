package main

import (
	"testing"
	"time"
)

func TestParseLasting(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "7d": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour, "0.5d": 12 * time.Hour, "1h30m": 90 * time.Minute,
	} {
		if got, err := parseLasting(text); got != want || err != nil {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "7", "h", "1hd", "1d1", "1d1d", "9999999999d"} {
		if got, err := parseLasting(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestTypedAs(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"30d": 720 * time.Hour, "1d": 24 * time.Hour, "36h": 36 * time.Hour, "1m": time.Minute, "2m": 2 * time.Minute, "10m": 10 * time.Minute,
		"1h30m": 90 * time.Minute, "1h": time.Hour, "20s": 20 * time.Second, "1m10s": 70 * time.Second, "1h0m10s": time.Hour + 10*time.Second,
	} {
		if got := typedAs(d); got != want {
			t.Errorf("%v is typed as %q; want %q", d, got, want)
		}
		if back, err := parseLasting(want); back != d || err != nil {
			t.Errorf("%q is read as %v, %v", want, back, err)
		}
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 5, 2, 12, 0, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"12": {}, "0": {}, "1h": now.Add(-time.Hour), "7d": now.Add(-7 * 24 * time.Hour), "2026-05-01": time.Date(2026, 5, 1, 0, 0, 0, 0, time.Local),
		"2026-05-01 08:30:00": time.Date(2026, 5, 1, 8, 30, 0, 0, time.Local), "2026-05-01T08:30:00Z": time.Date(2026, 5, 1, 8, 30, 0, 0, time.UTC),
	} {
		var s since
		if err := s.Set(text); err != nil || !s.from(now).Equal(want) || (s.position == 12) != (text == "12") {
			t.Errorf("%q is read as %+v, %v; want %v", text, s, err, want)
		}
	}
	for _, text := range []string{"", "soon", "-1h", "-1", "0s", "2026-05", "99999999999999999999"} {
		if err := new(since).Set(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
