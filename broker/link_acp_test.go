package broker_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
)

// relay is what stands between an editor and its agent.
var relay = sayso.Actor{Principal: sayso.HostACP, Kind: sayso.PrincipalAgent, Channel: "acp", Owner: agent.Owner}

// inEditor is what an agent has its editor do, or asks it about.
func inEditor(tool, id, args string) sayso.Admission {
	return sayso.Admission{Immediate: true, Patience: time.Millisecond, Call: sayso.Call{
		Host: sayso.HostACP, Tool: tool, Args: sayso.Args(args), Cwd: "/w", Session: "acp-s1", CallID: id,
	}, Facts: sayso.Facts{Cwd: "/real/w"}}
}

// at has the one path of a call lead somewhere.
func at(a sayso.Admission, path, resolved string) sayso.Admission {
	a.Facts.Operands = []sayso.PathFact{{Arg: "path", Path: path, Resolved: resolved, State: sayso.PathFile}}
	return a
}

// leading has the folder of a call lead somewhere.
func leading(a sayso.Admission, cwd string) sayso.Admission {
	a.Facts.Cwd = cwd
	return a
}

const (
	askEdit  = `{"path":"/w/a","acp":{"changes":[{"path":"/w/a","old":"1","new":"2"}]}}`
	askBlind = `{"acp":{"changes":[{"path":"/w/a","old":"1","new":"2"}],"title":"writes"}}`
	write    = `{"path":"/w/a","content":"2"}`
)

// What an agent has its editor do is not asked about again where a person allowed that very
// thing a moment ago, when the agent asked for permission: the same session, the same file
// and text, or the same line in the same folder, once, and only until the call has ended.
func TestLinked_editor(t *testing.T) {
	ask := func() sayso.Admission { return at(inEditor("edit", "c1", askEdit), "/w/a", "/real/w/a") }
	does := func(args string) sayso.Admission {
		return at(inEditor("fs/write_text_file", "x1", args), "/w/a", "/real/w/a")
	}
	for name, tt := range map[string]struct {
		asks, does sayso.Admission
		by         sayso.Actor
		denied     bool
		ended      bool
		after      time.Duration
		linked     bool
	}{
		"the same text":                {asks: ask(), does: does(write), linked: true},
		"shown by its input":           {asks: inEditor("edit", "c1", `{"path":"/w/a","content":"2"}`), does: does(write), linked: true},
		"another text":                 {asks: ask(), does: does(`{"path":"/w/a","content":"3"}`)},
		"more text":                    {asks: ask(), does: does(`{"path":"/w/a","content":"2\n"}`)},
		"another file":                 {asks: ask(), does: at(inEditor("fs/write_text_file", "x1", `{"path":"/w/b","content":"2"}`), "/w/b", "/real/w/b")},
		"the same, spelled otherwise":  {asks: ask(), does: does(`{"path":"/w/x/../a","content":"2"}`)},
		"led elsewhere meanwhile":      {asks: ask(), does: at(inEditor("fs/write_text_file", "x1", write), "/w/a", "/home/me/.bashrc")},
		"denied":                       {asks: ask(), denied: true, does: does(write)},
		"a while later":                {asks: ask(), does: does(write), after: 3 * time.Minute},
		"the call has ended":           {asks: ask(), ended: true, does: does(write)},
		"by somebody else":             {asks: ask(), by: later, does: does(write)},
		"shown in two ways":            {asks: inEditor("edit", "c1", `{"path":"/w/a","acp":{"announced":{"content":"3"},"changes":[{"path":"/w/a","new":"2"}]}}`), does: does(write)},
		"two changes":                  {asks: inEditor("edit", "c1", `{"acp":{"changes":[{"path":"/w/a","new":"2"},{"path":"/w/b","new":"2"}]}}`), does: does(write)},
		"a read":                       {asks: at(inEditor("read", "c1", `{"path":"/w/a"}`), "/w/a", "/real/w/a"), does: does(write)},
		"something else":               {asks: inEditor("other", "c1", askEdit), does: does(write)},
		"nothing shown but the change": {asks: inEditor("edit", "c1", askBlind), does: does(write), linked: true},
		"nothing else, and it leads through a link": {asks: inEditor("edit", "c1", askBlind), does: at(inEditor("fs/write_text_file", "x1", write), "/w/a", "/home/me/.bashrc")},
		"nothing else, and another file":            {asks: inEditor("edit", "c1", askBlind), does: at(inEditor("fs/write_text_file", "x1", `{"path":"/w/b","content":"2"}`), "/w/b", "/real/w/b")},
		"a path that goes up again":                 {asks: at(inEditor("edit", "c1", `{"path":"/w/x/../a","content":"2"}`), "/w/x/../a", "/real/w/a"), does: at(inEditor("fs/write_text_file", "x1", `{"path":"/w/x/../a","content":"2"}`), "/w/x/../a", "/real/w/a")},
		"reads what it asked for":                   {asks: at(inEditor("read", "c1", `{"path":"a"}`), "a", "/real/w/a"), does: at(inEditor("fs/read_text_file", "x1", `{"path":"/w/a","limit":10}`), "/w/a", "/real/w/a"), linked: true},
		"reads another":                             {asks: at(inEditor("read", "c1", `{"path":"a"}`), "a", "/real/w/a"), does: at(inEditor("fs/read_text_file", "x1", `{"path":"/w/b"}`), "/w/b", "/real/w/b")},
		"runs what it asked for":                    {asks: inEditor("execute", "c1", `{"command":"make all"}`), does: inEditor("terminal/create", "x1", `{"command":"make all"}`), linked: true},
		"runs more":                                 {asks: inEditor("execute", "c1", `{"command":"make all"}`), does: inEditor("terminal/create", "x1", `{"command":"make all; rm x"}`)},
		"runs it with a variable":                   {asks: inEditor("execute", "c1", `{"command":"make all"}`), does: inEditor("terminal/create", "x1", `{"command":"export A=b\nmake all"}`)},
		"runs it in a folder from there":            {asks: inEditor("execute", "c1", `{"command":"make all"}`), does: inEditor("terminal/create", "x1", `{"command":"make all","cwd":"evil"}`)},
		"runs it in a shell":                        {asks: inEditor("execute", "c1", `{"command":"make all"}`), does: inEditor("terminal/create", "x1", `{"command":"make all","shell":"/tmp/evil.sh"}`)},
		"runs it with an extension":                 {asks: inEditor("execute", "c1", `{"command":"make all"}`), does: inEditor("terminal/create", "x1", `{"command":"make all","_meta":{"env":{"PATH":"/tmp/evil"}}}`)},
		"runs it, and shows more":                   {asks: inEditor("execute", "c1", `{"command":"make all"}`), does: inEditor("terminal/create", "x1", `{"command":"make all","acp":{"title":"x"}}`)},
		"runs it where it was not shown":            {asks: inEditor("execute", "c1", `{"command":"make all","directory":"sub"}`), does: inEditor("terminal/create", "x1", `{"command":"make all"}`)},
		"runs it without what was shown":            {asks: inEditor("execute", "c1", `{"command":"make all","env":{"A":"b"}}`), does: inEditor("terminal/create", "x1", `{"command":"make all"}`)},
		"runs it, shown with places":                {asks: inEditor("execute", "c1", `{"command":"make all","acp":{"locations":[{"path":"/w/sub"}]}}`), does: inEditor("terminal/create", "x1", `{"command":"make all"}`)},
		"runs it, with words about it":              {asks: inEditor("execute", "c1", `{"command":"make all","description":"builds"}`), does: inEditor("terminal/create", "x1", `{"command":"make all"}`), linked: true},
		"runs it in a folder that leads elsewhere":  {asks: inEditor("execute", "c1", `{"command":"make all"}`), does: leading(inEditor("terminal/create", "x1", `{"command":"make all"}`), "/real/evil")},
		"appends":                             {asks: ask(), does: does(`{"path":"/w/a","content":"2","append":true}`)},
		"writes with an extension":            {asks: ask(), does: does(`{"path":"/w/a","content":"2","_meta":{"mode":511}}`)},
		"shown to append":                     {asks: inEditor("edit", "c1", `{"path":"/w/a","content":"2","append":true}`), does: does(write)},
		"shown another text beside":           {asks: inEditor("edit", "c1", `{"path":"/w/a","content":"3","acp":{"changes":[{"path":"/w/a","new":"2"}]}}`), does: does(write)},
		"shown another path beside":           {asks: inEditor("edit", "c1", `{"path":"/w/a","filePath":"/w/x/../a","content":"2"}`), does: does(write)},
		"shown in another place":              {asks: inEditor("edit", "c1", `{"acp":{"changes":[{"path":"/w/a","new":"2"}],"locations":[{"path":"/w/b"}],"title":"x"}}`), does: does(write)},
		"shown with a path that is not clear": {asks: inEditor("edit", "c1", `{"acp":{"changes":[{"path":"/w/a","new":"2"}],"path":["/w/b"]}}`), does: does(write)},
		"shown as opencode does": {asks: inEditor("edit", "c1", `{"path":"/w/a","filePath":"/w/a","filepath":"/w/a","oldString":"1","newString":"2","diff":"-1+2","acp":{"changes":[{"path":"/w/a","old":"1","new":"2"}]}}`),
			does: does(write), linked: true},
		"shown as Gemini CLI does": {asks: inEditor("edit", "c1", `{"acp":{"changes":[{"path":"/w/a","old":"1","new":"2"}],"locations":[{"path":"/w/a"}],"title":"a: 1 => 2"}}`),
			does: does(write), linked: true},
		"reads with an extension":         {asks: at(inEditor("read", "c1", `{"path":"a"}`), "a", "/real/w/a"), does: at(inEditor("fs/read_text_file", "x1", `{"path":"/w/a","encoding":"x"}`), "/w/a", "/real/w/a")},
		"reads more than it showed":       {asks: at(inEditor("read", "c1", `{"path":"a","limit":10}`), "a", "/real/w/a"), does: at(inEditor("fs/read_text_file", "x1", `{"path":"/w/a"}`), "/w/a", "/real/w/a")},
		"reads others than it showed":     {asks: at(inEditor("read", "c1", `{"path":"a","offset":10}`), "a", "/real/w/a"), does: at(inEditor("fs/read_text_file", "x1", `{"path":"/w/a"}`), "/w/a", "/real/w/a")},
		"reads the lines that it showed":  {asks: at(inEditor("read", "c1", `{"path":"a","filePath":"/w/a","line":2,"limit":10}`), "a", "/real/w/a"), does: at(inEditor("fs/read_text_file", "x1", `{"path":"/w/a","line":2,"limit":10}`), "/w/a", "/real/w/a"), linked: true},
		"runs what was shown in two ways": {asks: inEditor("execute", "c1", `{"command":"make all","acp":{"announced":{"command":"ls"}}}`), does: inEditor("terminal/create", "x1", `{"command":"make all"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				d := answered(t, w, relay, tt.asks, tt.denied)
				if tt.ended {
					if err := w.b.Gate(relay).Report(t.Context(), sayso.Outcome{Request: d.Request}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(tt.after)
				by := relay
				if tt.by.Principal != "" {
					by, tt.does.Call.Session = tt.by, "acp-s2"
				}
				got, err := w.b.Gate(by).Admit(t.Context(), tt.does)
				if got.Allowed() != tt.linked || tt.linked && (err != nil || got.Source != sayso.SourcePerson || !got.Redeemed) {
					t.Fatalf("got %+v, %v", got, err)
				}
				if !tt.linked {
					return
				}
				tt.does.Call.CallID = "x2"
				if again, _ := w.b.Gate(by).Admit(t.Context(), tt.does); again.Allowed() {
					t.Errorf("the answer counted twice: %+v", again)
				}
			})
		})
	}
}

// answered puts a call to the gate and has the person answer.
func answered(t *testing.T, w *harness, by sayso.Actor, a sayso.Admission, denied bool) sayso.Decision {
	t.Helper()
	a.Patience = 0
	var d sayso.Decision
	done := make(chan error, 1)
	go func() {
		var err error
		d, err = w.b.Gate(by).Admit(t.Context(), a)
		done <- err
	}()
	synctest.Wait()
	r := w.onlyOpen()
	answer := sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}
	if denied {
		answer.Effect = sayso.Deny
	}
	if _, err := w.b.Inbox(dev).Answer(t.Context(), r.ID, answer); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return d
}

// What a rule let the agent edit it may have its editor write, where no rule speaks of
// writing; it needs the person where one asks, and is denied where one denies.
func TestLinked_editorByRule(t *testing.T) {
	for name, tt := range map[string]struct {
		write  sayso.Match
		text   string
		linked bool
	}{
		"no rule for writing":     {sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "default: ask"}, write, true},
		"another text":            {sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "default: ask"}, `{"path":"/w/a","content":"3"}`, false},
		"a rule that asks":        {rule(sayso.Ask), write, false},
		"a rule that denies":      {rule(sayso.Deny), write, false},
		"what was not understood": {sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood}, write, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &rules{version: "v1", judge: func(c sayso.Call) sayso.Verdict {
				if c.Tool == "edit" {
					return ruled(rule(sayso.Allow))
				}
				return ruled(tt.write)
			}}
			bubble(t, p, func(t *testing.T, w *harness) {
				g := w.b.Gate(relay)
				if d, err := g.Admit(t.Context(), at(inEditor("edit", "c1", askEdit), "/w/a", "/real/w/a")); !d.Allowed() {
					t.Fatalf("%+v, %v", d, err)
				}
				d, err := g.Admit(t.Context(), at(inEditor("fs/write_text_file", "x1", tt.text), "/w/a", "/real/w/a"))
				if d.Allowed() != tt.linked {
					t.Errorf("got %+v, %v", d, err)
				}
			})
		})
	}
}

// hook is the agent's own, and hooked what it asks about.
func hook() sayso.Actor {
	a := agent
	a.Principal = "opencode"
	return a
}

func hooked(tool, args string) sayso.Admission {
	return sayso.Admission{Immediate: true, CanEdit: true, Call: sayso.Call{
		Tool: tool, Host: "opencode", Args: sayso.Args(args), Cwd: "/w", Session: "s1", CallID: "c1",
	}}
}

// An agent whose own hook asked about a call asks its editor about it as well: nobody is
// asked twice, and only if all that the hook was told stands in what the editor is shown.
func TestLinked_editorBehindHook(t *testing.T) {
	const showsEdit = `{"path":"/w/a","filePath":"/w/a","oldString":"1","newString":"2","diff":"-1+2","acp":{"changes":[{"path":"/w/a","old":"1","new":"2"}]}}`
	for name, tt := range map[string]struct {
		first, second sayso.Admission
		by            sayso.Actor
		change        func(*sayso.Call)
		linked        bool
	}{
		"a command":                     {first: hooked("bash", `{"command":"make"}`), second: inEditor("execute", "c1", `{"command":"make"}`), linked: true},
		"another command":               {first: hooked("bash", `{"command":"make"}`), second: inEditor("execute", "c1", `{"command":"make x"}`)},
		"more of it":                    {first: hooked("bash", `{"command":"make","timeout":1}`), second: inEditor("execute", "c1", `{"command":"make"}`)},
		"shown in two ways":             {first: hooked("bash", `{"command":"make"}`), second: inEditor("execute", "c1", `{"command":"make","acp":{"announced":{"command":"ls"}}}`)},
		"an edit":                       {first: hooked("edit", `{"filePath":"/w/a","oldString":"1","newString":"2"}`), second: inEditor("edit", "c1", showsEdit), linked: true},
		"in a shell":                    {first: hooked("bash", `{"command":"make"}`), second: inEditor("execute", "c1", `{"command":"make","shell":"/tmp/evil.sh"}`)},
		"in another folder":             {first: hooked("bash", `{"command":"make"}`), second: inEditor("execute", "c1", `{"command":"make","cwd":"evil"}`)},
		"with places":                   {first: hooked("bash", `{"command":"make"}`), second: inEditor("execute", "c1", `{"command":"make","acp":{"locations":[{"path":"/etc"}]}}`)},
		"with more paths":               {first: hooked("read", `{"filePath":"/w/a"}`), second: inEditor("read", "c1", `{"filePath":"/w/a","path":"/w/a","abs_path":"/w/b"}`)},
		"a read":                        {first: hooked("read", `{"filePath":"a"}`), second: inEditor("read", "c1", `{"filePath":"a","path":"a","abs_path":"/w/a"}`), linked: true},
		"with a change of another file": {first: hooked("edit", `{"filePath":"/w/a","oldString":"1","newString":"2"}`), second: inEditor("edit", "c1", strings.Replace(showsEdit, `"changes":[{"path":"/w/a"`, `"changes":[{"path":"/w/b"`, 1))},
		"another edit":                  {first: hooked("edit", `{"filePath":"/w/a","oldString":"1","newString":"3"}`), second: inEditor("edit", "c1", showsEdit)},
		"of another kind":               {first: hooked("read", `{"filePath":"/w/a"}`), second: inEditor("edit", "c1", showsEdit)},
		"another id":                    {first: hooked("bash", `{"command":"make"}`), second: inEditor("execute", "c2", `{"command":"make"}`)},
		"another session":               {first: hooked("bash", `{"command":"make"}`), second: inEditor("execute", "c1", `{"command":"make"}`), change: func(c *sayso.Call) { c.Session = "acp-s2" }},
		"another folder":                {first: hooked("bash", `{"command":"make"}`), second: inEditor("execute", "c1", `{"command":"make"}`), change: func(c *sayso.Call) { c.Cwd = "/x" }},
		"no hook":                       {first: hooked("bash", `{"command":"make"}`), by: later, second: inEditor("execute", "c1", `{"command":"make"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				by := hook()
				if tt.by.Principal != "" {
					by = tt.by
				}
				answered(t, w, by, tt.first, false)
				if tt.change != nil {
					tt.change(&tt.second.Call)
				}
				d, err := w.b.Gate(relay).Admit(t.Context(), tt.second)
				if d.Allowed() != tt.linked {
					t.Errorf("got %+v, %v", d, err)
				}
			})
		})
	}
}

// Whoever said yes at the hook saw what the hook was told. What an agent shows of a change
// behind it nobody saw, so that it lets the editor write no text that the hook was not told.
func TestLinked_editorTwiceBehindHook(t *testing.T) {
	for name, tt := range map[string]struct {
		tool, first, second string
		linked              bool
	}{
		"the whole text":   {"write", `{"filePath":"/w/a","content":"2"}`, `{"filePath":"/w/a","path":"/w/a","content":"2","acp":{"changes":[{"path":"/w/a","new":"2"}]}}`, true},
		"a text in a text": {"edit", `{"filePath":"/w/a","oldString":"1","newString":"3"}`, `{"filePath":"/w/a","path":"/w/a","oldString":"1","newString":"3","acp":{"changes":[{"path":"/w/a","new":"2"}]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				answered(t, w, hook(), hooked(tt.tool, tt.first), false)
				d, err := w.b.Gate(relay).Admit(t.Context(), at(inEditor("edit", "c1", tt.second), "/w/a", "/real/w/a"))
				if !d.Allowed() {
					t.Fatalf("behind the hook: %+v, %v", d, err)
				}
				d, err = w.b.Gate(relay).Admit(t.Context(), at(inEditor("fs/write_text_file", "x1", write), "/w/a", "/real/w/a"))
				if d.Allowed() != tt.linked {
					t.Errorf("got %+v, %v", d, err)
				}
			})
		})
	}
}
