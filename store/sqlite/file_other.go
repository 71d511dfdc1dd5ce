//go:build !linux && !darwin

package sqlite

import (
	"errors"
	"io/fs"
)

var errElsewhere = errors.New("the log needs the file locks of Linux or macOS; on Windows, run sayso in WSL")

// durablePragmas makes a commit wait for the disk.
var durablePragmas = []string{`PRAGMA synchronous = FULL`}

func localFileSystem(string) error { return errElsewhere }

func checkOwner(string, fs.FileInfo) error { return errElsewhere }
