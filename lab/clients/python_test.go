package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPython runs the client's own tests against a real server.
func TestPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3; type: apt-get install python3")
	}
	t.Parallel()
	s := newSite(t)
	cmd := exec.CommandContext(patient(t), "python3", "-B", "-W", "error", "-m", "unittest", "-q", "test_sayso")
	cmd.Dir, cmd.Env = filepath.Join("..", "..", "clients", "python"), append(os.Environ(), "CLIENTS_TEST_SOCKET="+s.socket())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "OK") || strings.Contains(string(out), "skipped") {
		t.Errorf("%v\n%s", err, out)
	}
}
