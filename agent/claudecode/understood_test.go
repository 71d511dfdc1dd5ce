package claudecode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

// What was understood of a command: each part that something is to be said of,
// with its kind and what is said.
func TestPresent_commands(t *testing.T) {
	for command, want := range map[string][]string{
		"git push origin main": {"program <git>", "network <push> git sends to another machine"},
		"cd /tmp && rm -r $X > out.txt": {
			"program <cd> cd /tmp", "program <rm> rm -r (variable)", "dynamic <$X> $X is known only when it runs: variable",
			"delete <$X> rm deletes: known only when it runs", "write <> out.txt> writes out.txt",
		},
		"sudo ls": {"wrapper <sudo> sudo ls", "privilege <sudo> sudo becomes another user", "program <ls> ls, run by sudo"},
		"A=1 sh -c 'rm x'": {
			"assignment <A=1> sets A", "inline <sh -c 'rm x'> sh runs a text as a program", `program <sh> sh -c "rm x"`,
			"program <rm> rm x, run by sh", "delete <x> rm deletes: x",
		},
		"npm install x && yarn add y && npm test": {
			"inline <install> npm fetches code and may run it", "inline <add> yarn fetches code and may run it", "inline <test> npm runs a program from a file",
		},
		"$X y":         {"dynamic <$X> which program this is, is known only when it runs: variable"},
		"cat < in.txt": {"program <cat>", "read << in.txt> reads in.txt"},
		"echo 'x":      {"problem <echo 'x> it does not parse: "},
	} {
		p := hookFor(t, "Bash", obj{"command": command}).Present(sayso.Facts{}, untouched(t))
		var got []string
		for _, m := range p.Marks {
			text := string(m.Kind) + " <" + p.Content[m.From:m.To] + ">"
			if m.Text != "" {
				text += " " + m.Text
			}
			got = append(got, text)
		}
		for _, w := range want { // inspection may come to say more
			found := false
			for _, g := range got {
				found = found || strings.HasPrefix(g, w)
			}
			if !found {
				t.Errorf("%s: nothing says %q, but\n%s", command, w, strings.Join(got, "\n"))
			}
		}
	}
}

// No more is said of a command than can be read, and it is said that there is
// more.
func TestPresent_longCommands(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "echo %d; ", i)
	}
	b.WriteString("echo " + strings.Repeat("x", 5000))
	p := hookFor(t, "Bash", obj{"command": b.String()}).Present(sayso.Facts{}, untouched(t))
	last := p.Marks[len(p.Marks)-1]
	if len(p.Marks) != present.MaxMarks || !strings.HasSuffix(last.Text, " more parts are not listed") {
		t.Errorf("%d marks, the last %+v", len(p.Marks), last)
	}
	p = hookFor(t, "Bash", obj{"command": "true; echo " + strings.Repeat("x", 5000)}).Present(sayso.Facts{}, untouched(t))
	if last := p.Marks[len(p.Marks)-1]; !strings.HasSuffix(last.Text, " more characters]") || len(last.Text) > 300 {
		t.Errorf("%d bytes: %.60s", len(last.Text), last.Text)
	}
}

// FuzzPresent_commands: whatever the command, its text is the content, and the
// marks stand in it, in their order.
func FuzzPresent_commands(f *testing.F) {
	for _, s := range []string{"", "ls", "sudo -u x rm $Y >z", "a 'b", "bash -c \"x\" <<E\n$(y)\nE", "echo \u202e\x00", strings.Repeat("(", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		command = strings.ToValidUTF8(command, "?")
		p := hookFor(t, "Bash", obj{"command": command}).Present(sayso.Facts{}, untouched(t))
		if p.Content != command && len(command) <= present.MaxContent {
			t.Fatalf("%q is presented as %q", command, p.Content)
		}
		at := 0
		for _, m := range p.Marks[:max(0, len(p.Marks)-1)] {
			if m.From < at || m.To < m.From || m.To > len(command) {
				t.Fatalf("%q has a mark %+v behind %d", command, m, at)
			}
			at = m.From
		}
	})
}
