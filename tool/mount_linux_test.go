package tool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/tool"
)

// inNamespace runs this test once more, alone, where it may mount what it
// likes. It reports whether this is that run.
func inNamespace(t *testing.T) bool {
	const key = "SAYSO_TEST_NAMESPACE"
	if os.Getenv(key) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), key+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(err.Error(), "operation not permitted") {
		t.Skipf("this kernel does not let us mount: %v; type: sudo -E go test ./tool", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// TestFS1_mounts: what is mounted beneath a root is not in it, be it another
// file system, a folder of the same one, or a single file.
func TestFS1_mounts(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	work, f := sandbox(t)
	write(t, work, "output/mnt/x", "")
	write(t, work, "output/tmp/x", "")
	outside := filepath.Join(work, "../outside")
	for _, m := range []struct{ source, target, kind string }{
		{outside, "output/mnt", ""}, {"tmpfs", "output/tmp", "tmpfs"}, {outside + "/canary.txt", "output/text", ""},
	} {
		flags := uintptr(0)
		if m.kind == "" {
			flags = syscall.MS_BIND
		}
		at := filepath.Join(work, m.target)
		if err := syscall.Mount(m.source, at, m.kind, flags, ""); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Unmount(at, 0) }()
	}
	for _, c := range []sayso.Call{
		calls(t, tool.ReadFile, obj{"path": "output/mnt/canary.txt"}),
		calls(t, tool.ListFiles, obj{"path": "output/mnt"}),
		calls(t, tool.WriteFile, obj{"path": "output/mnt/new", "content": "x"}),
		calls(t, tool.WriteFile, obj{"path": "output/tmp/new", "content": "x"}),
		calls(t, tool.ReadFile, obj{"path": "output/text"}),
		calls(t, tool.WriteFile, obj{"path": "output/text", "content": "x"}),
		calls(t, tool.DeleteFile, obj{"path": "output/mnt/canary.txt"}),
	} {
		if r, err := f.Call(t.Context(), c); !has(err, "another file system is mounted there") {
			t.Errorf("%s %s: got %q, %v", c.Tool, c.Args, r.Text, err)
		}
	}
	if got := reads(t, outside, "canary.txt"); got != "canary\n" {
		t.Errorf("the canary holds %q", got)
	}
	own, err := tool.OpenFiles(work, sayso.PathRules{Roots: []sayso.PathRoot{{Name: "mnt", Root: "output/mnt", Read: sayso.Allow}}})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if r, err := own.Call(t.Context(), calls(t, tool.ReadFile, obj{"path": "output/mnt/canary.txt"})); err != nil || r.Text != "canary\n" {
		t.Errorf("as a folder of its own: got %q, %v", r.Text, err)
	}
}
