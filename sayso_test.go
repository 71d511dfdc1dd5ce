package sayso_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

func TestDigest_orderAndSpelling(t *testing.T) {
	parse := func(s string) sayso.Digest {
		t.Helper()
		c, err := sayso.ParseCall([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a := parse(`{"tool":"bash","args":{"command":"ls","timeout":1.0}}`)
	b := parse(`{"args":{"timeout":1,"command":"ls"},"tool":"bash","description":"x"}`)
	if a != b {
		t.Errorf("equal calls have digests %s and %s", a, b)
	}
	if c := parse(`{"tool":"bash","args":{"command":"ls","timeout":2}}`); a == c {
		t.Error("different calls have one digest")
	}
}
