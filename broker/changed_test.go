package broker_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// A project's settings bring a second hook, which replaces the arguments of a
// call after it was approved. The host runs the others; nothing here can stop
// it, but the record says that what ran is not what was allowed.
func TestHK2_saysThatOtherArgumentsRan(t *testing.T) {
	for name, tt := range map[string]struct{ args, want string }{
		"the same":            {`{"command":"git push"}`, "finished"},
		"in another spelling": {`{ "command": "git\u0020push" }`, "finished"},
		"others":              {`{"command":"touch pwned"}`, "changed"},
		"not told":            {``, "finished"},
	} {
		bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
			d := w.allowed(atOnce("c1"))
			if err := w.b.Gate(agent).Report(t.Context(), sayso.Outcome{Request: d.Request, Args: sayso.Args(tt.args)}); err != nil {
				t.Fatal(err)
			}
			if got := w.request(d.Request).Outcome; got != tt.want {
				t.Errorf("%s: the outcome is %q, want %q", name, got, tt.want)
			}
		})
	}
}
