package policy_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/sayso-dev/sayso"
)

// A second reading of command lines, written for itself and strict: it knows
// far less of a shell than the first, and says why a line must not be allowed.
// What it does not know it leaves to the first.

// reread is a line taken apart by the second reading.
type reread struct {
	commands [][]string // words without quotes
	why      string     // why it must not be allowed
	lost     bool       // something that this reading does not know
}

// reserved are words that begin more than a simple command.
var reserved = []string{"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "for", "in", "case", "esac", "select", "function", "time", "coproc", "!", "{", "}", "[[", "]]"}

func secondReading(line string) (r reread) {
	if i := strings.IndexFunc(line, func(c rune) bool {
		return c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c))
	}); i >= 0 {
		r.why = "a character that cannot be seen"
		return r
	}
	var words []string
	var word strings.Builder
	open, quoted := false, false
	endWord := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open, quoted = false, false
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			r.commands = append(r.commands, words)
		}
		words = nil
	}
	dynamic := func(rest string) bool {
		return len(rest) > 1 && (rest[0] == '`' || rest[0] == '$' && strings.ContainsRune("({[@*#?$!-_0123456789", rune(rest[1])) || rest[0] == '$' && unicode.IsLetter(rune(rest[1])))
	}
	for i := 0; i < len(line); i++ {
		c, rest := line[i], line[i:]
		switch {
		case c == '\'':
			end := strings.IndexByte(rest[1:], '\'')
			if end < 0 {
				r.why = "a quote that does not end"
				return r
			}
			open, quoted = true, true
			word.WriteString(rest[1 : 1+end])
			i += end + 1
		case c == '"':
			open, quoted = true, true
			for i++; ; i++ {
				if i >= len(line) {
					r.why = "a quote that does not end"
					return r
				}
				if line[i] == '"' {
					break
				}
				if line[i] == '\\' && i+1 < len(line) {
					if strings.IndexByte("$`\"\\", line[i+1]) < 0 && line[i+1] != '\n' {
						word.WriteByte('\\')
					}
					if i++; line[i] != '\n' {
						word.WriteByte(line[i])
					}
					continue
				}
				if dynamic(line[i:]) || line[i] == '`' {
					r.why = "an expansion in quotes"
					return r
				}
				word.WriteByte(line[i])
			}
		case c == '\\':
			if i++; i >= len(line) {
				r.lost = true
				return r
			}
			if line[i] != '\n' {
				open, quoted = true, true
				word.WriteByte(line[i])
			}
		case c == '`' || dynamic(rest):
			r.why = "an expansion"
			return r
		case c == '$' || c == '(' || c == ')' || c == '{' || c == '}':
			r.lost = true // $'…', arrays, braces, groups
			return r
		case c == '#' && !open:
			for i+1 < len(line) && line[i+1] != '\n' {
				i++
			}
		case c == ' ' || c == '\t':
			endWord()
		case c == '\n' || c == ';' || c == '|' || c == '&' && !strings.HasPrefix(rest, "&>"):
			endCommand()
		case c == '<' || c == '>' || c == '&':
			if strings.HasPrefix(rest, "<<") || strings.HasPrefix(rest, "<(") || strings.HasPrefix(rest, ">(") {
				r.lost = true
				return r
			}
			if n := word.Len(); !quoted && n < 10 && strings.Trim(word.String(), "0123456789") == "" { // a longer number may be a word
				word.Reset()
				open = false
			}
			endWord()
			op := strings.IndexFunc(rest, func(c rune) bool { return !strings.ContainsRune("<>&|", c) })
			if op < 0 {
				r.why = "a redirection to nothing"
				return r
			}
			target := strings.TrimLeft(rest[op:], " \t")
			harmless := slices.ContainsFunc([]string{"/dev/null", "/dev/stdout", "/dev/stderr"}, func(name string) bool {
				return strings.HasPrefix(target, name) && (len(target) == len(name) || strings.IndexByte(" \t\n;|&<>)", target[len(name)]) >= 0)
			})
			if strings.HasSuffix(rest[:op], "&") && strings.HasPrefix(target, "-") {
				i += len(rest) - len(target) // what follows is a word
				continue
			}
			number := strings.TrimLeft(target, "0123456789")
			duplicate := strings.HasSuffix(rest[:op], "&") && len(number) < len(target) && strings.Trim(number[:min(1, len(number))], " \t\n;|&<>)-") == ""
			if strings.Contains(rest[:op], ">") && !harmless && !duplicate {
				r.why = "a redirection to a file"
				return r
			}
			i += len(rest) - len(target) - 1
			for i+1 < len(line) && strings.IndexByte(" \t\n;|&<>)", line[i+1]) < 0 {
				if i++; strings.IndexByte("'\"\\$`(", line[i]) >= 0 {
					r.lost = true
					return r
				}
			}
		default:
			open = true
			word.WriteByte(c)
		}
	}
	endCommand()
	return r
}

// refuses says why a line must not be allowed by patterns that are word
// prefixes; empty if this reading finds nothing.
func (r reread) refuses(allowed [][]string) string {
	if r.why != "" || r.lost {
		return r.why
	}
	if len(r.commands) == 0 {
		return "no command"
	}
	for _, words := range r.commands {
		if slices.Contains(reserved, words[0]) {
			return ""
		}
		for len(words) > 0 {
			name, _, assigns := strings.Cut(words[0], "=")
			if !assigns || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") != "" {
				break
			}
			if !slices.Contains([]string{"LANG", "TZ", "CI", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}, name) && !strings.HasPrefix(name, "LC_") {
				return "an assignment"
			}
			words = words[1:]
		}
		fits := func(prefix []string) bool {
			return len(words) >= len(prefix) && slices.Equal(words[:len(prefix)], prefix)
		}
		if len(words) > 0 && !slices.ContainsFunc(allowed, fits) {
			return "a command that no pattern covers: " + strings.Join(words, " ")
		}
	}
	return ""
}

// recheckPolicy is what the second reading is held against, and recheckAllowed
// its allows.
const recheckPolicy = `version: 1
shell:
  default: {allowed: true, approval: true}
  rules:
    - {pattern: ls, approval: false}
    - {pattern: echo, approval: false}
    - {pattern: git status, approval: false}
    - {pattern: cat, approval: false}
    - {pattern: find, approval: false}
    - {pattern: timeout, approval: false}
    - {pattern: rm, allowed: false}
`

var recheckAllowed = [][]string{{"ls"}, {"echo"}, {"git", "status"}, {"cat"}, {"find"}, {"timeout"}}

func recheck(t testing.TB, p sayso.Policy, line string) (allowed bool) {
	v := judge(p, bash(t, line))
	again := secondReading(line)
	why := again.refuses(recheckAllowed)
	if v.Effect == sayso.Allow && why != "" {
		t.Errorf("%q is allowed by %q; the second reading says: %s", line, v.Rule, why)
	}
	if v.Effect != sayso.Deny && !again.lost && again.why == "" {
		for _, words := range again.commands {
			if words[0] == "rm" {
				t.Errorf("%q is not denied (%s by %q), and runs rm", line, v.Effect, v.Rule)
			}
		}
	}
	if v.Span[0] < 0 || v.Span[0] > v.Span[1] || v.Span[1] > len(line) {
		t.Errorf("%q: span %v", line, v.Span)
	}
	return v.Effect == sayso.Allow
}

// pieces are what random lines are made of.
var pieces = []string{
	"ls", "echo", "git", "status", "cat", "rm", "x", "-l", "--", "a/b", "find", ".", "timeout 5", " ", " ", " ", " ", "\t", "\n", ";", "; ", " && ", " || ", " | ", "&", "'", "\"", "\\", "'a b'", "\"c d\"", "$X", "$(ls)", "`ls`", ">x", "> /dev/null", "2>&1", "<x",
	"X=1 ", "LANG=C ", "#", "*", "{a,b}", "(", ")", "{ ", "; }", "if ", "; then ", "; fi", "!", "$'x'", "\u200b", "\r", ">&-", "2>&", "-", "0", "3000000000", "é", "~", "-exec", "rm x", "ls x", "echo y", "=", "git status", "/bin/ls", "./ls",
}

// TestDE4_secondReading holds random lines against a second, strict reading.
func TestDE4_secondReading(t *testing.T) {
	p := load(t, recheckPolicy)
	rnd := rand.New(rand.NewPCG(3, 3))
	rounds, allowed := 30_000, 0
	if testing.Short() {
		rounds = 3000
	}
	for range rounds {
		var b strings.Builder
		for range 1 + rnd.IntN(9) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		if recheck(t, p, b.String()) {
			allowed++
		}
	}
	if allowed < rounds/50 {
		t.Errorf("%d of %d lines were allowed: too few to say anything", allowed, rounds)
	}
}

// FuzzLine is the same for lines that the fuzzer thinks of.
func FuzzLine(f *testing.F) {
	for _, line := range []string{"ls", "ls; rm x", "git status | cat", "echo 'a' \"b\" \\c", "ls >/dev/null 2>&1", "X=1 ls", "ls $'\\x41'", "timeout 5 ls", "find . -exec ls {} +", "# x\nls", "cat <<E\nx\nE", "l\\\ns", "ls &>/dev/null", "case x in x) ls;; esac",
		"ls >&-; rm x", ">&-rm x", "ls 2>& -", "\\0>&1", "3000000000>/dev/null rm x", "ls >&2 rm", "ls >&2-"} {
		f.Add(line)
	}
	p := load(f, recheckPolicy)
	f.Fuzz(func(t *testing.T, line string) {
		recheck(t, p, strings.ToValidUTF8(line, "?"))
	})
}
