// Stub stands in for any program. It writes its name and arguments to
// descriptor 3 and, if it has the name of a program that runs others, runs them
// as the manual page of that program says. It knows nothing of the package that
// it tests.
package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

var bin string // where the stubs are

func main() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		os.Exit(125)
	}
	bin = filepath.Dir(self)
	name := filepath.Base(self)
	args := os.Args[1:]
	report(name, args)
	os.Stdout.WriteString("1\n")
	if name == "nope" {
		os.Exit(1)
	}
	if w, ok := wrappers[name]; ok {
		w.run(args)
	}
}

func report(name string, args []string) {
	var b bytes.Buffer
	folder := make([]byte, 4096)
	n, _ := syscall.Getcwd(folder)
	b.WriteString(strconv.Quote(string(folder[:max(n-1, 0)])))
	b.WriteByte(' ')
	b.WriteString(strconv.Quote(name))
	for _, a := range args {
		b.WriteByte(' ')
		b.WriteString(strconv.Quote(a))
	}
	b.WriteByte('\n')
	syscall.Write(3, b.Bytes())
}

// become runs another stub in place of this one, or bash with a path that
// holds only stubs.
func become(argv ...string) {
	if len(argv) == 0 {
		return
	}
	env := []string{"PATH=" + bin, "FUNCNEST=20"}
	path := filepath.Join(bin, filepath.Base(argv[0]))
	if strings.Contains(argv[0], "/") && !strings.Contains(argv[0], "bin/") {
		os.Exit(127)
	}
	syscall.Exec(path, argv, env)
	os.Exit(127)
}

// spawn runs a stub and waits for it.
func spawn(argv ...string) {
	if len(argv) == 0 {
		return
	}
	cmd := exec.Command(filepath.Join(bin, filepath.Base(argv[0])))
	cmd.Args = argv
	cmd.Env = []string{"PATH=" + bin, "FUNCNEST=20"}
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "log")}
	cmd.Run()
}

// line runs a line of shell the way system(3) does, except that the shell is
// no stub.
func line(text string) {
	env := []string{"PATH=" + bin, "FUNCNEST=20"}
	syscall.Exec("/bin/bash", []string{"bash", "-c", text}, env)
	os.Exit(127)
}

// wrapper is how a program finds the command among its words.
type wrapper struct {
	values  string // options that take the next word, with blanks around each
	skip    int    // operands before the command
	assigns bool   // NAME=VALUE may stand before it
	mixed   bool   // options may stand behind the operands
	special func(w wrapper, args []string)
}

func (w wrapper) run(args []string) {
	if w.special != nil {
		w.special(w, args)
		return
	}
	become(w.command(args)...)
}

// longFlags are options without a value that the test writes.
const longFlags = " --keep-cwd --ignore-environment --foreground --wait --fork --map-root-user --exec --clear-groups --no-new-privs --scope --user --skip-chdir "

// command is what is left behind the options and operands of the wrapper.
func (w wrapper) command(args []string) []string {
	skip := w.skip
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			if i+1+skip > len(args) {
				return nil
			}
			return args[i+1+skip:]
		case w.assigns && strings.Contains(a, "=") && a[0] != '-':
		case len(a) > 2 && a[:2] == "--" && !strings.Contains(a, "=") && !strings.Contains(w.values+longFlags, " "+a+" "):
			return nil // an abbreviation, or a mistake
		case len(a) > 2 && a[0] == '-' && a[1] != '-' && !strings.ContainsAny(a, "0123456789") && a != "-Hn" && a != "-oL":
			return nil // options in a cluster that nobody wrote
		case len(a) > 1 && a[0] == '-':
			if strings.Contains(w.values, " "+a+" ") {
				i++
			}
		case skip > 0:
			if skip--; skip == 0 && !w.mixed {
				return args[i+1:]
			}
		default:
			return args[i:]
		}
	}
	return nil
}

// runEnv runs env, which knows -S.
func runEnv(w wrapper, args []string) {
	for i, a := range args {
		text, ok := strings.CutPrefix(a, "-S")
		if !ok {
			text, ok = strings.CutPrefix(a, "--split-string=")
		}
		if !ok {
			continue
		}
		rest := args[i+1:]
		if text == "" {
			text, rest = rest[0], rest[1:]
		}
		words := strings.Fields(text)
		for k, word := range words {
			if word[0] == '#' { // the rest is a comment
				words = words[:k]
				break
			}
		}
		become(append(words, rest...)...)
	}
	become(w.command(args)...)
}

func runLookup(w wrapper, args []string) {
	become(w.command(args)...)
}

func runXargs(w wrapper, args []string) {
	command := w.command(args)
	if len(command) == 0 {
		command = []string{"echo"}
	}
	become(append(command, "1")...)
}

func runFind(_ wrapper, args []string) {
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		var command []string
		for i++; i < len(args) && args[i] != ";" && args[i] != "+"; i++ {
			command = append(command, strings.ReplaceAll(args[i], "{}", "./found"))
		}
		spawn(command...)
	}
}

func runShell(_ wrapper, args []string) {
	env := []string{"PATH=" + bin, "FUNCNEST=20"}
	syscall.Exec("/bin/bash", append([]string{"bash"}, args...), env)
	os.Exit(127)
}

func runWatch(w wrapper, args []string) {
	command := w.command(args)
	for _, a := range args {
		if a == "-x" || a == "--exec" {
			become(command...)
		}
		if a == command[0] {
			break
		}
	}
	line(strings.Join(command, " "))
}

func runFlock(w wrapper, args []string) {
	command := w.command(args)
	if len(command) == 2 && (command[0] == "-c" || command[0] == "--command") {
		line(command[1])
	}
	become(command...)
}

func runScript(w wrapper, args []string) {
	for i, a := range args {
		if text, ok := strings.CutPrefix(a, "--command="); ok {
			line(text)
		}
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.HasSuffix(a, "c") {
			line(args[i+1])
		}
	}
}

// runRunuser runs the command in its words only behind -u; else they are for a
// shell.
func runRunuser(w wrapper, args []string) {
	for _, a := range args {
		if a == "-u" {
			become(w.command(args)...)
		}
	}
}

func runParallel(w wrapper, args []string) {
	command := w.command(args)
	for i, a := range command {
		if a == ":::" {
			command = append(command[:i:i], "1")
			break
		}
	}
	line(strings.Join(command, " "))
}

func runBusybox(_ wrapper, args []string) { become(args...) }

func runTaskset(w wrapper, args []string) { become(w.command(args)...) }

func runSSH(w wrapper, args []string) {
	command := w.command(args)
	if len(command) > 0 {
		line(strings.Join(command, " "))
	}
}

func runGit(_ wrapper, args []string) {
	if len(args) > 2 && args[0] == "bisect" && args[1] == "run" {
		become(args[2:]...)
	}
}

func runFd(_ wrapper, args []string) {
	for i, a := range args {
		if a == "-x" || a == "--exec" || a == "-X" || a == "--exec-batch" {
			command := args[i+1:]
			for k, c := range command {
				if c == ";" {
					command = command[:k]
					break
				}
			}
			spawn(append(command[:len(command):len(command)], "1")...)
			return
		}
	}
}

func runSub(w wrapper, args []string) {
	if len(args) > 0 && (args[0] == "exec" || args[0] == "run") {
		become(w.command(args[1:])...)
	}
}

var wrappers = map[string]wrapper{
	"sudo":             {values: " -u -g -D -p -C -T -r -t -U ", assigns: true},
	"doas":             {values: " -u -C -a "},
	"pkexec":           {values: " --user "},
	"gosu":             {skip: 1},
	"su":               {special: runScript},
	"runuser":          {values: " -u -g ", special: runRunuser},
	"sg":               {special: runScript},
	"env":              {values: " -u --unset -C --chdir ", assigns: true, special: runEnv},
	"nohup":            {},
	"nice":             {values: " -n --adjustment "},
	"ionice":           {values: " -c -n --class --classdata "},
	"timeout":          {values: " -k -s --kill-after --signal ", skip: 1},
	"setsid":           {},
	"stdbuf":           {values: " -i -o -e --input --output --error "},
	"time":             {values: " -f -o --format --output "},
	"xargs":            {values: " -n -P -I -L -d -a -s -E --max-args --max-procs --delimiter ", special: runXargs},
	"parallel":         {values: " -j --jobs -n ", special: runParallel},
	"busybox":          {special: runBusybox},
	"toybox":           {special: runBusybox},
	"flock":            {values: " -w -E --timeout --wait ", skip: 1, special: runFlock},
	"chroot":           {values: " --userspec --groups ", skip: 1},
	"unshare":          {values: " -S -G -R -w --propagation --setuid --wd "},
	"nsenter":          {values: " -t -S -G --target "},
	"taskset":          {skip: 1, special: runTaskset},
	"watch":            {values: " -n --interval ", special: runWatch},
	"strace":           {values: " -o -e -s -p -E -u -P -a "},
	"ltrace":           {values: " -o -e -s -l -n "},
	"script":           {special: runScript},
	"ld.so":            {values: " --library-path --preload --argv0 --audit "},
	"chrt":             {skip: 1},
	"numactl":          {values: " -C -N -m -i --physcpubind --membind "},
	"setpriv":          {values: " --reuid --regid --groups "},
	"prlimit":          {},
	"catchsegv":        {},
	"eatmydata":        {},
	"chronic":          {},
	"torsocks":         {values: " -a -P -u -p "},
	"fakeroot":         {values: " -l -i -s "},
	"unbuffer":         {},
	"dumb-init":        {values: " -r "},
	"catatonit":        {},
	"dbus-run-session": {},
	"systemd-cat":      {values: " -t -p "},
	"xvfb-run":         {values: " -n -s -e -f -w "},
	"caffeinate":       {values: " -t -w "},
	"setarch":          {skip: 1, mixed: true},
	"linux64":          {},
	"rlwrap":           {values: " -f -H -l -C "},
	"proxychains":      {values: " -f "},
	"faketime":         {skip: 1},
	"cpulimit":         {values: " -l "},
	"choom":            {values: " -n "},
	"uclampset":        {values: " -m -M "},
	"cgexec":           {values: " -g "},
	"tini":             {values: " -e -p "},
	"sshpass":          {values: " -p -f -d "},
	"ssh-agent":        {values: " -a -t "},
	"systemd-run":      {values: " -p -u -E "},
	"direnv":           {skip: 1, special: runSub},
	"bash":             {special: runShell},
	"sh":               {special: runShell},
	"dash":             {special: runShell},
	"ssh":              {values: " -p -i -l -o ", skip: 1, special: runSSH},
	"git":              {special: runGit},
	"find":             {special: runFind},
	"fd":               {special: runFd},
	"uv":               {special: runSub},
	"poetry":           {special: runSub},
	"npx":              {values: " -p "},
}
