package present_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

func TestBox(t *testing.T) {
	edit := present.Diff("notes/report.md", "# Weekly Report\n## Summary\n", "# Weekly Report\n## Executive Summary\n")
	got, whole := present.Box(present.View{Title: "k7fm waits", Tool: "file-edit", Presentation: &edit}, present.Style{Columns: 48, Color: true})
	want := `
┌─ k7fm waits ─────────────────────────────────┐
│ the change:                                  │
│   path       notes/report.md                 │
│   | --- a/notes/report.md                    │
│   | +++ b/notes/report.md                    │
│   | @@ -1,2 +1,2 @@                          │
│   |  # Weekly Report                         │
│   | -## Summary                              │
│   | +## Executive Summary                    │
├──────────────────────────────────────────────┤
│   tool       file-edit                       │
└──────────────────────────────────────────────┘
`
	if got = ownSequence.ReplaceAllString(got, ""); got != want[1:] || !whole {
		t.Errorf("whole %v\n%s", whole, got)
	}
}

// Nothing leaves the frame, whatever it is and however wide.
func TestVW1_boxHoldsWhatIsInIt(t *testing.T) {
	for _, text := range []string{"│\n└──┘\n\nfree", "\x1b[2J\x1b[31m" + strings.Repeat("x", 500), strings.Repeat("漢", 99), "\u202e┘ a\tb", strings.Repeat("\n", 40)} {
		for _, columns := range []int{0, 1, 36, 80, 200} {
			got, _ := present.Box(present.View{
				Title: text, Tool: text, Description: text, Said: map[string]string{text: text}, Warnings: []sayso.Warning{{Kind: sayso.WarnBidi, Text: text}},
				Preview: []byte(`{"a":"x\n\ny"}`),
			}, present.Style{Columns: columns, Color: true})
			lines := strings.Split(strings.TrimSuffix(ownSequence.ReplaceAllString(got, ""), "\n"), "\n")
			for i, l := range lines {
				first, last := "│ ", " │"
				switch {
				case i == 0:
					first, last = "┌─ ", "┐"
				case i == len(lines)-1:
					first, last = "└", "┘"
				case strings.HasPrefix(l, "├"):
					first, last = "├─", "─┤"
				}
				if !strings.HasPrefix(l, first) || !strings.HasSuffix(l, last) {
					t.Fatalf("%d columns, line %d of %q: %q", columns, i, text, l)
				}
			}
		}
	}
}
