package path_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/path"
)

func TestSH11_enter(t *testing.T) {
	for _, tt := range []struct{ dir, steps, want string }{
		{"/a", "", "/a"}, {"/a", "b", "/a/b"}, {"/a", "b c", "/a/b/c"}, {"/a", "b ..", "/a"}, {"/a", "..", "/"}, {"/a", ".. ..", "/"}, {"/a", "/x y", "/x/y"}, {"/a", "./b/../c/", "/a/c"},
		{"", "b", ""}, {"", "/x", "/x"}, {"", "b /x", "/x"}, {"rel", "b", ""},
	} {
		var steps []string
		if tt.steps != "" {
			steps = strings.Split(tt.steps, " ")
		}
		if got := path.Enter(tt.dir, steps); got != tt.want {
			t.Errorf("cd %s in %q: %q, want %q", tt.steps, tt.dir, got, tt.want)
		}
	}
	if got := path.Enter("/a", []string{""}); got != "/a" {
		t.Errorf("cd '': %q", got)
	}
}
