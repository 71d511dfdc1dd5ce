package agentproc

import (
	"os"
	"testing"
)

func TestLook(t *testing.T) {
	p, ok := look(os.Getpid())
	if !ok || p.Parent != os.Getppid() || len(p.Args) == 0 || p.Args[0] != os.Args[0] {
		t.Errorf("this process is seen as %+v, %v", p, ok)
	}
	if _, ok := look(-1); ok {
		t.Error("there is no process -1")
	}
}
