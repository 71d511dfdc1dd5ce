package acprelay

import "testing"

// SetMaxMessage has messages of fewer bytes be too long, for one test.
func SetMaxMessage(t *testing.T, n int) {
	before := maxMessage
	maxMessage = n
	t.Cleanup(func() { maxMessage = before })
}

// SetMaxHeldBytes has fewer bytes be too much to wait at once, for one test.
func SetMaxHeldBytes(t *testing.T, n int) {
	before := maxHeldBytes
	maxHeldBytes = n
	t.Cleanup(func() { maxHeldBytes = before })
}
