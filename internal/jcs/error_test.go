package jcs_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// A name in an error is whole or not there: what hides secrets in texts cannot
// know a part of one.
func TestSyntaxError_showsWholeNames(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		pointer, want string
	}{
		{"/a/b", `"/a/b"`},
		{"/" + long, `"/[100 bytes]"`},
		{"/a/" + long + "/b", `"/a/[100 bytes]/b"`},
		{strings.Repeat("/name-of-a-member", 20), `"/name-of-a-member/name-of-a-member/name-of-a-member/.../name-of-a-member/name-of-a-member/name-of-a-member"`},
	} {
		e := &jcs.SyntaxError{Pointer: tt.pointer, Reason: jcs.WrongType}
		if got := e.Error(); !strings.Contains(got, tt.want) {
			t.Errorf("%s\nwant %s", got, tt.want)
		}
	}
}
