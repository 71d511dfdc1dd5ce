package redact

import (
	"regexp"
	"slices"
	"strings"
)

// runners are words of programs in any language that run what they are handed.
var runners = [...]string{"system", "exec", "popen", "spawn", "eval", "subprocess", "compile", "__import__", "import_module", "getattr",
	"child_process", "function(", "getline", "|", "`", `\!`, "shell"}

var (
	perlRuns = regexp.MustCompile(`\bqx\b`) // two letters stand inside many a word
	longWord = regexp.MustCompile(`[A-Za-z0-9]{16,}`)
)

// runsThings reports whether a program may run what it is handed. Letters inside a
// word that looks random are no word of a program.
func runsThings(program string) bool { return runsAny(program, runners[:]) }

func runsAny(program string, runners []string) bool {
	program = strings.ToLower(longWord.ReplaceAllStringFunc(program, func(word string) string {
		if looksRandom(word) {
			return ""
		}
		return word
	}))
	return perlRuns.MatchString(program) || slices.ContainsFunc(runners, func(r string) bool { return strings.Contains(program, r) })
}

// codeRunners are what runs things in a program that is handed over whole. Signs
// that only some languages run things with, and that others use for everything,
// are among them with what makes them run a value.
var codeRunners = [...]string{"system", "exec", "popen", "spawn", "eval", "subprocess", "compile", "__import__", "import_module", "getattr",
	"child_process", "function(", "getline", "`#{", "`$", "%x", "deno.command", "bun.$", "processbuilder", "getruntime", "startfile",
	"start-process", "command::new", "invoke-", "iex ", "iex(", "proc_open", "passthru", "dlopen", "ctypes", "loadlibrary", "dispatch("}

// runsCode is runsThings of a program that is an argument of its own.
func runsCode(program string) bool { return runsAny(program, codeRunners[:]) }

// calls is how programs that are no shell call a function.
var calls = regexp.MustCompile(`\w ?\(`)

// codeNames end the names of members that hold a program.
var codeNames = set(`script scripts code source program snippet javascript js typescript python py ruby perl php lua sql stdin input expression eval function lambda cell`)

// codeName reports whether a string under a name may be a program, in any language.
func codeName(name string) bool {
	ws := words(name)
	return len(ws) > 0 && codeNames[ws[len(ws)-1]]
}

// isAddress reports whether a text is one word with the sign of an address.
func isAddress(text string) bool {
	return strings.Contains(text, "://") && !strings.ContainsAny(text, " \t\r\n$`;|<>\"'()")
}
