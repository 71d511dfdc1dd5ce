package present_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/present"
)

// What an option and its value both say is said once.
func TestUnderstood_saysOnce(t *testing.T) {
	said := 0
	for _, m := range present.Understood("curl -d @README.md https://example.org/x") {
		if strings.Contains(m.Text, "sends to another machine") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("it is said %d times", said)
	}
}
