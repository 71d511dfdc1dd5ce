//go:build unix

package acp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// limit is how long an editor waits for an answer.
const limit = 2 * time.Minute

// Editor is one that starts an agent and plays a script. It writes and reads files for the
// agent and runs commands for it, where that is wanted.
type Editor struct {
	t       testing.TB
	cmd     *exec.Cmd
	to      io.WriteCloser
	from    *bufio.Reader
	errors  *os.File // to which all that was started writes
	session string
	next    int
	can     bool           // do what the agent would have it do
	ended   map[string]int // by terminal: the exit status

	// Did is what the agent had it do: the method, and the file or the command.
	Did []string
	// Heard are the lines of the agent.
	Heard []string
	// Asked are the requests for permission that reached it.
	Asked []string
}

// message is what it reads of a message.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result struct {
		Session string `json:"sessionId"`
		Stop    string `json:"stopReason"`
	} `json:"result"`
}

// Open starts an agent by a command and begins a session in the command's folder.
func Open(t testing.TB, cmd *exec.Cmd, can bool) *Editor {
	t.Helper()
	e := &Editor{t: t, cmd: cmd, can: can, ended: map[string]int{}}
	var err error
	if e.to, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.from = bufio.NewReader(out)
	errors, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	e.errors, cmd.Stderr = errors, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		_ = errors.Close()
	})
	e.wait(e.send("initialize", fmt.Sprintf(`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":%[1]v,"writeTextFile":%[1]v},"terminal":%[1]v},"clientInfo":{"name":"lab","version":"1"}}`, can)))
	m := e.wait(e.send("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, cmd.Dir)))
	if e.session = m.Result.Session; e.session == "" {
		t.Fatal("the agent began no session")
	}
	return e
}

// Say sends a prompt and returns at once; [Editor.Turn] waits for its end.
func (e *Editor) Say(text string) (id int) {
	e.t.Helper()
	return e.send("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, e.session, text))
}

// Turn waits until a prompt was answered, and says how it ended.
func (e *Editor) Turn(id int) (stop string) { e.t.Helper(); return e.wait(id).Result.Stop }

// Cancel cancels the turn.
func (e *Editor) Cancel() {
	e.t.Helper()
	e.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, e.session))
}

// Kill kills what the editor started, and nothing below it.
func (e *Editor) Kill() {
	_ = e.cmd.Process.Kill() // it may have ended
	_ = e.cmd.Wait()
}

// Leave closes the editor's end, and returns the exit status.
func (e *Editor) Leave() int {
	_ = e.to.Close()
	_, _ = io.Copy(io.Discard, e.from)
	_ = e.cmd.Wait()
	return e.cmd.ProcessState.ExitCode()
}

// Errors is what was printed on standard error, by all that was started. It returns when
// nothing of it is alive any more.
func (e *Editor) Errors() string {
	e.t.Helper()
	if err := e.errors.SetReadDeadline(time.Now().Add(limit)); err != nil {
		e.t.Fatal(err)
	}
	text, err := io.ReadAll(e.errors)
	if err != nil {
		e.t.Fatalf("something that was started is alive: %v", err)
	}
	return string(text)
}

func (e *Editor) send(method, params string) (id int) {
	e.t.Helper()
	id = e.next
	e.next++
	e.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	return id
}

func (e *Editor) write(line string) {
	e.t.Helper()
	if _, err := io.WriteString(e.to, line+"\n"); err != nil {
		e.t.Fatal(err)
	}
}

// Awaits reads until the agent has had the editor do a thing: an agent may go on to the
// end of its turn without waiting for the editor.
func (e *Editor) Awaits(method string) {
	e.t.Helper()
	for !slices.ContainsFunc(e.Did, func(did string) bool { return strings.HasPrefix(did, method+" ") }) {
		e.read()
	}
}

// wait reads until a request of the editor was answered. What the agent wants of it
// meanwhile it cannot do.
func (e *Editor) wait(id int) message {
	e.t.Helper()
	for {
		if m := e.read(); m.Method == "" && string(m.ID) == strconv.Itoa(id) {
			return m
		}
	}
}

// read reads a message, and does what it asks for if the editor can.
func (e *Editor) read() message {
	e.t.Helper()
	late := time.AfterFunc(limit, func() { _ = e.cmd.Process.Kill() }) // it may have ended
	defer late.Stop()
	line, err := e.from.ReadBytes('\n')
	if err != nil {
		e.t.Fatalf("the agent said no more: %v", err)
	}
	var m message
	if err := jcs.UnmarshalLenient(bytes.TrimSpace(line), &m); err != nil && !strings.Contains(string(line), `"method"`) {
		e.t.Fatalf("%s: %v", line, err)
	}
	e.Heard = append(e.Heard, string(line))
	does := strings.HasPrefix(m.Method, "fs/") || strings.HasPrefix(m.Method, "terminal/")
	switch {
	case m.Method == "session/request_permission":
		e.Asked = append(e.Asked, string(line))
	case m.Method != "" && m.ID != nil && does && e.can:
		e.does(m.ID, m.Method, m.Params)
	case m.Method != "" && m.ID != nil:
		e.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"the lab has no such thing"}}`, m.ID))
	}
	return m
}
