package server_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// Figures are of the calls that a principal may see, and of no others.
func TestStatus_isOfWhatThePrincipalMaySee(t *testing.T) {
	w := newHarness(t, nil)
	w.open("s1", "c1")
	w.open("s1", "c2")
	w.open("theirs", "c3")
	for who, want := range map[string]int{"person": 2, "bob": 2, "viewer": 3, "eve": 1, "admin": 3} {
		got, err := w.client(who).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Prompts.Calls != want || got.Prompts.Prompts != want || got.Open.Count != want || got.Open.Oldest == nil {
			t.Errorf("%s: %+v, want %d calls", who, got, want)
		}
		for _, s := range got.Prompts.Sessions {
			if (s.Session == "theirs") != (s.Calls == 1) || who == "eve" && s.Session == "s1" {
				t.Errorf("%s: session %+v", who, s)
			}
		}
		if !got.Prompts.Few || got.Mode != sayso.ModeInteractive || len(got.Wired) != 1 || got.Version != "1.4.0" {
			t.Errorf("%s: %+v", who, got)
		}
	}
	over, err := w.dial("person").Status(t.Context())
	if err != nil || over.Prompts.Calls != 2 {
		t.Errorf("over a socket: %+v, %v", over, err)
	}
	if got, err := w.client("person").PolicyFiles(t.Context()); err != nil || len(got.Files) != 1 || len(got.Files[0].Tokens) == 0 {
		t.Errorf("files: %+v, %v", got, err)
	}
}
