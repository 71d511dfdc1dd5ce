package policy

import "strings"

// program is a place in a command line where a program may stand, with all
// that follows it in its command.
type program struct {
	name  string // last path part, lower case
	words []word // the program itself first
	// Where the words come from a text inside the line, from and to are where
	// that text stands; to is 0 otherwise.
	from, to int
	dynamic  bool // what is run is only known when it runs
}

// span is where the first n words stand in the line.
func (p *program) span(n int) [2]int {
	if p.to != 0 {
		return [2]int{p.from, p.to}
	}
	if n = min(n, len(p.words)); n == 0 {
		return [2]int{}
	}
	return [2]int{p.words[0].from, p.words[n-1].to}
}

// wrappers run the program that their arguments name. Any of their words may
// be that program.
var wrappers = set(
	"sudo", "doas", "su", "env", "nohup", "nice", "ionice", "time", "timeout", "gtimeout", "setsid", "stdbuf",
	"command", "builtin", "exec", "xargs", "parallel", "busybox", "toybox", "flock", "chroot", "unshare", "nsenter",
	"taskset", "watch", "strace", "ltrace", "script", "chrt", "prlimit", "systemd-run", "runuser", "setpriv", "pkexec",
	"caffeinate", "arch", "catchsegv", "ld.so", "ld-linux-x86-64.so.2", "ssh", "docker", "podman", "kubectl", "entr",
	"direnv", "mise", "npx", "bunx", "pnpx", "uvx", "dbus-run-session", "firejail", "bwrap", "proxychains", "torsocks",
	"faketime", "eatmydata", "unbuffer", "expect", "tmux", "screen", "at", "batch", "trap",
	"systemd-cat", "systemd-inhibit", "rlwrap", "chronic", "numactl", "cgexec", "sg", "newgrp", "winpty", "catatonit", "tini", "dumb-init",
)

// shells run text, from their arguments or from what they read.
var shells = set(
	"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "yash", "eval", "source", ".", "su", "ssh", "trap",
	"watch", "script", "parallel", "xargs", "env", "at", "batch", "tmux", "screen", "entr",
)

// interpreters run text in another language.
var interpreters = set(
	"python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh",
	"wish", "awk", "gawk", "mawk", "nawk", "rscript", "osascript", "pwsh", "powershell", "guile", "elixir", "julia", "groovy",
	"jshell", "swipl", "expect",
)

// keywords may stand before a program.
var keywords = set("!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc", "function", "fi", "done", "esac")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// base is the last part of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// programs finds every place in a command line where a program may stand.
func programs(text string) (found []program, broken bool) {
	l := readLine(text)
	found = make([]program, 0, len(l.commands))
	for _, words := range l.commands {
		found = appendPrograms(found, words, 0, 0, 0)
	}
	return found, l.broken
}

// anyProgram reports whether a program of a command line is what is looked for.
// It keeps none of them.
func anyProgram(text string, is func(p *program) bool) (found bool) {
	var progs []program
	eachCommand(text, func(words []word) {
		if found {
			return
		}
		progs = appendPrograms(progs[:0], words, 0, 0, 0)
		for i := range progs {
			if found = is(&progs[i]); found {
				return
			}
		}
	})
	return found
}

// maxInner is how often a text inside a text is read as a line again.
const maxInner = 4

func appendPrograms(found []program, words []word, from, to, depth int) []program {
	for len(words) > 0 && (keywords[words[0].text] || isAssignment(words[0].text)) {
		words = words[1:]
	}
	if len(words) == 0 {
		return found
	}
	p := program{name: strings.ToLower(base(words[0].text)), words: words, from: from, to: to, dynamic: words[0].dynamic}
	found = append(found, p)
	wraps, reads := wrappers[p.name], shells[p.name]
	for i := 1; i < len(words); i++ {
		w := words[i]
		if words[i-1].text == "{" { // the body of a function
			return appendPrograms(found, words[i:], from, to, depth)
		}
		if reads && depth < maxInner && !strings.HasPrefix(w.text, "-") {
			found = appendInner(found, words[i:i+1:i+1], from, to, depth)
		}
		if !wraps && !runsNext(words[i-1].text) {
			continue
		}
		inner := program{name: strings.ToLower(base(w.text)), words: words[i:], from: from, to: to, dynamic: w.dynamic}
		found = append(found, inner)
		wraps, reads = wraps || wrappers[inner.name], reads || shells[inner.name]
	}
	return found
}

// meaning are the characters that make a text more than one plain word.
const meaning = " \t\n;|&()<>$`'\"\\#"

// appendInner reads a word, the only one of words, as a line of its own.
func appendInner(found []program, words []word, from, to, depth int) []program {
	w := words[0]
	if to == 0 {
		from, to = w.from, w.to
	}
	if !strings.ContainsAny(w.text, meaning) {
		return append(found, program{name: strings.ToLower(base(w.text)), words: words, from: from, to: to, dynamic: w.dynamic})
	}
	for _, words := range readLine(w.text).commands {
		found = appendPrograms(found, words, from, to, depth+1)
	}
	return found
}

// runsNext reports whether the word behind this one is a program.
func runsNext(word string) bool {
	switch word {
	case "run", "exec", "-exec", "-execdir", "-ok", "-okdir", "--exec", "-x":
		return true
	}
	return false
}

// isAssignment reports whether a word sets a variable.
func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && c != '+' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// maxSearch is how much is looked at in one line.
const maxSearch = 100_000

// programs takes the command of a call apart, once.
func (s *subject) programs() []program {
	if !s.lexed {
		s.progs, s.broken = programs(s.arg)
		s.lexed = true
	}
	return s.progs
}
