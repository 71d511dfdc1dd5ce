package home

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// Person is the name of the person at this machine: that of the user who runs
// the program. It comes from the system, not from the environment.
func Person() string {
	u, err := lookUp()
	if err != nil || checkName(u.Username) != nil {
		return "uid-" + strconv.Itoa(os.Getuid())
	}
	return u.Username
}

// PersonFolder is the home folder of the person at this machine, with all
// links followed: what ~/ means in a rule, and what is no project. The system
// says where it is, whatever HOME says, so that the hook, which a project's
// settings may give another HOME, the commands and the server all read a rule
// alike. It is empty for a user whom the system does not know, and where the
// folder does not exist: then a rule that needs it does not load.
func PersonFolder() string {
	u, err := lookUp()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return ""
	}
	dir, err := filepath.EvalSymlinks(u.HomeDir)
	if err != nil {
		return ""
	}
	return dir
}

// lookUp asks the system who runs the program. It is not [user.Current], which
// takes HOME and USER for the answer where the system has none.
func lookUp() (*user.User, error) { return user.LookupId(strconv.Itoa(os.Getuid())) }
