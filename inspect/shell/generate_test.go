package shell_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes random lines of bash out of programs that exist as stubs.
// In a literal line every word of every command is certain by construction.
type generator struct {
	*rand.Rand
	literal bool
	depth   int
	used    map[string]int // how often each wrapper and shape was written
	bodies  []string       // here-documents that wait for the end of the line
	noHdoc  int            // > 0 where the line must not end
	funcs   int
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 1)), used: map[string]int{}}
}

// leaves are programs that run nothing.
var leaves = []string{"alpha", "beta", "gamma", "delta", "ls", "cat", "grep", "wc", "head", "nope"}

// wrapping is a wrapper with some of its options, as its manual page has them.
type wrapping struct {
	name    string
	options []string // each with its value, if it has one
	before  []string // operands before the command
	kind    string   // how the command stands in it; "" for as words
}

var wrappings = []wrapping{
	{name: "sudo", options: []string{"-u root", "-n", "-E", "--user=root", "-Hn", "-p x", "A=b"}},
	{name: "doas", options: []string{"-u root", "-n"}},
	{name: "pkexec", options: []string{"--user root", "--keep-cwd"}},
	{name: "gosu", before: []string{"nobody"}},
	{name: "su", options: []string{"-", "-l", "root"}, kind: "text -c"},
	{name: "runuser", options: []string{"-u nobody --"}},
	{name: "sg", before: []string{"staff"}, kind: "text -c"},
	{name: "env", options: []string{"-i", "-u X", "A=b", "--unset=X", "-", "--", "--ignore-environment"}},
	{name: "env", kind: "split"},
	{name: "nohup"},
	{name: "nice", options: []string{"-n 5", "-5", "--adjustment=3", "-n5"}},
	{name: "ionice", options: []string{"-c 2", "-c2 -n 0", "-t"}},
	{name: "timeout", options: []string{"-k 5", "-s KILL", "--signal=TERM", "--foreground", "-v"}, before: []string{"9"}},
	{name: "setsid", options: []string{"-w", "--wait"}},
	{name: "stdbuf", options: []string{"-o L", "-oL", "--output=0", "-i0 -e0"}},
	{name: "command", kind: "builtin"},
	{name: "builtin", kind: "builtin"},
	{name: "exec", kind: "exec"},
	{name: "xargs", options: []string{"-n 1", "-n1", "-0", "-r", "-P 2", "-I {}", "--max-args=1", "-t"}},
	{name: "parallel", options: []string{"-j 2", "-k", "--jobs 2"}},
	{name: "find", kind: "find"},
	{name: "fd", kind: "fd"},
	{name: "busybox"},
	{name: "toybox"},
	{name: "flock", options: []string{"-n", "-w 2", "-x"}, before: []string{"lock"}},
	{name: "flock", before: []string{"lock"}, kind: "text -c"},
	{name: "chroot", options: []string{"--userspec=root", "--skip-chdir"}, before: []string{"."}},
	{name: "unshare", options: []string{"-r", "-m", "--fork", "-n", "--map-root-user", "-S 0"}},
	{name: "nsenter", options: []string{"-t 1", "-m", "--target=1", "-a"}},
	{name: "taskset", options: []string{"-c"}, before: []string{"0"}},
	{name: "watch", options: []string{"-n 1", "-d", "-t", "-x", "--interval=2"}},
	{name: "strace", options: []string{"-f", "-o log", "-e trace=open", "-s 9", "-c"}},
	{name: "ltrace", options: []string{"-f", "-o log"}},
	{name: "script", options: []string{"-q", "-e"}, kind: "text -c"},
	{name: "ld.so", options: []string{"--library-path x", "--preload x", "--argv0 x"}},
	{name: "time", options: []string{"-p", "-v"}, kind: "time"},
	{name: "chrt", options: []string{"-f", "-b"}, before: []string{"1"}},
	{name: "numactl", options: []string{"-C 0", "--membind=0", "-l"}},
	{name: "setpriv", options: []string{"--reuid 0", "--clear-groups", "--no-new-privs"}},
	{name: "prlimit", options: []string{"--nofile=9", "-n9"}},
	{name: "catchsegv"},
	{name: "eatmydata"},
	{name: "chronic", options: []string{"-v"}},
	{name: "torsocks", options: []string{"-i", "-P 9"}},
	{name: "fakeroot", options: []string{"-u"}},
	{name: "unbuffer", options: []string{"-p"}},
	{name: "dumb-init", options: []string{"-v", "--"}},
	{name: "catatonit", options: []string{"--"}},
	{name: "dbus-run-session", options: []string{"--"}},
	{name: "systemd-cat", options: []string{"-t x", "-p info"}},
	{name: "xvfb-run", options: []string{"-a", "-n 9"}},
	{name: "caffeinate", options: []string{"-i", "-t 9"}},
	{name: "setarch", before: []string{"x86_64"}, options: []string{"-R"}},
	{name: "linux64", options: []string{"-R"}},
	{name: "rlwrap", options: []string{"-f x", "-i"}},
	{name: "proxychains", options: []string{"-q", "-f x"}},
	{name: "faketime", options: []string{"-m"}, before: []string{"now"}},
	{name: "cpulimit", options: []string{"-l 9", "--"}},
	{name: "choom", options: []string{"-n 9", "--"}},
	{name: "uclampset", options: []string{"-m 9"}},
	{name: "cgexec", options: []string{"-g cpu:x"}},
	{name: "tini", options: []string{"-s", "--"}},
	{name: "sshpass", options: []string{"-e", "-p x"}},
	{name: "ssh-agent"},
	{name: "systemd-run", options: []string{"--scope", "-p X=y", "--user"}},
	{name: "direnv", before: []string{"exec", "."}},
	{name: "ssh", options: []string{"-p 9"}, before: []string{"host"}, kind: "remote"},
	{name: "bash", kind: "shell"},
	{name: "sh", kind: "shell"},
	{name: "dash", kind: "shell"},
	{name: "eval", kind: "eval"},
	{name: "trap", kind: "trap"},
	{name: "git", before: []string{"bisect", "run"}},
	{name: "uv", before: []string{"run"}},
	{name: "poetry", before: []string{"run"}},
	{name: "npx", options: []string{"-y", "-p x"}},
}

// least picks the name that was used least, or any of them.
func (g *generator) least(names []string) string {
	best := names[g.IntN(len(names))]
	if g.IntN(3) == 0 {
		return best
	}
	for range 8 {
		if n := names[g.IntN(len(names))]; g.used[n] < g.used[best] {
			best = n
		}
	}
	return best
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// line writes one line of bash.
func (g *generator) line(literal bool) string {
	g.literal, g.depth, g.bodies, g.noHdoc, g.funcs = literal, 0, nil, 0, 0
	var b strings.Builder
	for range 1 + g.IntN(5)/3 {
		b.WriteString(g.list())
		if g.IntN(12) == 0 {
			b.WriteString(" # alpha; $(beta) `gamma` \" '")
			g.used["Comment"]++
		}
		b.WriteByte('\n')
		b.WriteString(g.flush())
	}
	return b.String()
}

// flush writes the here-documents that wait.
func (g *generator) flush() string {
	out := strings.Join(g.bodies, "")
	g.bodies = nil
	return out
}

// list is some pipelines.
func (g *generator) list() string {
	var b strings.Builder
	n := 1
	if g.IntN(4+2*g.depth) == 0 {
		n = 2
	}
	for i := range n {
		if i > 0 {
			b.WriteString(pick(g, []string{" && ", " || ", "; ", " ; ", " & ", "  &&\t"}))
		}
		b.WriteString(g.pipeline())
	}
	return b.String()
}

func (g *generator) pipeline() string {
	out := g.command()
	if g.IntN(4+3*g.depth) == 0 {
		out += pick(g, []string{" | ", "|", " |& "}) + g.command()
	}
	if g.IntN(12) == 0 && !strings.HasPrefix(out, "time") {
		out = "! " + out
	}
	return out
}

// shapes are the commands that have others in them.
var shapes = []string{
	"subshell", "block", "if", "while", "until", "for", "cfor", "select", "case", "function", "arithm", "test", "declare", "let", "time", "coproc", "assign", "array",
}

func (g *generator) command() string {
	if g.depth++; g.depth > 2 {
		g.depth--
		return g.simple()
	}
	defer func() { g.depth-- }()
	if g.IntN(100) < 38 && !g.literal || g.IntN(100) < 15 {
		return g.shaped()
	}
	return g.simple() + g.redirect()
}

// quiet writes what stands inside of another command, where the line goes on.
func (g *generator) quiet(write func() string) string {
	g.noHdoc++
	defer func() { g.noHdoc-- }()
	return write()
}

func (g *generator) inner() string { return g.quiet(g.list) }

func (g *generator) shaped() string {
	shape := g.least(shapes)
	if g.literal {
		switch shape {
		case "assign", "array", "declare", "let", "arithm", "test", "function", "select", "coproc", "cfor":
			shape = pick(g, []string{"subshell", "block", "if", "for", "case", "time"})
		}
	}
	g.used[shape]++
	switch shape {
	case "subshell":
		return "( " + g.inner() + ")"
	case "block":
		return "{ " + g.inner() + "; }"
	case "if":
		return "if " + g.inner() + "; then " + g.inner() + pick(g, []string{"", "; else " + g.inner(), "; elif " + g.inner() + "; then alpha e"}) + "; fi" + g.redirect()
	case "while":
		return "while " + g.inner() + "; do " + g.inner() + "; break; done"
	case "until":
		return "until nope; do " + g.inner() + "; break; done"
	case "for":
		return "for i in " + g.word() + "; do " + g.inner() + "; done"
	case "cfor":
		return "for ((k=0; k<1; k++)); do " + g.inner() + "; done"
	case "select":
		return "select i in a b; do " + g.inner() + "; break; done <<<1"
	case "case":
		return "case a in (b) alpha no;; a|c) " + g.inner() + pick(g, []string{";;", ";&", ";;&"}) + " *) " + g.inner() + ";; esac"
	}
	return g.strange(shape)
}

// strange are the shapes that no literal line has.
func (g *generator) strange(shape string) string {
	switch shape {
	case "function":
		g.funcs++
		name := fmt.Sprintf("fn%d", g.funcs)
		return pick(g, []string{name + "() { ", "function " + name + " { ", "function " + name + "() { "}) + g.inner() + "; }; " + name + " x"
	case "arithm":
		return "((i = " + g.arith() + "))"
	case "test":
		return "[[ " + g.test() + " ]]"
	case "declare":
		return pick(g, []string{"declare", "export", "readonly", "typeset", "local"}) + pick(g, []string{" v", " v" + g.digit(), " -x v"}) + "=" + g.word()
	case "let":
		return "let i=" + g.digit() + pick(g, []string{"", " j=1", ">f", "|" + g.simple(), "; " + g.simple()})
	case "time":
		return pick(g, []string{"time ", "time -p ", "time -- "}) + g.plain()
	case "coproc":
		return pick(g, []string{"coproc ", "coproc C "}) + "{ " + g.inner() + "; }; wait"
	case "assign":
		return "v=" + g.word() + " " + g.plain()
	case "array":
		return "a=(" + g.word() + " [2]=x " + g.word() + "); alpha"
	}
	panic(shape)
}

func (g *generator) digit() string { return string(rune('1' + g.IntN(9))) }

func (g *generator) arith() string {
	switch g.IntN(8) {
	case 0:
		return g.digit() + " + " + g.digit()
	case 1, 6, 7:
		return "(" + g.digit() + " * -" + g.digit() + ")"
	case 2:
		return "$(" + g.inner() + ")"
	case 3:
		return "x ? " + g.digit() + " : a[" + g.digit() + "]"
	case 4:
		return "a[$(" + g.inner() + ")]"
	}
	return "i++ , $v"
}

func (g *generator) test() string {
	switch g.IntN(9) {
	case 0, 8:
		return "-n " + g.word() + " && ! ( a == b )"
	case 1, 7:
		return "a == @(a|b)"
	case 2:
		return "$(" + g.inner() + ") -eq 1"
	case 3:
		return "abc =~ ^a(b|c)+ || -v v"
	case 4:
		return "-v a[$(" + g.inner() + ")]"
	case 5, 6:
		return "$v != +(a|b)*"
	}
	return g.word() + " < " + g.word()
}

// simple is a command, wrapped or not.
func (g *generator) simple() string {
	if g.IntN(12) == 0 {
		return g.moving()
	}
	if g.IntN(100) < 60 && g.depth < 3 {
		return g.wrapped()
	}
	return g.plain()
}

// moving is a command that enters a folder, and one that runs there.
func (g *generator) moving() string {
	where := pick(g, []string{"d1", "d1/d2", "..", "link", "'d1'", "link/..", "d1/../link", "none", "-P link", "-- d1", "."})
	enter := pick(g, []string{"cd ", "cd ", "pushd ", "command cd ", "builtin cd "})
	if enter == "pushd " {
		where = strings.TrimPrefix(where, "-P ")
	}
	g.used["cd"]++
	return enter + where + pick(g, []string{" && ", "; ", " || ", " | "}) + g.plain()
}

// plain is a command that runs nothing else.
func (g *generator) plain() string {
	out := g.name()
	for range g.IntN(4) {
		out += pick(g, []string{" ", "  ", "\t"}) + g.word()
	}
	return out
}

// name is a program, written in one of many ways.
func (g *generator) name() string {
	leaf := pick(g, leaves)
	switch g.IntN(12) {
	case 0:
		return "'" + leaf + "'"
	case 1:
		return `"` + leaf + `"`
	case 2:
		return leaf[:1] + "''" + leaf[1:]
	case 3:
		return `\` + leaf
	case 4:
		return "$'\\x" + fmt.Sprintf("%02x", leaf[0]) + leaf[1:] + "'"
	case 5:
		return "bin/" + leaf
	case 6:
		return leaf[:1] + "\\\n" + leaf[1:]
	case 7:
		if !g.literal {
			return pick(g, []string{"$name", "${name}", "\"$name\"", "$(echo " + leaf + ")", "{" + leaf + ",-x}", "$empty " + leaf, "${none:-" + leaf + "}"})
		}
	}
	return leaf
}

// word is an argument.
func (g *generator) word() string {
	if !g.literal && g.IntN(5) == 0 {
		return g.dynamic()
	}
	switch g.IntN(12) {
	case 0:
		return "'a b;$(alpha)`beta`|&'"
	case 1:
		return `"c d \$x \"e\" > f"`
	case 2:
		return `a\ b\;\$x`
	case 3:
		return `$'t\tn\'q'`
	case 4:
		return "--option=value"
	case 5:
		return "-" + string(rune('a'+g.IntN(26)))
	case 6:
		return "a'b'\"c\"d"
	case 7:
		return `''`
	case 8:
		return "x\\\ny"
	}
	return pick(g, []string{"file", "dir/file", "a.b", "1", "x=y", "a:b", "%s", "@", "+", ",", "a-b_c", "{}", "é"})
}

// dynamic is an argument that is known only when it runs.
func (g *generator) dynamic() string {
	if g.depth > 2 {
		return pick(g, []string{"$v", "\"$v\"", "*.none", "{a,b}"})
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.IntN(18) {
	case 0:
		return "$(" + g.inner() + ")"
	case 1:
		return "\"x$(" + g.inner() + ")\""
	case 2:
		return "`" + g.backquoted() + "`"
	case 3:
		return "<(" + g.inner() + ")"
	case 4:
		return "$((" + g.arith() + "))"
	case 5:
		return "${v:-$(" + g.inner() + ")}"
	case 6:
		return "\"${v:-$(" + g.inner() + ")}\""
	case 7:
		return "${a[$(" + g.inner() + ")]}"
	case 8:
		return "${v:1:2}"
	case 9:
		return "${v/a/$(" + g.inner() + ")}"
	case 10:
		return "${!v}${#v}${v@Q}"
	case 11:
		return "{a,b{1..3},$(" + g.inner() + ")}"
	case 12:
		return "*.none"
	case 13:
		return "$\"x$v\""
	case 14:
		return "$[1+" + g.digit() + "]"
	case 15:
		return ">(" + g.inner() + ")"
	case 16:
		return "${v#*$(" + g.inner() + ")}"
	}
	return "~/x"
}

// backquoted is what stands between backquotes, which must be escaped in it.
func (g *generator) backquoted() string {
	text := g.inner()
	return strings.NewReplacer("\\", `\\`, "`", "\\`", "$", `\$`).Replace(text)
}

func (g *generator) redirect() string {
	switch g.IntN(14) {
	case 0:
		return " >/dev/null"
	case 1:
		return " 2>&1"
	case 2:
		return " 2>/dev/null </dev/null"
	case 3:
		return pick(g, []string{" >out", " >>out", " &>out", " >|out"})
	case 4:
		return " <<<" + g.word()
	case 5:
		return g.hereDocument()
	}
	return ""
}

func (g *generator) hereDocument() string {
	if g.noHdoc > 0 {
		return ""
	}
	stop := fmt.Sprintf("E%d", len(g.bodies))
	if g.literal || g.IntN(2) == 0 {
		g.bodies = append(g.bodies, "text $(alpha) `beta`\n"+stop+"\n")
		return " <<" + pick(g, []string{"'" + stop + "'", `"` + stop + `"`, `\` + stop})
	}
	g.bodies = append(g.bodies, "text $("+strings.ReplaceAll(g.inner(), "\\\n", "")+") ${v} $((1+1))\n"+stop+"\n")
	return " <<" + stop
}
