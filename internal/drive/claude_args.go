package drive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ClaudeArgs are the arguments with which Claude Code is driven, in front of those of
// the person: so that none of theirs can take one of ours for its value.
func ClaudeArgs(own []string) []string {
	return append([]string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"}, own...)
}

// takes is how many values an argument of Claude Code has.
type takes uint8

const (
	none takes = iota + 1
	one
	atMostOne
	many
)

// claudeTakes are the arguments of Claude Code 2.1.330 that are known to leave the
// gate as it is: with them its hooks are called and we are asked, the session stays
// here, and what we write and read stays what it is. Nobody knows that of the others,
// of which each release has new ones, some of them in no help.
var claudeTakes = map[string]takes{
	"--add-dir": many, "--agent": one, "--agents": one, "--allowedTools": many, "--allowed-tools": many,
	"--append-system-prompt": one, "--append-system-prompt-file": one, "--autocompact": one, "--betas": many, "--brief": none,
	"--continue": none, "-c": none, "--debug": atMostOne, "-d": atMostOne, "--debug-file": one, "--disable-slash-commands": none,
	"--disallowedTools": many, "--disallowed-tools": many, "--effort": one, "--exclude-dynamic-system-prompt-sections": none,
	"--fallback-model": one, "--fork-session": none, "--forward-subagent-text": none, "--include-hook-events": none,
	"--include-partial-messages": none, "--json-schema": one, "--max-budget-usd": one, "--max-turns": one, "--mcp-config": many,
	"--model": one, "--name": one, "-n": one, "--no-chrome": none, "--no-session-persistence": none, "--permission-mode": one,
	"--plugin-dir": one, "--replay-user-messages": none, "--restricted": none, "--resume": atMostOne, "-r": atMostOne, "--safe-mode": none,
	"--session-id": one, "--setting-sources": one, "--settings": one, "--strict-mcp-config": none, "--system-prompt": one,
	"--system-prompt-file": one, "--system-prompt-snapshot": one, "--tools": many, "--verbose": none, "--worktree": atMostOne, "-w": atMostOne,
}

// claudeModes are the permission modes in which Claude Code asks where a hook has it
// ask.
var claudeModes = []string{"acceptEdits", "auto", "default", "dontAsk", "manual", "plan"}

// claudeAgainst is why some arguments are refused, in better words than that they are
// not known.
var claudeAgainst = map[string]string{
	"--dangerously-skip-permissions":       everyCall,
	"--allow-dangerously-skip-permissions": everyCall,
	"--inherit-permission-mode":            "it lets calls run",
	"--permission-prompt-tool":             "sayso is asked here",
	"--permission-prompts":                 "sayso is asked here",
	"--bare":                               "it skips the hooks that have every call asked about",
	"--managed-settings":                   "it can switch off the hooks that have every call asked about",
	"--managed-settings-in-initialize":     "it can switch off the hooks that have every call asked about",
	"--input-format":                       "sayso writes the input",
	"--output-format":                      "sayso reads the output; for the host's own lines, sayso claude --json",
	"-h":                                   "it runs nothing; claude --help prints its help",
	"--help":                               "it runs nothing; claude --help prints its help",
	"-v":                                   "it runs nothing; claude --version prints its version",
	"--version":                            "it runs nothing; claude --version prints its version",
	"-p":                                   "sayso gives the prompt",
	"--print":                              "sayso gives the prompt",
	"--bg":                                 "it would leave us",
	"--background":                         "it would leave us",
	"--tmux":                               "it would leave us",
	"--cloud":                              "it runs elsewhere",
	"--remote":                             "it runs elsewhere",
	"--environment":                        "it runs elsewhere",
	"--teleport":                           "it runs elsewhere",
	"--desktop":                            "it runs elsewhere",
	"--web":                                "it runs elsewhere",
	"--remote-control":                     "it is answered elsewhere",
	"--rc":                                 "it is answered elsewhere",
	"--sdk-url":                            "it is answered elsewhere",
	"--attach-serve":                       "it is answered elsewhere",
	"--session-tunnel":                     "it is answered elsewhere",
	"--messaging-socket-path":              "it is answered elsewhere",
	"--":                                   "what stands behind it is no argument any more",
}

const everyCall = "it lets every call run"

// Wide is the error of an argument by which nobody would be asked about anything.
type Wide struct{ text string }

func (w *Wide) Error() string { return w.text }

// ClaudeTakes are the names of the arguments that Claude Code may have here, and how
// each is given.
func ClaudeTakes() map[string]string {
	out := map[string]string{}
	for name, n := range claudeTakes {
		out[name] = map[takes]string{none: "", one: "<>", atMostOne: "[]", many: "<...>"}[n]
	}
	return out
}

// CheckClaude reports arguments of the person that the host may not have here. Those
// that it may have are known, with what stands behind each: a word that is nobody's
// value would be the prompt, or one of Claude Code's own commands.
func CheckClaude(own []string) error {
	for len(own) > 0 {
		n, err := claudeArgument(own)
		if err != nil {
			return err
		}
		own = own[n:]
	}
	return nil
}

// claudeArgument checks the first of the arguments, and says how many it and its
// values are.
func claudeArgument(own []string) (n int, err error) {
	name, value, joined := strings.Cut(own[0], "=")
	values := valuesOf(own)
	if joined {
		values = []string{value}
	}
	takes, known := claudeTakes[name]
	switch {
	case !known:
		return 0, notTaken(name)
	case joined && !strings.HasPrefix(name, "--"):
		return 0, fmt.Errorf("%s cannot be driven: Claude Code reads the = into the value; write %s %s", own[0], name, value)
	case takes == none && joined:
		return 0, fmt.Errorf("%s cannot be driven: %s has no value", own[0], name)
	case takes == none:
		return 1, nil
	case len(values) == 0 && takes != atMostOne:
		return 0, fmt.Errorf("%s has no value behind it; one that begins with - is written %s=VALUE", name, name)
	case name == "--permission-mode" && !slices.Contains(claudeModes, values[0]):
		return 0, wrongMode(values[0])
	case joined || len(values) == 0:
		return 1, nil
	case takes == many:
		return 1 + len(values), nil
	}
	return 2, nil
}

// valuesOf are the words behind an argument that may be its values. What begins with a
// dash is none, whatever Claude Code takes it for.
func valuesOf(own []string) []string {
	n := 1
	for n < len(own) && !strings.HasPrefix(own[n], "-") {
		n++
	}
	return own[1:n]
}

func notTaken(name string) error {
	switch why := claudeAgainst[name]; why {
	case "":
	case everyCall:
		return &Wide{name + " cannot be driven: " + why}
	default:
		return fmt.Errorf("%s cannot be driven: %s", name, why)
	}
	if !strings.HasPrefix(name, "-") {
		return fmt.Errorf("%q cannot be driven: it is the value of no argument; what you say to the agent stands in front of --", name)
	}
	return fmt.Errorf("%s cannot be driven: it is not known to leave the gate as it is. Known are %s. "+
		"For others install the hook (sayso init claude-code) and start Claude Code yourself", name, strings.Join(slices.Sorted(maps.Keys(claudeTakes)), " "))
}

func wrongMode(mode string) error {
	if mode == "bypassPermissions" {
		return &Wide{"--permission-mode bypassPermissions cannot be driven: it lets every call run"}
	}
	return fmt.Errorf("--permission-mode %s cannot be driven: known are %s", mode, strings.Join(claudeModes, ", "))
}
