package present

import "testing"

// The difference that is shown where no shorter one can be trusted fits too.
func TestReplaced_applies(t *testing.T) {
	for _, tt := range [][2]string{{"", "a\n"}, {"a\n", ""}, {"a\nb\n", "c\nd\n"}, {"a", "b"}, {"a\n\n", "a\n"}, {"a\r\nb", "\n"}, {"-- a\n", "++ b\n"}} {
		diff := replaced("f", tt[0], tt[1])
		if got, err := Apply(diff, tt[0]); err != nil || got != tt[1] {
			t.Errorf("from %q to %q: %q, %v\n%s", tt[0], tt[1], got, err, diff)
		}
	}
}
