package acprelay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/acprelay"
	"github.com/sayso-dev/sayso/saysotest"
)

// write, read and terminal are what an agent has its editor do.
func write(id, path, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"fs/write_text_file","params":{"sessionId":"s1","path":%q,"content":%q}}`, id, path, text)
}

func read(id, path string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"fs/read_text_file","params":{"sessionId":"s1","path":%q,"line":1,"limit":10}}`, id, path)
}

func terminal(id, rest string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"terminal/create","params":{"sessionId":"s1",%s}}`, id, rest)
}

// askEdit is a request for permission to have a file hold a text.
func askEdit(id, call, path, old, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":%q,"kind":"edit","rawInput":{"path":%q},`+
		`"content":[{"type":"diff","path":%q,"oldText":%q,"newText":%q}]},"options":[{"optionId":"a1","kind":"allow_once"},{"optionId":"r1","kind":"reject_once"}]}}`, id, call, path, path, old, text)
}

// done is how the editor answers what it did.
func done(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":null}` }

// refused checks that the agent is refused by an error, and returns with which words.
func (w *harness) refused(id string) string {
	w.t.Helper()
	got := w.agent.next()
	if !strings.Contains(got, `"id":`+id+`,`) || !strings.Contains(got, `"error":{"code":-32001,"message":"`) {
		w.t.Errorf("not refused: %s", got)
	}
	return got
}

// expectNothing checks that the editor was told nothing more.
func (w *harness) expectNothing() {
	w.t.Helper()
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
}

// What an agent has its editor do is judged as a call of that tool, passed on as it came
// when that is on the record, and its outcome is recorded.
func TestRelay_errands(t *testing.T) {
	b := saysotest.New(t)
	b.Deny("*", "not on a Sunday")
	b.Approve("file-write:*/a.txt")
	b.Approve("file-read:*/a.txt")
	b.Approve("bash:make all")
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(name, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newHarness(t, b, nil).newSession(dir)
	for _, line := range []string{write("1", name, "two\n"), read("2", name), terminal("3", `"command":"make","args":["all"]`)} {
		w.expectForwarded(w.agent, w.editor, line)
	}
	if n := len(b.Events(sayso.EventRedeemed)); n != 3 {
		t.Errorf("%d are on the record as run, want 3", n)
	}
	w.expectForwarded(w.editor, w.agent, done("1"))
	w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"no such file"}}`)
	w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","id":3,"result":{"terminalId":"t1"}}`)
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","id":4,"method":"terminal/output","params":{"sessionId":"s1","terminalId":"t1"}}`)
	w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","id":4,"result":{"output":"","truncated":false}}`)
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","id":5,"method":"terminal/wait_for_exit","params":{"sessionId":"s1","terminalId":"t1"}}`)
	w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","id":5,"result":{"exitCode":2}}`)

	w.agent.send(write("6", filepath.Join(dir, "b.txt"), "x"))
	if text := w.refused("6"); !strings.Contains(text, "not on a Sunday") {
		t.Errorf("the model does not read the note: %s", text)
	}
	w.expectNothing()
	w.relay.Close(t.Context())
	var ended []string
	for _, e := range b.Events(sayso.EventFinished) {
		ended = append(ended, string(e.Payload))
	}
	all := strings.Join(ended, "\n")
	if len(ended) != 3 || strings.Count(all, `"failed":true`) != 2 || !strings.Contains(all, `"exit_status":2`) {
		t.Errorf("outcomes: %s", all)
	}
	asked := b.Asked()
	if len(asked) != 4 || asked[0].Tool != "file-write" || asked[1].Tool != "file-read" || asked[2].Tool != "bash" || asked[0].HostTool != "fs/write_text_file" || asked[0].Caller != "acp/Pilot" {
		t.Errorf("asked: %+v", asked)
	}
}

// A person sees the change to the file on disk.
func TestRelay_showsTheChange(t *testing.T) {
	b := saysotest.New(t)
	b.Leave("*")
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(name, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newHarness(t, b, nil).newSession(dir)
	w.agent.send(write("1", name, "one\nTWO\n"))
	w.waitForOpen(1)
	open, err := b.Inbox().Requests(t.Context(), sayso.RowQuery{States: sayso.OpenStates()})
	if err != nil || len(open) != 1 {
		t.Fatalf("%+v, %v", open, err)
	}
	full, err := b.Inbox().Content(t.Context(), open[0].ID)
	if err != nil || full.Presentation == nil || full.Presentation.Type != sayso.PresentDiff || !strings.Contains(full.Presentation.Content, "-two\n+TWO\n") {
		t.Errorf("%+v, %v", full.Presentation, err)
	}
	w.expectNothing() // the editor was not told
	r := open[0]
	if _, err := b.Inbox().Answer(t.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow, Args: sayso.Args(`{"path":"/x","content":""}`)}); err == nil {
		t.Error("an edit was taken that the editor would not be told")
	}
	// what is in the file changes while it is shown: the yes was to another change
	if err := os.WriteFile(name, []byte("other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Inbox().Answer(t.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err != nil {
		t.Fatal(err)
	}
	if text := w.refused("1"); !strings.Contains(text, "has changed") {
		t.Errorf("%s", text)
	}
	w.expectNothing()
}

// One that a person allowed when the agent asked for permission is not asked about again:
// that one, once.
func TestRelay_askedBefore(t *testing.T) {
	b := saysotest.New(t)
	b.Answer(func(r sayso.Request) sayso.Answer {
		if r.HostTool == "edit" {
			return sayso.Answer{Effect: sayso.Allow}
		}
		return sayso.Answer{Effect: sayso.Deny}
	})
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	w := newHarness(t, b, nil).newSession(dir)
	w.agent.send(askEdit("1", "c1", name, "", "two\n"))
	if got := w.agent.next(); got != said("1", "a1") {
		t.Fatal(got)
	}
	w.agent.send(write("2", filepath.Join(dir, "b.txt"), "two\n"))
	w.refused("2")
	w.agent.send(write("3", name, "three\n"))
	w.refused("3")
	w.agent.send(strings.Replace(write("4", name, "two\n"), `"s1"`, `"s2"`, 1))
	w.refused("4")
	w.expectForwarded(w.agent, w.editor, write("5", name, "two\n"))
	w.expectForwarded(w.editor, w.agent, done("5"))
	w.agent.send(write("6", name, "two\n"))
	w.refused("6")

	// one whose call has ended is over
	w.agent.send(askEdit("7", "c2", name, "", "four\n"))
	if got := w.agent.next(); got != said("7", "a1") {
		t.Fatal(got)
	}
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"completed"}}}`)
	finished(t, b, 2)
	w.agent.send(write("8", name, "four\n"))
	w.refused("8")
	w.expectNothing()
	if asked := len(b.Asked()); asked != 7 {
		t.Errorf("people were asked %d times, want 7", asked)
	}
}

// finished waits until so many outcomes were recorded.
func finished(t *testing.T, b *saysotest.Broker, n int) {
	t.Helper()
	for _, err := range b.Inbox().Follow(t.Context(), 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventFinished}}) {
		if err != nil {
			t.Fatal(err)
		}
		if n--; n == 0 {
			return
		}
	}
}

// What says where or how beside it is another thing than was allowed: the person is asked,
// and the editor hears nothing before.
func TestRelay_askedBeforeInPart(t *testing.T) {
	b := saysotest.New(t)
	b.Answer(func(r sayso.Request) sayso.Answer {
		if r.HostTool == "execute" || r.HostTool == "edit" {
			return sayso.Answer{Effect: sayso.Allow}
		}
		return sayso.Answer{Effect: sayso.Deny}
	})
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	w := newHarness(t, b, nil).newSession(dir)
	w.agent.send(ask("1", "c1", "make all"))
	if got := w.agent.next(); got != said("1", "a1") {
		t.Fatal(got)
	}
	w.agent.send(askEdit("2", "c2", name, "", "two\n"))
	if got := w.agent.next(); got != said("2", "a1") {
		t.Fatal(got)
	}
	const line = `"command":"make","args":["all"]`
	for i, send := range []string{
		terminal("%d", line+`,"cwd":"evil"`), terminal("%d", line+`,"shell":"/tmp/evil.sh"`), terminal("%d", line+`,"_meta":{"env":{"PATH":"/tmp/evil"}}`),
		terminal("%d", line+`,"env":[{"name":"A","value":"b"}]`),
		strings.Replace(write("%d", name, "two\n"), `"path"`, `"append":true,"path"`, 1),
		strings.Replace(write("%d", name, "two\n"), `"path"`, `"_meta":{"mode":511},"path"`, 1),
	} {
		id := strconv.Itoa(10 + i)
		w.agent.send(strings.Replace(send, "%d", id, 1))
		w.refused(id)
		w.expectNothing()
	}
	if asked := len(b.Asked()); asked != 8 {
		t.Errorf("people were asked %d times, want 8", asked)
	}
	w.expectForwarded(w.agent, w.editor, terminal("20", line)) // and what they allowed still counts
	w.expectForwarded(w.agent, w.editor, write("21", name, "two\n"))
}

// What leads elsewhere by a link is another file than was asked about.
func TestRelay_throughALink(t *testing.T) {
	b := saysotest.New(t)
	b.Deny("*", "no")
	b.Approve("file-edit:*")
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "profile")
	name := filepath.Join(dir, "a.txt")
	w := newHarness(t, b, nil).newSession(dir)
	w.agent.send(askEdit("1", "c1", name, "", "two\n"))
	if got := w.agent.next(); got != said("1", "a1") {
		t.Fatal(got)
	}
	if err := os.Symlink(outside, name); err != nil {
		t.Fatal(err)
	}
	w.agent.send(write("2", name, "two\n"))
	w.refused("2")
	w.expectNothing()
}

// What waits is taken back with its turn, by the agent, and by the end of the editor.
func TestRelay_errandTakenBack(t *testing.T) {
	for name, end := range map[string]func(w *harness){
		"the turn": func(w *harness) {
			w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		},
		"by the agent": func(w *harness) {
			w.agent.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"w"}}`)
		},
		"the editor": func(w *harness) { _ = w.editor.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			b := saysotest.New(t)
			b.Leave("*")
			w := newHarness(t, b, nil).newSession(t.TempDir())
			w.agent.send(write(`"w"`, "/tmp/x", "x"))
			w.waitForOpen(1)
			end(w)
			if got := w.agent.next(); !strings.Contains(got, `"id":"w"`) || !strings.Contains(got, `"code":-32800`) {
				t.Errorf("%s", got)
			}
			w.relay.Close(t.Context())
			if n := len(b.Events(sayso.EventWithdrawn)); n != 1 {
				t.Errorf("%d requests withdrawn, want 1", n)
			}
		})
	}
}

// An editor that goes in the moment of the yes does nothing any more, and the agent
// reads so: what was allowed is recorded as not run.
func TestRelay_errandEditorGoneAtTheYes(t *testing.T) {
	b := saysotest.New(t)
	b.Approve("*")
	var w *harness
	w = newHarness(t, b, func(o *acprelay.Options) {
		o.Plain = func(err error) error { // between the decision and what is done with it
			_ = w.editor.in.Close()
			w.ended <- <-w.ended // with which the editor is known to be gone
			return err
		}
	}).newSession(t.TempDir())
	told := make(chan string, 1)
	go func() { // ends with the pipe
		if line, err := w.editor.out.ReadString('\n'); err == nil {
			told <- line
		}
		close(told)
	}()
	w.agent.send(write("1", "/tmp/x", "x"))
	if got := w.refused("1"); !strings.Contains(got, "the editor is gone") {
		t.Errorf("%s", got)
	}
	w.relay.Close(t.Context())
	_ = w.editor.from.Close()
	if line := <-told; line != "" {
		t.Errorf("the editor was told %s", line)
	}
	if ended := b.Events(sayso.EventFinished); len(ended) != 1 || !strings.Contains(string(ended[0].Payload), `"failed":true`) {
		t.Errorf("it is on the record as %+v", ended)
	}
}

// What cannot be read in one way is refused, nobody is asked, and the editor hears nothing.
func TestRelay_errandsRefused(t *testing.T) {
	for name, line := range map[string]string{
		"a path twice":       `{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/a","path":"/b","content":""}}`,
		"a path in capitals": `{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/a","Path":"/b","content":""}}`,
		"no whole path":      write("1", "a.txt", "x"),
		"no path":            `{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s1"}}`,
		"no text":            `{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/a","content":[1]}}`,
		"half a character":   `{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/a","content":"\ud83d"}}`,
		"no session":         `{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"path":"/a","content":""}}`,
		"no parameters":      `{"jsonrpc":"2.0","id":1,"method":"terminal/create"}`,
		"no command":         terminal("1", `"command":" "`),
		"no words":           terminal("1", `"command":"ls","args":"-l"`),
		"a variable twice":   terminal("1", `"command":"ls","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]`),
		"no variable":        terminal("1", `"command":"ls","env":[{"name":"A=1;B","value":"1"}]`),
		"a zero byte":        terminal("1", `"command":"ls","args":["a\u0000b"]`),
		"huge":               write("1", "/a", strings.Repeat("x", sayso.MaxCall)),
	} {
		t.Run(name, func(t *testing.T) {
			b := saysotest.New(t, saysotest.ApproveAll())
			w := newHarness(t, b, nil).newSession(t.TempDir())
			go w.agent.send(line)
			w.refused("1")
			w.expectNothing()
			if len(b.Asked()) != 0 || !strings.Contains(w.notesText(), "nobody was asked") {
				t.Errorf("asked %d, noted %s", len(b.Asked()), w.notesText())
			}
		})
	}
}

// What poses as something that is judged, or has an id of something that waits or runs,
// goes nowhere.
func TestRelay_errandsLeftOut(t *testing.T) {
	b := saysotest.New(t)
	b.Approve("*")
	b.Leave("bash:*")
	w := newHarness(t, b, nil).newSession(t.TempDir())
	for _, line := range []string{
		strings.Replace(write("1", "/a", "x"), "write_text_file", "write_Text_File", 1),
		strings.Replace(write("1", "/a", "x"), "fs/", " fs/", 1),
		strings.Replace(write("1", "/a", "x"), `"id":1,`, ``, 1),
		strings.Replace(terminal("1", `"command":"ls"`), `"id":1,`, ``, 1),
		`{"jsonrpc":"2.0","method":"mcp/message","params":{"method":"tools/call"}}`,
	} {
		w.agent.send(line)
	}
	w.expectNothing()
	if n := strings.Count(w.notesText(), "has the editor do something and wants no answer"); n != 3 {
		t.Errorf("noted %d times: %s", n, w.notesText())
	}
	w.agent.send(terminal("7", `"command":"ls"`))
	w.waitForOpen(1)
	w.agent.send(write("7", "/a", "x"))
	w.editor.send(done("7")) // it was not told
	w.expectNothing()
	w.expectForwarded(w.agent, w.editor, write("8", "/a", "x"))
	w.agent.send(write("8", "/b", "x"))
	w.expectNothing()
	if n := len(b.Events(sayso.EventRequested)); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// even finds a path that ends with an even digit.
var even = regexp.MustCompile(`[02468]"[,}]`)

// evens is a policy that lets files be written whose names end with an even digit.
type evens struct{}

func (evens) Version() string { return "evens" }

func (evens) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	m := sayso.Match{Effect: sayso.Deny, Cause: sayso.CauseRule, Rule: "odd"}
	if even.Match(c.Args) {
		m = sayso.Match{Effect: sayso.Allow, Cause: sayso.CauseRule, Rule: "even"}
	}
	return sayso.Verdict{Match: m, Matches: []sayso.Match{m}}
}

// A thousand at once are each passed on once, and only those that are allowed.
func TestRelay_manyErrands(t *testing.T) {
	b := saysotest.New(t, saysotest.WithPolicy(evens{}))
	w := newHarness(t, b, nil).newSession("/w")
	const n = 1000
	go func() {
		for i := range n {
			w.agent.send(write(strconv.Itoa(i), "/w/"+strconv.Itoa(i), "x"))
		}
	}()
	passed, refused := map[string]bool{}, map[string]bool{}
	both := make(chan struct{})
	go func() {
		defer close(both)
		for range n / 2 {
			refused[w.agent.next()] = true
		}
	}()
	for range n / 2 {
		line := w.editor.next()
		if !even.MatchString(line) {
			t.Errorf("%s", line)
		}
		passed[line] = true
	}
	<-both
	if len(passed) != n/2 || len(refused) != n/2 {
		t.Errorf("%d passed, %d refused", len(passed), len(refused))
	}
	if got := len(b.Events(sayso.EventRedeemed)); got != n/2 {
		t.Errorf("%d are on the record as run", got)
	}
}

// More than is kept is refused.
func TestRelay_tooManyErrands(t *testing.T) {
	acprelay.SetMaxHeldBytes(t, 3000)
	b := saysotest.New(t)
	b.Leave("*")
	w := newHarness(t, b, nil).newSession("/w")
	w.agent.send(write("1", "/w/a", strings.Repeat("x", 2000)))
	w.waitForOpen(1)
	w.agent.send(write("2", "/w/b", strings.Repeat("x", 2000)))
	if text := w.refused("2"); !strings.Contains(text, "Too many") {
		t.Errorf("%s", text)
	}
	w.agent.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
	_ = w.agent.next()
	w.agent.send(write("3", "/w/c", strings.Repeat("x", 2000))) // there is room again
	w.waitForOpen(2)
	w.expectNothing()
}

// What was told of a call waits with each question about it, and counts.
func TestRelay_tooMuchTold(t *testing.T) {
	acprelay.SetMaxHeldBytes(t, 5000)
	b := saysotest.New(t)
	b.Leave("*")
	w := newHarness(t, b, nil).newSession("/w")
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"`+strings.Repeat("x", 3000)+`"}}}`)
	w.agent.send(ask("1", "c1", "ls"))
	w.waitForOpen(1)
	w.agent.send(ask("2", "c1", "ls"))
	if got := w.agent.next(); got != said("2", "r1") || !strings.Contains(w.notesText(), "than is kept") {
		t.Errorf("%s, noted %s", got, w.notesText())
	}
}

// While the gate is switched off, the editor does what it is told.
func TestRelay_errandsOff(t *testing.T) {
	b := saysotest.New(t)
	w := newHarness(t, b, func(o *acprelay.Options) { o.Off = func() bool { return true } }).newSession(t.TempDir())
	w.expectForwarded(w.agent, w.editor, write("1", "/a", "x"))
	w.expectForwarded(w.editor, w.agent, done("1"))
	if len(b.Asked()) != 0 {
		t.Error("people were asked")
	}
}
