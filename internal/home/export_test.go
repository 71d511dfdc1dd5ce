package home

import "testing"

// ShortPlace makes a folder the one for sockets whose path would be too long.
func ShortPlace(t *testing.T, dir string) {
	old := shortPlace
	shortPlace = dir
	t.Cleanup(func() { shortPlace = old })
}
