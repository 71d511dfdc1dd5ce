package home_test

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

// at makes a home in a new folder.
func at(t *testing.T) home.Paths {
	t.Helper()
	p, err := home.Find(env("SAYSO_HOME", filepath.Join(t.TempDir(), "home")))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	return p
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// What ~/ means in a rule is not for a variable to say.
func TestPersonFolder_isWhatTheSystemSays(t *testing.T) {
	before := home.PersonFolder()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("USER", "somebody")
	want := "" // for a user whom the system does not know, or whose folder is not there
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		want, _ = filepath.EvalSymlinks(u.HomeDir)
	}
	if got := home.PersonFolder(); got != want || got != before {
		t.Errorf("at home in %q, before in %q; the system says %q", got, before, want)
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		want home.Paths
	}{
		{"home", []string{"SAYSO_HOME", "/x", "XDG_STATE_HOME", "/s", "HOME", "/h"}, home.Paths{Home: "/x", State: "/x", Config: "/x", Runtime: "/x"}},
		{"plain", []string{"HOME", "/h"}, home.Paths{State: "/h/.local/state/sayso", Config: "/h/.config/sayso", Runtime: "/h/.local/state/sayso"}},
		{"xdg", []string{"HOME", "/h", "XDG_STATE_HOME", "/s", "XDG_CONFIG_HOME", "/c", "XDG_RUNTIME_DIR", "/r"}, home.Paths{State: "/s/sayso", Config: "/c/sayso", Runtime: "/r/sayso"}},
		{"relative XDG counts for nothing", []string{"HOME", "/h", "XDG_STATE_HOME", "s"}, home.Paths{State: "/h/.local/state/sayso", Config: "/h/.config/sayso", Runtime: "/h/.local/state/sayso"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := home.Find(env(c.env...))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	if _, err := home.Find(env()); err == nil {
		t.Error("no home folder at all, and no error")
	}
}

func TestSocket_fitsWhateverTheHome(t *testing.T) {
	long := home.Paths{Runtime: "/" + strings.Repeat("x", 200)}
	if got := long.Socket(); len(got) > 103 || !strings.HasPrefix(got, "/tmp/sayso-") {
		t.Errorf("socket of a long home is %s", got)
	}
	if long.Socket() == (home.Paths{Runtime: "/" + strings.Repeat("y", 200)}).Socket() {
		t.Error("two homes share a socket")
	}
}

func TestAudit_refusesWhatOthersMayRead(t *testing.T) {
	p := at(t)
	if found := p.Audit(); len(found) > 0 {
		t.Fatalf("a new home: %v", found)
	}
	if err := os.WriteFile(p.LockFile(), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Policy(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.Policy(), 0o664); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.State, 0o755); err != nil {
		t.Fatal(err)
	}
	var hints []string
	for _, err := range p.Audit() {
		var open *home.OpenError
		if !errors.As(err, &open) {
			t.Fatalf("%v", err)
		}
		hints = append(hints, open.Hint())
	}
	want := []string{"chmod 700 " + p.State, "chmod 600 " + p.LockFile(), "chmod go-w " + p.Policy()}
	if d := cmp.Diff(want, hints); d != "" {
		t.Error(d)
	}
	if err := p.Make(); err == nil {
		t.Error("an open folder was taken")
	}
}

func TestCheckPolicy_othersMayReadItAndNotWriteIt(t *testing.T) {
	path := at(t).Policy()
	if err := os.WriteFile(path, []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{
		0o600: "", 0o640: "", 0o644: "", 0o444: "",
		0o664: path + " may be written by others (mode 0664)", 0o602: path + " may be written by others (mode 0602)",
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := home.CheckPolicy(path); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("mode %o: %q, want %q", mode, got, want)
		}
	}
}

func TestOff_endsAndIsDoubtedTowardsOn(t *testing.T) {
	p := at(t)
	now := time.Now()
	if _, off, err := p.IsOff(now); off || err != nil {
		t.Fatalf("off without a file: %v %v", off, err)
	}
	if err := p.SwitchOff("dev", 25*time.Hour, now); !errors.Is(err, sayso.ErrInvalid) {
		t.Errorf("off for longer than a day: %v", err)
	}
	if err := p.SwitchOff("dev", time.Hour, now); err != nil {
		t.Fatal(err)
	}
	o, off, err := p.IsOff(now)
	if !off || err != nil || o.By != "dev" || o.Left > time.Hour || o.Left < 59*time.Minute {
		t.Fatalf("after switching off: %+v %v %v", o, off, err)
	}
	if _, off, _ := p.IsOff(now.Add(time.Hour + time.Second)); off {
		t.Error("still off after its end")
	}
	text, err := os.ReadFile(p.OffFile())
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"another boot": strings.Replace(string(text), `"boot":"`, `"boot":"x`, 1),
		"no JSON":      "on",
		"unknown":      `{"off":true}`,
	} {
		if err := os.WriteFile(p.OffFile(), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, off, _ := p.IsOff(now); off {
			t.Errorf("%s: off", name)
		}
	}
	if err := p.SwitchOn(); err != nil {
		t.Fatal(err)
	}
	if err := p.SwitchOn(); err != nil {
		t.Errorf("switching on twice: %v", err)
	}
}

func TestOff_refusesAFileThatOthersMayWrite(t *testing.T) {
	p := at(t)
	if err := p.SwitchOff("dev", time.Hour, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.OffFile(), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, off, err := p.IsOff(time.Now()); off || err == nil {
		t.Errorf("a file that anybody could have written: off %v, %v", off, err)
	}
}

func TestLock(t *testing.T) {
	p := at(t)
	if p.Locked() {
		t.Fatal("locked from the start")
	}
	if err := p.Lock("dev", noon); err != nil {
		t.Fatal(err)
	}
	if !p.Locked() {
		t.Error("not locked")
	}
	if err := p.Unlock(); err != nil || p.Locked() {
		t.Errorf("after unlocking: %v %v", p.Locked(), err)
	}
	if err := os.Symlink("nowhere", p.LockFile()); err != nil {
		t.Fatal(err)
	}
	if !p.Locked() {
		t.Error("something in the place of the lock does not lock")
	}
}

func TestTokens(t *testing.T) {
	p := at(t)
	tokens := p.Tokens()
	secret, made, err := tokens.Create(noon, home.Token{Name: "ana", Kind: sayso.PrincipalPerson})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(secret, "sayso_person_") || len(secret) < 35 {
		t.Errorf("token %q", secret)
	}
	text, err := os.ReadFile(p.TokenList())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), strings.TrimPrefix(secret, "sayso_person_")) {
		t.Error("the token itself is kept")
	}
	got, err := p.Tokens().Authenticate(secret, noon)
	if err != nil || got.Name != "ana" || got.Kind != sayso.PrincipalPerson {
		t.Fatalf("authenticate: %+v %v", got, err)
	}
	for name, wrong := range map[string]string{"empty": "", "cut": secret[:len(secret)-1], "longer": secret + "A", "hash": made.Hash.String()} {
		if _, err := tokens.Authenticate(wrong, noon); !errors.Is(err, sayso.ErrNotAllowed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := tokens.Create(time.Now(), home.Token{Name: "eva", Kind: sayso.PrincipalPerson, Device: "phone"}); err != nil {
		t.Fatal(err)
	}
	if ended, err := tokens.Revoke("phone"); err != nil || len(ended) != 1 || ended[0].Name != "eva" {
		t.Errorf("of a device: %v, %v", ended, err)
	}
	if _, err := tokens.Revoke(""); !errors.Is(err, sayso.ErrNotFound) {
		t.Errorf("of no device: %v", err)
	}
	if _, err := tokens.Revoke("ana"); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Authenticate(secret, noon); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("revoked: %v", err)
	}
	if _, err := tokens.Revoke("ana"); !errors.Is(err, sayso.ErrNotFound) {
		t.Errorf("revoked twice: %v", err)
	}
}

func TestTokens_expire(t *testing.T) {
	tokens := at(t).Tokens()
	secret, _, err := tokens.Create(noon, home.Token{Name: "x", Kind: sayso.PrincipalAgent, Expires: noon.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Authenticate(secret, noon.Add(time.Hour-1)); err != nil {
		t.Errorf("before its end: %v", err)
	}
	if _, err := tokens.Authenticate(secret, noon.Add(time.Hour)); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("at its end: %v", err)
	}
}

func TestTokens_refuseWhatIsNoPrincipal(t *testing.T) {
	tokens := at(t).Tokens()
	for _, bad := range []home.Token{
		{Name: "x", Kind: sayso.PrincipalBroker}, {Name: "x"}, {Kind: sayso.PrincipalAgent},
		{Name: "a b", Kind: sayso.PrincipalAgent}, {Name: "../x", Kind: sayso.PrincipalAgent}, {Name: "\u202ex", Kind: sayso.PrincipalAgent},
		{Name: "x\u009b2J", Kind: sayso.PrincipalAgent}, {Name: "x\u00ad", Kind: sayso.PrincipalAgent}, {Name: "x\u00a0y", Kind: sayso.PrincipalAgent},
		{Name: "x\xff", Kind: sayso.PrincipalAgent}, {Name: "x", Kind: "owner"},
	} {
		if _, _, err := tokens.Create(noon, bad); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestTokens_manyAtOnce(t *testing.T) {
	p := at(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, _, err := p.Tokens().Create(noon, home.Token{Name: "x", Kind: sayso.PrincipalAgent}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := p.Tokens().List()
	if err != nil || len(list) != 20 {
		t.Errorf("%d tokens of 20, %v", len(list), err)
	}
}

func TestMint_once(t *testing.T) {
	p := at(t)
	a := home.OwnActor(sayso.PrincipalAgent, "claude-code", "hook")
	for range 2 {
		if err := p.Mint(noon, a); err != nil {
			t.Fatal(err)
		}
	}
	secret, err := p.OwnToken(a)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Tokens().Authenticate(secret, noon)
	if err != nil || got.Owner != home.Person() {
		t.Errorf("%+v %v", got, err)
	}
	list, err := p.Tokens().List()
	if err != nil || len(list) != 1 {
		t.Errorf("minted %d tokens, %v", len(list), err)
	}
	if found := p.Audit(); len(found) > 0 {
		t.Error(found)
	}
}

func TestLogin_once(t *testing.T) {
	p := at(t)
	code, err := p.LoginCode(noon, home.OwnActor(sayso.PrincipalPerson, "ana", "terminal"), "")
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := p.Login(noon.Add(time.Minute), strings.ToLower(code), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Tokens().Authenticate(secret, noon.Add(home.LoginLife+time.Second)); err != nil {
		t.Errorf("%+v %v", got, err)
	}
	if _, _, err := p.Login(noon, code, "", ""); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("used twice: %v", err)
	}
	late, err := p.LoginCode(noon, home.OwnActor(sayso.PrincipalPerson, "ana", "terminal"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Login(noon.Add(home.CodeLife), late, "", ""); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("used late: %v", err)
	}
	if _, err := p.LoginCode(noon, home.OwnActor(sayso.PrincipalAgent, "x", "hook"), ""); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("a code for an agent: %v", err)
	}
}

func TestLoad(t *testing.T) {
	s, warnings, err := home.Load([]string{"SAYSO_PATIENCE=5m", "SAYSO_LISTEN=:1", "SAYSO_PATIENSE=1m", "PATH=/bin"}, map[string]string{"listen": ":2"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Patience != 5*time.Minute || s.Listen != ":2" || s.Notice != "on" {
		t.Errorf("%+v", s)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "SAYSO_PATIENSE") {
		t.Errorf("warnings %q", warnings)
	}
	sources := map[string]string{}
	for _, k := range s.All() {
		sources[k.Name] = k.Source
	}
	if sources["patience"] != "env" || sources["listen"] != "flag" || sources["notice"] != "default" {
		t.Errorf("sources %v", sources)
	}
	if _, _, err := home.Load([]string{"SAYSO_PATIENCE=soon"}, nil); err == nil || !strings.Contains(err.Error(), "SAYSO_PATIENCE") {
		t.Errorf("a patience that is no time: %v", err)
	}
}

func TestLoad_keepContent(t *testing.T) {
	for v, want := range map[string]time.Duration{
		"": 30 * 24 * time.Hour, "7d": 7 * 24 * time.Hour, "12h": 12 * time.Hour, "forever": -1, "65535d": 65535 * 24 * time.Hour,
	} {
		s, _, err := home.Load([]string{"SAYSO_KEEP_CONTENT=" + v}, nil)
		if err != nil || s.Keep != want {
			t.Errorf("%q: %v, %v; want %v", v, s.Keep, err, want)
		}
	}
	for _, v := range []string{"0", "0d", "-1d", "-1h", "1.5d", "d", "65536d", "month", "never", "30"} {
		if s, _, err := home.Load([]string{"SAYSO_KEEP_CONTENT=" + v}, nil); err == nil || !strings.Contains(err.Error(), "as 30d or 12h, or forever") {
			t.Errorf("%q: %v, %v", v, s.Keep, err)
		}
	}
}

// The attack: another user of the machine puts a link where the socket of a
// home with a long path goes, which is a folder in /tmp that everybody can name
// beforehand. The link leads to a folder of ours, closed to others, that is
// meant for something else.
func TestMake_refusesALinkForTheSocket(t *testing.T) {
	base := t.TempDir()
	home.ShortPlace(t, base)
	long := filepath.Join(base, strings.Repeat("x", 100))
	p := home.Paths{Home: long, State: long, Config: long, Runtime: long}
	dir := filepath.Dir(p.Socket())
	ours := filepath.Join(base, "keys")
	if err := os.Mkdir(ours, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(ours, dir); err != nil {
		t.Fatal(err)
	}
	var open *home.OpenError
	if err := p.Make(); !errors.As(err, &open) || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a link was taken for the folder of the socket: %v", err)
	}
	if err := home.CheckSocketFolder(p.Socket()); !errors.As(err, &open) {
		t.Errorf("a socket behind a link was trusted: %v", err)
	}
}

// When a token was last used is known to the minute, and not of one that is gone.
func TestTokens_used(t *testing.T) {
	p := at(t)
	code, err := p.LoginCode(noon, home.OwnActor(sayso.PrincipalPerson, "ana", "terminal"), "")
	if err != nil {
		t.Fatal(err)
	}
	secret, made, err := p.Login(noon, code, "https://box.lan", "Safari on iPhone")
	if err != nil || made.Device != "Safari on iPhone" {
		t.Fatalf("%+v %v", made, err)
	}
	tokens := p.Tokens()
	if used := tokens.Used(made.ID); !used.IsZero() {
		t.Errorf("used at %s before it was shown", used)
	}
	for _, c := range []struct{ shown, noted time.Duration }{{0, 0}, {59 * time.Second, 0}, {2 * time.Minute, 2 * time.Minute}} {
		if _, err := tokens.Authenticate(secret, noon.Add(c.shown)); err != nil {
			t.Fatal(err)
		}
		if used := p.Tokens().Used(made.ID); !used.Equal(noon.Add(c.noted)) {
			t.Errorf("shown after %s, noted %s", c.shown, used)
		}
	}
	if _, err := tokens.Revoke(made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Authenticate(secret, noon); err == nil || !tokens.Used(made.ID).IsZero() {
		t.Errorf("after it was revoked: %v, used %s", err, tokens.Used(made.ID))
	}
}

// A device is called as whoever made its code said, before what it says itself.
func TestLogin_device(t *testing.T) {
	p := at(t)
	ana := home.OwnActor(sayso.PrincipalPerson, "ana", "terminal")
	code, err := p.LoginCode(noon, ana, "ana-phone")
	if err != nil {
		t.Fatal(err)
	}
	if _, made, err := p.Login(noon, code, "https://box.lan", "Safari on iPhone"); err != nil || made.Device != "ana-phone" {
		t.Errorf("%+v %v", made, err)
	}
	if _, err := p.LoginCode(noon, ana, "a b\x1b[2J"); !errors.Is(err, sayso.ErrInvalid) {
		t.Errorf("a name that is none: %v", err)
	}
}
