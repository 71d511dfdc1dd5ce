package hook_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/hook"
)

// What goes wrong is told on one line, without what must not be shown, and with
// what to type where that is known.
func TestMain_tellsErrorsPlainly(t *testing.T) {
	open := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	const call = `{"session_id":"s1","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"ls"}}`
	for name, c := range map[string]struct {
		environ []string
		input   string
		want    string
	}{
		"a secret in a setting": {[]string{"SAYSO_HOME=" + t.TempDir(), "SAYSO_PATIENCE=password=Zq81Xk7Wv99Np3"}, call, "patience must be a time"},
		"a secret as a name":    {nil, `{"session_id":"s1","ghp_Zq81Xk7Wv99Np3Zq81Xk7Wv99Np3Zq81Xk7Wv99N":1,"ghp_Zq81Xk7Wv99Np3Zq81Xk7Wv99Np3Zq81Xk7Wv99N":1}`, "could not be read strictly"},
		"a folder open to all":  {[]string{"SAYSO_HOME=" + open}, call, "type: chmod 700 " + open},
		"no place":              {nil, call, "SAYSO_HOME"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			exit := -1
			hook.Main(hook.Env{
				Args: []string{"claude-code"}, Environ: c.environ, Stdin: strings.NewReader(c.input),
				Stdout: &out, Stderr: &errs, Exit: func(code int) { exit = code },
			})
			said := errs.String()
			if exit != 2 || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 || strings.Contains(said+out.String(), "Zq81Xk7W") {
				t.Errorf("exit status %d, said %q, wrote %q; want %q", exit, said, out.String(), c.want)
			}
		})
	}
}
