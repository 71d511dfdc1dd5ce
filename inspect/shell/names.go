package shell

import "strings"

// nameOf is the name by which the tables know a program: by its shape where they
// do not have it as it is written. A version may stand behind it, the machine
// that it builds for in front of it, what it makes behind a dot; a subcommand of
// git may be a program of its own, GNU may stand in front of it with a g, how it is
// linked behind it, and the dynamic loaders have many names.
func nameOf(name string) string { return named(name, known) }

func (r *reading) nameOf(name string) string { return named(name, r.programs) }

func named(name string, programs func(string) *program) string {
	if programs(name) == nil {
		name = strings.TrimSuffix(name, ".exe")
	}
	switch {
	case programs(name) != nil:
		return name
	case name == ":":
		return "colon"
	case strings.HasPrefix(name, "ld") && strings.Contains(name, ".so"), strings.HasPrefix(name, "ld-") && strings.Contains(name, "musl"):
		return "ld.so"
	}
	for _, short := range [...]string{
		unversioned(name), untargeted(name), untargeted(unversioned(name)), unkinded(name), undashed(name), unprefixed(name), unlinked(name),
	} {
		if programs(short) != nil {
			return short
		}
	}
	return name
}

// isName reports whether a program is called by a name that the tables have.
func isName(called, name string) bool {
	return called == name || called == ":" || called == name+".exe"
}

// unversioned is a name without the version behind it: python3.12, g++-12.
func unversioned(name string) string {
	if short := strings.TrimRight(name, "0123456789.-"); short != "" {
		return short
	}
	return name
}

// untargeted is the name of a compiler without the machine that it builds for:
// x86_64-linux-gnu-gcc.
func untargeted(name string) string {
	if short := name[strings.LastIndexByte(name, '-')+1:]; builds[short] {
		return short
	}
	return name
}

// builds are the programs of compilers, which are there for every machine that
// they build for.
var builds = set("gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran", "cpp", "as", "ld", "ar", "ranlib", "strip", "objcopy")

// unprefixed is a program of GNU under the name that it has where another of its
// name was there before: grm, genv.
func unprefixed(name string) string {
	if short, ok := strings.CutPrefix(name, "g"); ok && gnu[short] {
		return short
	}
	return name
}

// gnu are the programs that are installed with a g in front of their names.
var gnu = set("awk", "base64", "basename", "cat", "chgrp", "chmod", "chown", "chroot", "comm", "cp", "csplit", "cut", "date", "dd", "df", "dirname", "du", "echo",
	"egrep", "env", "expand", "expr", "false", "fgrep", "find", "fmt", "fold", "grep", "groups", "head", "id", "install", "join", "kill", "link", "ln", "locate",
	"logname", "ls", "make", "mkdir", "mkfifo", "mknod", "mktemp", "mv", "nice", "nl", "nohup", "od", "paste", "pr", "printenv", "printf", "ptx", "pwd",
	"readlink", "realpath", "rm", "rmdir", "sed", "seq", "shred", "shuf", "sleep", "sort", "split", "stat", "stdbuf", "stty", "sync", "tac", "tail", "tar", "tee",
	"time", "timeout", "touch", "tr", "true", "truncate", "tsort", "uname", "unexpand", "uniq", "unlink", "updatedb", "users", "wc", "which", "who", "whoami", "xargs")

// unkinded is a name without the kind behind a dot, of programs that have a form
// for each: mkfs.ext4.
func unkinded(name string) string {
	short, _, _ := strings.Cut(name, ".")
	switch short {
	case "mkfs", "fsck", "mount", "umount", "newfs":
		return short
	}
	return name
}

// unlinked is a program without what says how it was linked, or for which machine:
// bash-static, busybox.static, busybox-armv7l.
func unlinked(name string) string {
	for _, all := range [...]string{"busybox", "toybox"} {
		if rest, ok := strings.CutPrefix(name, all); ok && rest != "" && !letter(rest[0]) {
			return all
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, "-static"), ".static")
}

// undashed is a subcommand of git that is called as a program: git-push.
func undashed(name string) string {
	if rest, ok := strings.CutPrefix(name, "git-"); ok {
		return "git " + rest
	}
	return name
}
