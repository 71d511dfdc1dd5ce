package hook

import "testing"

func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		strict bool
		fails  bool
	}{
		{[]string{"claude-code"}, false, false},
		{[]string{"claude-code", "--strict"}, true, false},
		{[]string{"claude-code", "--approve-all", "--for", "30m"}, false, true},
		{[]string{"claude-code", "--strcit"}, false, true},
		{[]string{"--strict"}, false, true},
		{[]string{"claude"}, false, true},
		{nil, false, true},
	} {
		strict, err := flags(tt.args)
		if strict != tt.strict || (err != nil) != tt.fails {
			t.Errorf("%q: strict %v, %v", tt.args, strict, err)
		}
	}
}
