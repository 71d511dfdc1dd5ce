package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

// dated sets the time at which a file was changed.
func dated(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestStamp(t *testing.T) {
	long := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		change func(t *testing.T, path string)
		same   bool
	}{
		"nothing": {func(*testing.T, string) {}, true},
		"replaced by as many bytes at the same time": {func(t *testing.T, path string) {
			if err := home.Write(path, []byte("b")); err != nil {
				t.Fatal(err)
			}
			dated(t, path, long)
		}, false},
		"longer": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("aa"), 0o600); err != nil {
				t.Fatal(err)
			}
			dated(t, path, long)
		}, false},
		"touched": {func(t *testing.T, path string) { dated(t, path, long.Add(time.Minute)) }, false},
		"opened to others": {func(t *testing.T, path string) {
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
		}, false},
		"removed": {func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := home.Write(path, []byte("a")); err != nil {
			t.Fatal(err)
		}
		dated(t, path, long)
		before := home.StampOf(path)
		c.change(t, path)
		if got := before.Same(home.StampOf(path)); got != c.same {
			t.Errorf("%s: the same %v, want %v", name, got, c.same)
		}
	}
}

func TestStamp_ofNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	none := home.StampOf(path)
	if !none.Same(home.StampOf(path)) {
		t.Error("a file that is not there is not the one that was not there")
	}
	if err := os.Symlink(filepath.Join(dir, "nothing"), path); err != nil {
		t.Fatal(err)
	}
	link := home.StampOf(path)
	if none.Same(link) || link.Same(link) || link.Same(none) {
		t.Error("a link to nothing counts as a file that is not there")
	}
}

// Within one step of its clock a file system gives two writes the same time,
// and the second may get the inode that the first one freed.
func TestStamp_isNoneOfAFileThatWasJustWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := home.Write(path, nil); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		now := time.Now() // with no parts of a second
		for _, c := range []struct {
			changed time.Time
			same    bool
		}{
			{now, false}, {now.Add(-time.Second), false}, {now.Add(-2 * time.Second), false}, {now.Add(-time.Minute), true},
			{now.Add(-time.Millisecond), false}, {now.Add(time.Millisecond), false}, {now.Add(-time.Second / 2), true},
			{now.Add(time.Hour), true},
		} {
			dated(t, path, c.changed)
			if got := home.StampOf(path); got.Same(got) != c.same {
				t.Errorf("written %v ago: the same %v, want %v", now.Sub(c.changed), !c.same, c.same)
			}
		}
	})
}

func TestTokens_revokedAndAnotherMadeAtTheSameTime(t *testing.T) {
	p := at(t)
	want := home.Token{Name: "ana", Kind: sayso.PrincipalPerson}
	secret, _, err := p.Tokens().Create(noon, want)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		step := time.Now()
		dated(t, p.TokenList(), step)
		server := p.Tokens()
		if _, err := server.Authenticate(secret, noon); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(p.TokenList())
		if err != nil {
			t.Fatal(err)
		}
		other := p.Tokens()
		if _, err := other.Revoke("ana"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := other.Create(noon, want); err != nil {
			t.Fatal(err)
		}
		dated(t, p.TokenList(), step)
		if after, err := os.Stat(p.TokenList()); err != nil || after.Size() != before.Size() {
			t.Fatalf("not of equal size: %v %v %v", before, after, err)
		}
		if _, err := server.Authenticate(secret, noon); !errors.Is(err, sayso.ErrNotAllowed) {
			t.Errorf("a revoked token: %v", err)
		}
	})
}

func TestTokens_dropsTheExpired(t *testing.T) {
	p := at(t)
	for i := range 3 {
		if _, _, err := p.Tokens().Create(noon.Add(time.Duration(i)*time.Hour), home.Token{Name: "ana", Kind: sayso.PrincipalPerson, Expires: noon.Add(time.Duration(i+1) * time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := p.Tokens().List()
	if err != nil || len(list) != 1 || !list[0].Expires.Equal(noon.Add(3*time.Hour)) {
		t.Errorf("%+v %v", list, err)
	}
}

func TestLoginCode_dropsTheExpired(t *testing.T) {
	p := at(t)
	ana := home.OwnActor(sayso.PrincipalPerson, "ana", "terminal")
	make := func(at time.Time) string {
		t.Helper()
		code, err := p.LoginCode(at, ana, "")
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	make(noon)
	good := make(noon.Add(time.Minute))
	make(noon.Add(home.CodeLife))
	left, err := os.ReadDir(filepath.Join(p.State, "codes"))
	if err != nil || len(left) != 2 {
		t.Errorf("%d codes left of the two that are good, %v", len(left), err)
	}
	if _, _, err := p.Login(noon.Add(home.CodeLife), good, "", ""); err != nil {
		t.Errorf("a code that is good: %v", err)
	}
}
