package hook_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/hook"
)

// A host that cannot hand over the whole of its input may take the hook for one
// that failed, and let the call run. So we listen to the end, also
// when it is clear early on that the answer is no.
func TestMain_listensToTheEnd(t *testing.T) {
	large := `{"session_id":"s1","tool_input":{"command":"` + strings.Repeat("x", 2*sayso.MaxCall+4<<20) + `"}}`
	for name, c := range map[string]struct {
		args  []string
		input string
		want  string
	}{
		"a call that is too large": {[]string{"claude-code"}, large, "larger than"},
		"a flag that is unknown":   {[]string{"claude-code", "--strcit"}, large, "knows no"},
		"a host that is unknown":   {[]string{"nobody"}, large, "no host is called"},
		"no JSON":                  {[]string{"claude-code"}, "]" + strings.Repeat(" ", 1<<20), "strictly"},
	} {
		t.Run(name, func(t *testing.T) {
			in, exit := strings.NewReader(c.input), -1
			var out, errs bytes.Buffer
			hook.Main(hook.Env{
				Args: c.args, Environ: []string{"SAYSO_HOME=" + t.TempDir()}, Stdin: in, Stdout: &out, Stderr: &errs,
				Exit: func(code int) {
					if exit = code; in.Len() > 0 {
						t.Errorf("%d bytes were not heard", in.Len())
					}
				},
			})
			if exit != 2 || !strings.Contains(errs.String(), c.want) {
				t.Errorf("exit status %d, said %q; want %q", exit, errs.String(), c.want)
			}
		})
	}
}

// Input that breaks off is a denial too.
func TestMain_deniesWhatItCannotRead(t *testing.T) {
	var errs bytes.Buffer
	exit := -1
	hook.Main(hook.Env{
		Args: []string{"claude-code"}, Stdin: io.MultiReader(strings.NewReader(`{"session_id"`), broken{}), Stdout: io.Discard, Stderr: &errs,
		Exit: func(code int) { exit = code },
	})
	if exit != 2 || errs.Len() == 0 {
		t.Errorf("exit status %d, said %q", exit, errs.String())
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the pipe broke") }

// A hook that can only deny does so before its host loses patience, also where
// the host never stops talking.
func TestMain_deniesWhereTheHostNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, host := io.Pipe()
		defer host.Close()
		var stderr bytes.Buffer
		status := make(chan int, 1)
		go hook.Main(hook.Env{
			Args: []string{"gemini", "--nonsense"}, Stdin: in, Stdout: io.Discard, Stderr: &stderr,
			Exit: func(n int) { status <- n; host.Close() },
		})
		began := time.Now()
		if n := <-status; n != 2 || !strings.Contains(stderr.String(), "--nonsense") {
			t.Errorf("status %d, said %q", n, stderr.String())
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
