//go:build !unix

package home

import (
	"errors"
	"io/fs"
	"os"
)

func owner(fs.FileInfo) (uid int, ok bool) { return 0, false }

func flock(*os.File, bool) error {
	return errors.New("sayso does not run here natively; use the Windows Subsystem for Linux")
}
