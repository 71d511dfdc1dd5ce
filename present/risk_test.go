package present

import (
	"os"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

// A terminal and the page call the same thing by the same name.
func TestRisk_asThePageSays(t *testing.T) {
	page, err := os.ReadFile("../web/ui/src/words.ts")
	if err != nil {
		t.Fatal(err)
	}
	says := func(name, word string) {
		if !strings.Contains(string(page), name+": '"+word+"'") {
			t.Errorf("the page does not say %q of %s", word, name)
		}
	}
	for r, word := range risks {
		says(string(r), word)
	}
	for d, word := range dangers {
		says(string(d), word)
	}
}

func TestRisk(t *testing.T) {
	for _, c := range []struct {
		risk   sayso.Risk
		danger []sayso.Danger
		want   string
	}{
		{sayso.RiskSafe, nil, "safe"},
		{sayso.RiskDestructive, nil, "may do anything"},
		{sayso.RiskDestructive, []sayso.Danger{sayso.DangerDelete}, "danger"},
		{sayso.RiskSafe, []sayso.Danger{sayso.DangerRule}, "danger"},
		{"of\ntomorrow", nil, `of\ntomorrow`},
	} {
		if got := Risk(c.risk, c.danger); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.risk, c.danger, got, c.want)
		}
	}
}
