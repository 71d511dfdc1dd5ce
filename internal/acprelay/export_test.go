package acprelay

import "testing"

// SetMaxMessage has messages of fewer bytes be too long, for one test.
func SetMaxMessage(t *testing.T, n int) {
	before := maxMessage
	maxMessage = n
	t.Cleanup(func() { maxMessage = before })
}
