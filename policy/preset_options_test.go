package policy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// starred finds the patterns on commands with a star in the text of a preset.
var starred = regexp.MustCompile(`"bash:([^"*]+)\*"`)

// running finds the options of the tables that run something, by the names that
// stand in front of a section, and which of those have subcommands.
func running(t *testing.T) (out map[string][]string, subcommands map[string]bool) {
	t.Helper()
	files, err := filepath.Glob("../inspect/shell/programs/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	out, subcommands = map[string][]string{}, map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), ";")
			head, flags, ok := strings.Cut(line, ":")
			switch {
			case strings.HasPrefix(line, "#") || line == "":
			case line[0] != ' ' && ok:
				names = strings.Split(head, ", ")
				for _, name := range names {
					out[name] = []string{}
					subcommands[name] = strings.Contains(flags, " subcommands")
				}
			case strings.HasPrefix(line, " "):
				for _, name := range names {
					out[name] = append(out[name], runningOptions(line)...)
				}
			}
		}
	}
	return out, subcommands
}

// runningOptions are the ways to write the options of a line of the tables if
// they run something.
func runningOptions(line string) (out []string) {
	var names []string
	value, runs := "none", false
	for word := range strings.FieldsSeq(line) {
		switch {
		case word[0] == '-':
			names = append(names, strings.TrimSuffix(word, ","))
		case word[0] == '[':
			value = "attached"
		case word[0] >= 'A' && word[0] <= 'Z':
			value = "any"
		case word == "runs" || word == "inline" || word == "shell" || word == "command":
			runs = true
		}
	}
	if !runs {
		return nil
	}
	for _, name := range names {
		if value != "attached" {
			out = append(out, name+" x")
		}
		if value == "none" {
			continue
		}
		if len(name) == 2 {
			out = append(out, name+"x")
		} else {
			out = append(out, name+"=x")
		}
	}
	return out
}

// section is the name of the section that has the options of a command: that of
// its subcommand if there is one, whatever options stand between its words.
func section(lead string, options map[string][]string, subcommands map[string]bool) (name string) {
	if _, module, ok := strings.Cut(lead, " -m "); ok && strings.HasPrefix(lead, "python") {
		lead = module
	}
	for word := range strings.FieldsSeq(lead) {
		if strings.HasPrefix(word, "-") {
			continue
		}
		next := strings.TrimPrefix(name+" "+word, " ")
		if _, ok := options[next]; !ok {
			next = name + " *"
			switch _, ok := options[next]; {
			case name == "" || subcommands[name] && !ok:
				return "" // options behind a subcommand that is not known are its own
			case !ok:
				return name
			}
		}
		name = next
	}
	return name
}

// No star of a preset reaches an option that runs something.
func TestSH8_presetsAskAboutOptionsThatRun(t *testing.T) {
	t.Parallel()
	options, subcommands := running(t)
	tried := 0
	for _, name := range policy.Presets() {
		p := preset(t, name)
		text, _ := policy.Preset(name)
		for _, m := range starred.FindAllStringSubmatch(string(text), -1) {
			lead := m[1]
			for _, option := range options[section(lead, options, subcommands)] {
				tried++
				if v := judgeOn(p, yard(), bash(t, lead+" "+option)); v.Effect == sayso.Allow {
					t.Errorf("%s: %q is allowed by %q", name, lead+" "+option, v.Rule)
				}
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d options were tried; are the tables read?", tried)
	}
}

// What git bisect shows its commits with is a command like any other.
func TestSH7_bisectView(t *testing.T) {
	p := load(t, `version: 1
rules:
  - allow: ["bash:git*", "bash:evil*"]
  - deny: ["bash:git push*", "bash:evil*"]
`)
	commands(t, p, sayso.Allow, "git bisect start", "git bisect good")
	commands(t, p, sayso.Ask, "git bisect view", "git bisect view git -c alias.x='!evil' x", "git bisect visualize log")
	commands(t, p, sayso.Deny, "git bisect view push", "git bisect view git push -f", "git bisect visualize git -C x push")
}
