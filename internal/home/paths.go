package home

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// Paths says where everything lies. All paths are absolute.
type Paths struct {
	// Home is SAYSO_HOME if that is set: then all folders are this one.
	Home string
	// State holds the database, the tokens and the switches.
	State string
	// Config holds the user's policy.
	Config string
	// Runtime holds the socket of a running server.
	Runtime string
}

// OrgPolicy is the policy that an administrator puts on a machine.
const OrgPolicy = "/etc/sayso/policy.yaml"

// Find works out the paths from the environment: SAYSO_HOME, else the XDG
// folders. It touches no file.
func Find(getenv func(string) string) (Paths, error) {
	if dir := getenv("SAYSO_HOME"); dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return Paths{}, fmt.Errorf("SAYSO_HOME: %w", err)
		}
		return Paths{Home: dir, State: dir, Config: dir, Runtime: dir}, nil
	}
	state, err := folder(getenv, "XDG_STATE_HOME", ".local", "state")
	if err != nil {
		return Paths{}, err
	}
	config, err := folder(getenv, "XDG_CONFIG_HOME", ".config")
	if err != nil {
		return Paths{}, err
	}
	p := Paths{State: filepath.Join(state, "sayso"), Config: filepath.Join(config, "sayso")}
	p.Runtime = p.State
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		p.Runtime = filepath.Join(dir, "sayso")
	}
	return p, nil
}

// folder is an XDG folder: the variable, which must be absolute to count, or
// the default below the home folder.
func folder(getenv func(string) string, name string, below ...string) (string, error) {
	if dir := getenv(name); filepath.IsAbs(dir) {
		return filepath.Clean(dir), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("neither SAYSO_HOME nor HOME is set, so there is no place for the log; set SAYSO_HOME to a folder of your own")
	}
	return filepath.Join(append([]string{home}, below...)...), nil
}

// Database is the file of the log.
func (p Paths) Database() string { return filepath.Join(p.State, "sayso.db") }

// Policy is the user's policy file.
func (p Paths) Policy() string { return filepath.Join(p.Config, "policy.yaml") }

// TokenList holds what is known of all tokens, with their hashes.
func (p Paths) TokenList() string { return filepath.Join(p.State, "tokens.json") }

// tokenFolder holds the tokens of our own programs, one file each.
func (p Paths) tokenFolder() string { return filepath.Join(p.State, "tokens") }

// TokenFile is the token of one of our own programs, as a host's hook.
func (p Paths) TokenFile(name string) string { return filepath.Join(p.tokenFolder(), name) }

// OffFile is the switch that hands calls back to the hosts.
func (p Paths) OffFile() string { return filepath.Join(p.State, "off.json") }

// LockFile is the switch that makes everything ask.
func (p Paths) LockFile() string { return filepath.Join(p.State, "locked") }

// Watchers holds a lock file for each terminal that is watching.
func (p Paths) Watchers() string { return filepath.Join(p.State, "watch") }

// Notices is the folder of what could not be delivered to targets elsewhere.
func (p Paths) Notices() string { return filepath.Join(p.State, "notices") }

// Logins is the folder of the logins to MCP servers.
func (p Paths) Logins() string { return filepath.Join(p.State, "logins") }

// Address holds the address of the page while a server runs that has one.
func (p Paths) Address() string { return filepath.Join(p.Runtime, "address") }

// Everything lists all that is ours in the folders: what uninstalling deletes.
func (p Paths) Everything() []string {
	list := []string{
		p.TokenList(), p.TokenList() + ".lock", p.tokenFolder(), p.OffFile(), p.LockFile(), p.Watchers(), p.Notices(), p.Logins(), p.Policy(), p.Socket(), p.Address(),
		p.TrustedList(), p.TrustedList() + ".lock",
	}
	for _, name := range []string{"codes", "leases", "segments", "used"} {
		list = append(list, filepath.Join(p.State, name))
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal", "-server"} {
		list = append(list, p.Database()+end)
	}
	return list
}

// Folders lists the folders, each once.
func (p Paths) Folders() []string {
	dirs := []string{p.State}
	for _, d := range []string{p.Config, p.Runtime} {
		if d != dirs[0] && d != dirs[len(dirs)-1] {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// socketLimit is the longest path that a Unix socket may have, less the zero
// at its end.
func socketLimit() int {
	if runtime.GOOS == "linux" {
		return 107
	}
	return 103
}

// shortPlace is where a socket goes whose own path would be too long.
var shortPlace = "/tmp" // another in tests

// Socket is where a server on this machine listens. A path that would be too
// long for a socket is replaced by a short one in a folder of this user below
// /tmp, the same for everybody who has these paths.
func (p Paths) Socket() string {
	path := filepath.Join(p.Runtime, "sayso.sock")
	if len(path) <= socketLimit() {
		return path
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(shortPlace, "sayso-"+strconv.Itoa(os.Getuid()), hex.EncodeToString(sum[:8])+".sock")
}
