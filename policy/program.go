package policy

import (
	"strings"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// program is a place in a command line where a program may stand, with all
// that follows it in its command.
type program struct {
	name  string       // last path part, lower case
	words []shell.Word // the program itself first
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
	return [2]int{p.words[0].Span.From, p.words[n-1].Span.To}
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
	var kept [][]shell.Word
	kept, broken = loosely(text)
	found = make([]program, 0, len(kept))
	for _, words := range kept {
		found = appendPrograms(found, words, 0, 0, 0)
	}
	return found, broken
}

// loosely is [shell.Loosely] with the words kept.
func loosely(text string) (commands [][]shell.Word, broken bool) {
	var room []shell.Word
	broken = shell.Loosely(text, func(words []shell.Word) {
		from := len(room)
		if from+len(words) > cap(room) {
			room, from = make([]shell.Word, 0, max(len(words), min(2*cap(room), 512), 8)), 0
		}
		room = append(room, words...)
		commands = append(commands, room[from:len(room):len(room)])
	})
	return commands, broken
}

// anyProgram reports whether a program of a command line is what is looked for.
// It keeps none of them.
func anyProgram(text string, is func(p *program) bool) (found bool) {
	var progs []program
	shell.Loosely(text, func(words []shell.Word) {
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

func appendPrograms(found []program, words []shell.Word, from, to, depth int) []program {
	for len(words) > 0 && (keywords[words[0].Text] || isAssignment(words[0].Text)) {
		words = words[1:]
	}
	if len(words) == 0 {
		return found
	}
	p := program{name: strings.ToLower(base(words[0].Text)), words: words, from: from, to: to, dynamic: !words[0].Literal()}
	found = append(found, p)
	wraps, reads := wrappers[p.name], shells[p.name]
	for i := 1; i < len(words); i++ {
		w := words[i]
		if words[i-1].Text == "{" { // the body of a function
			return appendPrograms(found, words[i:], from, to, depth)
		}
		if reads && depth < maxInner && !strings.HasPrefix(w.Text, "-") {
			found = appendInner(found, words[i:i+1:i+1], from, to, depth)
		}
		if !wraps && !runsNext(words[i-1].Text) {
			continue
		}
		inner := program{name: strings.ToLower(base(w.Text)), words: words[i:], from: from, to: to, dynamic: !w.Literal()}
		found = append(found, inner)
		wraps, reads = wraps || wrappers[inner.name], reads || shells[inner.name]
	}
	return found
}

// meaning are the characters that make a text more than one plain word.
const meaning = " \t\n;|&()<>$`'\"\\#"

// appendInner reads a word, the only one of words, as a line of its own.
func appendInner(found []program, words []shell.Word, from, to, depth int) []program {
	w := words[0]
	if to == 0 {
		from, to = w.Span.From, w.Span.To
	}
	if !strings.ContainsAny(w.Text, meaning) {
		return append(found, program{name: strings.ToLower(base(w.Text)), words: words, from: from, to: to, dynamic: !w.Literal()})
	}
	commands, _ := loosely(w.Text)
	for _, words := range commands {
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
