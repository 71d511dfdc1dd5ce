package words

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "0s", 59 * time.Second: "59s", 9*time.Minute + 5*time.Second: "9m05s", 29*time.Minute + 59*time.Second: "30m",
		59*time.Minute + 58*time.Second: "1h00m", 25 * time.Hour: "25h00m", 50 * time.Hour: "2d",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestView_saysWhereARequestStandsAndWhy(t *testing.T) {
	left := (59 * time.Minute).Seconds()
	for _, c := range []struct {
		name             string
		r                sayso.Request
		title, why, from string
	}{
		{"open", sayso.Request{ShortID: "f8y4", State: sayso.StateOpen, RemainingS: &left, Cause: sayso.CauseDefault, Rule: "default: ask", Host: "claude-code"},
			"f8y4 waits for an answer, 59m left", "no rule speaks about it", "claude-code"},
		{"parked", sayso.Request{ShortID: "f8y4", State: sayso.StateParked, Cause: sayso.CauseRule, Rule: "pushes", File: "policy.yaml", Line: 12, Caller: "me", Host: "h"},
			"f8y4 waits for an answer; its agent has stopped waiting", `rule "pushes", policy.yaml:12`, "me"},
		{"denied", sayso.Request{ShortID: "f8y4", State: sayso.StateDenied, Life: sayso.Life{Asker: sayso.Actor{Principal: "script"}}},
			"f8y4 was denied", "", "script"},
	} {
		v := View(c.r, sayso.RequestedFull{})
		if d := cmp.Diff([]string{c.title, c.why, c.from}, []string{v.Title, v.Why, v.From}); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestVW3_nothingIsSaidToBeLeftOut: where all of the arguments are drawn, what
// was left out of their preview is no matter; what is left out elsewhere is.
func TestVW3_nothingIsSaidToBeLeftOut(t *testing.T) {
	r := sayso.Request{Preview: sayso.Args(`{"a":"x"}`), Warnings: []sayso.Warning{
		{Kind: sayso.WarnTruncated, Path: "/a", Text: "9 characters left out"}, {Kind: sayso.WarnTruncated, Text: "2 members left out"},
		{Kind: sayso.WarnPadding, Path: "/a"}, {Kind: sayso.WarnTruncated, Path: "presentation"},
	}}
	if v := View(r, sayso.RequestedFull{}); len(v.Warnings) != 4 {
		t.Errorf("of a preview: %v", v.Warnings)
	}
	v := View(r, sayso.RequestedFull{Args: sayso.Args(`{"a":"xxxxxxxxxx"}`)})
	if diff := cmp.Diff(r.Warnings[2:], v.Warnings); diff != "" {
		t.Errorf("of all of it (-want +got):\n%s", diff)
	}
}

func TestSummary_beginsWithWhatTheCallIsAbout(t *testing.T) {
	for args, want := range map[string]string{
		`{"content":"x","file_path":"a.txt"}`: "a.txt content=x",
		`{"command":"git push"}`:              "git push",
		`{"command":"make","timeout":5}`:      "make timeout=5",
		`{"a":"1","url":"https://x"}`:         "https://x a=1",
		`{"id":9007199254740993}`:             "id=9007199254740993",
		`{"n":100000,"m":1e6,"l":[1.50]}`:     "l=[1.50] m=1e6 n=100000",
		`{"a":null,"b":{"c":"d"}}`:            `a=null b={"c":"d"}`,
	} {
		if got := Summary(sayso.Request{Preview: sayso.Args(args)}); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// A row of a patch shows its files: the text of a patch begins alike for all.
func TestSummary_patch(t *testing.T) {
	for args, want := range map[string]string{
		`{"input":"*** Begin Patch\n*** Add File: a\n+*** Add File: b\n*** Update File: c\n*** Move to: d\n@@\n-x\n*** Delete File: e\n*** End Patch\n"}`: "add a, update c, move to d, delete e",
		`{"input":"*** Begin Patch\r\n *** Add File: a\r\n+x\r\n*** End Patch\r\n"}`:                                                                      "add a",
		`{"input":"no patch"}`: "no patch",
	} {
		r := sayso.Request{Host: "copilot", HostTool: "apply_patch", Tool: "file-edit", Preview: sayso.Args(args)}
		if got := Summary(r); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// What a call is about is seen, however long its name is.
func TestRow_showsTheTarget(t *testing.T) {
	long := strings.Repeat("deep/", 30)
	for _, c := range []struct {
		args string
		most int
		want string
	}{
		{`{"path":"/w/app/` + long + `x.go"}`, 20, "…deep/deep/deep/x.go"},
		{`{"content":"package x","path":"/w/app/` + long + `x.go"}`, 20, "…ep/deep/deep/x.go …"},
		{`{"content":"package x","path":"/w/app/x.go"}`, 20, "x.go content=packag…"},
		{`{"file_path":"/w/apple/x.go"}`, 20, "/w/apple/x.go"},
		{`{"command":"rm -rf ` + long + `build"}`, 20, "rm -rf deep/…p/build"},
		{`{"command":"rm -rf ` + long + `build","timeout":5}`, 20, "rm -rf dee…p/build …"},
		{`{"url":"https://example.com/` + long + `"}`, 20, "https://example.com…"},
		{`{"command":"make"}`, 20, "make  (builds it a…)"},
		{`{"command":"make everything"}`, 20, "make everything"},
	} {
		r := sayso.Request{Cwd: "/w/app", Preview: sayso.Args(c.args), Description: "builds it all"}
		got := Row(r, c.most)
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}

func TestDrawnArgs_leaveNothingOut(t *testing.T) {
	const old = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
	short := present.Diff("a.txt", "one\n", "one\ntwo\n")
	long := present.Diff("a.txt", old, "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nTEN\n")
	for _, c := range []struct {
		args string
		p    sayso.Presentation
		want []string
	}{
		{`{"path":"a.txt","content":"one\ntwo\n"}`, short, []string{"content", "path"}},
		{`{"file_path":"/x/a.txt","old_string":"one","new_string":"two"}`, short, []string{"new_string", "old_string"}},
		{`{"file_path":"a.txt","new_string":"tw"}`, short, []string{"file_path"}},
		{`{"path":"a.txt","content":"one\ntwo\nthree\n"}`, short, []string{"path"}},
		{`{"path":"a.txt","mode":"two"}`, short, []string{"path"}},
		// Lines that the difference leaves out are not shown by it.
		{`{"path":"a.txt","content":"ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nTEN\n"}`, long, []string{"path"}},
		{`{"path":"a.txt","content":"four\nseven\n"}`, long, []string{"path"}},
	} {
		if d := cmp.Diff(c.want, drawnArgs(sayso.Args(c.args), &c.p)); d != "" {
			t.Errorf("%s:\n%s", c.args, d)
		}
	}
	if got := drawnArgs(sayso.Args(`{"content":"one"}`), nil); got != nil {
		t.Errorf("without a difference, %v are shown", got)
	}
}

// A presentation is what the asker made of the call. What it shows otherwise
// than the call has it is drawn from the call.
func TestVW1_drawnArgsOfAPresentationThatLies(t *testing.T) {
	gone := present.Diff("a.txt", "rm -rf /\nls\n", "ls\n") // what would come is shown as what goes
	other := present.File("a.txt", "ls\n")
	for _, c := range []struct {
		args string
		p    sayso.Presentation
		want []string
	}{
		{`{"content":"rm -rf /"}`, gone, nil},
		{`{"new_string":"rm -rf /"}`, gone, nil},
		{`{"old_string":"rm -rf /"}`, gone, []string{"old_string"}},
		{`{"content":"rm -rf /\n","path":"a.txt"}`, other, []string{"path"}},
		{`{"content":"ls\n","path":"b.txt"}`, other, []string{"content"}},
		{`{"command":"rm -rf /"}`, present.Command("ls", ""), nil},
		{`{"command":"ls","timeout":"9"}`, present.Command("ls", ""), []string{"command"}},
		{`{"content":"ls"}`, present.PlainText("ls"), nil},
	} {
		if d := cmp.Diff(c.want, drawnArgs(sayso.Args(c.args), &c.p)); d != "" {
			t.Errorf("%s:\n%s", c.args, d)
		}
	}
}

// Data that is the arguments is drawn as the arguments are, and only then.
func TestSameData(t *testing.T) {
	args := sayso.Args(`{"b":1,"a":{"c":"x"}}`)
	for _, c := range []struct {
		p    sayso.Presentation
		want bool
	}{
		{present.Structured(args), true},
		{present.Structured([]byte(`{"a":{"c":"x"},"b":1}`)), true},
		{present.Structured([]byte(`{"a":{"c":"x"},"b":2}`)), false},
		{present.Structured([]byte(`{"a":{"c":"x"}}`)), false},
		{present.Structured([]byte(`no data`)), false},
		{present.Noted(present.Structured(args), "look"), false},
		{present.PlainText(string(args)), false},
	} {
		if got := sameData(args, &c.p); got != c.want {
			t.Errorf("%+v: %v", c.p, got)
		}
	}
	if sameData(args, nil) {
		t.Error("nothing is the same as something")
	}
}
