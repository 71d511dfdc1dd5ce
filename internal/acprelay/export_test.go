package acprelay

import "testing"

// SetMaxMessage has messages of fewer bytes be too long, for one test.
func SetMaxMessage(t *testing.T, n int) {
	before := maxMessage
	maxMessage = n
	t.Cleanup(func() { maxMessage = before })
}

// SetMaxWeight has fewer bytes be too much to wait at once, for one test.
func SetMaxWeight(t *testing.T, n int) {
	before := maxWeight
	maxWeight = n
	t.Cleanup(func() { maxWeight = before })
}
