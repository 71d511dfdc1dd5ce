package main

import (
	"strings"
	"testing"
)

// A text goes on under itself, and what is to be typed stays in one piece.
func TestHanging(t *testing.T) {
	const text = "codex does not trust the hook yet: it skips it, and `sayso init codex` does not change that; type: codex, and in it /hooks"
	for _, c := range []struct {
		columns    int
		head, want string
	}{
		{0, "agent  ", "agent  " + text},
		{26, "agent  ", "agent  " + text}, // there is no room for it
		{48, "agent  ", `agent  codex does not trust the hook yet: it
       skips it, and ` + "`sayso init codex`" + ` does not
       change that;
       type: codex, and in it /hooks`},
		{37, "agent  ", `agent  codex does not trust the hook
       yet: it skips it, and
       ` + "`sayso init codex` does not" + `
       change that;
       type: codex, and in it /hooks`},
		{80, "", "codex does not trust the hook yet: it skips it, and `sayso init codex` does not\nchange that; type: codex, and in it /hooks"},
	} {
		if got := hanging(c.columns, len(c.head), c.head, text); got != c.want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", c.columns, got, c.want)
		}
	}
	for _, odd := range []string{"", "` alone", "type:", "  two  blanks ", strings.Repeat("x", 100), "日本語の文章 がここに あります よ"} {
		got := hanging(30, 5, "odd  ", odd)
		if words := strings.Join(strings.Fields(got), " "); words != strings.Join(strings.Fields("odd "+odd), " ") {
			t.Errorf("%q became %q", odd, got)
		}
	}
}
