package drive_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/saysotest"
)

// A host that wants to be told hears that its call waits, and hears no more of one
// that it took back.
func TestApprove_beat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := saysotest.New(t)
		b.Leave("*")
		s := &drive.Approve{Desk: drive.NewDesk(drive.Options{Gate: b.Gate()}), Session: "s", Dir: "/w"}
		from, says := io.Pipe()
		hears, to := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- s.Run(t.Context(), from, to) }()
		say := func(line string) {
			if _, err := io.WriteString(says, line+"\n"); err != nil {
				t.Error(err)
			}
		}
		beats := 0
		go func() { // ends with the pipe
			for lines := bufio.NewScanner(hears); lines.Scan(); {
				if !strings.Contains(lines.Text(), `"notifications/progress"`) {
					t.Errorf("the host heard %s", lines.Text())
				}
				beats++
			}
		}()
		say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"approve","_meta":{"progressToken":"p"},"arguments":{"tool_name":"Bash","input":{"command":"true"},"tool_use_id":"u"}}}`)
		time.Sleep(time.Minute) // of the bubble
		synctest.Wait()
		if beats == 0 {
			t.Error("the host was not told that its call waits")
		}
		before := beats
		say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		time.Sleep(10 * time.Minute) // of the bubble
		synctest.Wait()
		if beats != before {
			t.Errorf("told %d times of a call that it took back", beats-before)
		}
		_ = says.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Desk.Close(context.Background(), "")
		_ = to.Close()
	})
}
