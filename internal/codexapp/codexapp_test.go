package codexapp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a server says between the question and the answer is passed over, and
// what is no answer is an error and never an empty list.
func TestAsk(t *testing.T) {
	const before = `{"id":1,"result":{"userAgent":"x"}}` + "\n" + `{"method":"configWarning","params":{"summary":"x"}}` + "\n" +
		`{"id":2,"method":"item/commandExecution/requestApproval","params":{}}` + "\n"
	for name, tt := range map[string]struct {
		said string
		want []Hook
		err  string
	}{
		"two folders": {before + `{"id":2,"result":{"data":[{"cwd":"/a","hooks":[{"key":"k","eventName":"preToolUse","enabled":true,"trustStatus":"trusted"}]},` +
			`{"cwd":"/b","hooks":[{"key":"l","enabled":false,"trustStatus":"trusted"},{"key":"m","enabled":true,"trustStatus":"modified"}]}]}}` + "\n",
			[]Hook{{Key: "k", Event: "preToolUse", Enabled: true, Trust: "trusted"}, {Key: "l", Trust: "trusted"}, {Key: "m", Enabled: true, Trust: "modified"}}, ""},
		"a refusal":      {before + `{"id":2,"error":{"code":-32601,"message":"no such method"}}` + "\n", nil, "no such method"},
		"nothing":        {before, nil, "ended without an answer"},
		"no JSON":        {"codex: not found\n", nil, "invalid"},
		"half an answer": {before + `{"id":2,"result":{"data":[`, nil, "invalid"},
	} {
		var asked strings.Builder
		got, err := ask(&asked, strings.NewReader(tt.said), "/a")
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if !strings.Contains(asked.String(), `"cwds":["/a"]`) || strings.Count(asked.String(), "\n") != 3 {
			t.Errorf("%s: it was asked %s", name, asked.String())
		}
	}
	runs := []bool{Hook{Enabled: true, Trust: "trusted"}.Runs(), Hook{Enabled: true, Trust: "managed"}.Runs(),
		Hook{Enabled: true, Trust: "untrusted"}.Runs(), Hook{Trust: "trusted"}.Runs(), Hook{}.Runs()}
	if d := cmp.Diff([]bool{true, true, false, false, false}, runs); d != "" {
		t.Error(d)
	}
}
