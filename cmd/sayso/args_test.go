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
