//go:build !failpoint

package failpoint

// Enabled says whether this build can be killed at a place.
const Enabled = false

// Hit marks a place. It does nothing in this build.
func Hit(string) {}
