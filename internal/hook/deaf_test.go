//go:build unix

package hook

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A hook that nobody listens to any more knows it, through pipes and through the
// sockets that some hosts use for them.
func TestDeaf(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far := os.NewFile(uintptr(pair[0]), "near"), os.NewFile(uintptr(pair[1]), "far")
	defer near.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if deaf(writer) || deaf(near) || deaf(file) || deaf(&bytes.Buffer{}) {
		t.Error("somebody listens, and is not seen")
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	if !deaf(writer) || !deaf(near) {
		t.Errorf("nobody listens: pipe %v, socket %v", deaf(writer), deaf(near))
	}
}
