package home

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// CodeLife is how long a login code may be used.
const CodeLife = 2 * time.Minute

// LoginLife is how long the token lasts that a login code is changed into.
const LoginLife = 12 * time.Hour

// login is what a code stands for.
type login struct {
	Name    string              `json:"name"`
	Kind    sayso.PrincipalKind `json:"kind"`
	Device  string              `json:"device,omitempty"`
	Expires time.Time           `json:"expires"`
}

func (p Paths) codeFile(code string) string {
	sum := hash(strings.ToUpper(strings.TrimSpace(code)))
	return filepath.Join(p.codeFolder(), hex.EncodeToString(sum[:]))
}

func (p Paths) codeFolder() string { return filepath.Join(p.State, "codes") }

// dropCodes deletes the codes that had expired at now. Files that hold none, as
// one that is being written, are left.
func (p Paths) dropCodes(now time.Time) error {
	files, err := os.ReadDir(p.codeFolder())
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(p.codeFolder(), f.Name())
		l, err := readLogin(path)
		if err != nil || now.Before(l.Expires) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // used or dropped by another
			return err
		}
	}
	return nil
}

func readLogin(path string) (l login, err error) {
	text, err := Read(path)
	if err != nil {
		return l, err
	}
	err = jcs.Unmarshal(text, &l)
	return l, err
}

// LoginCode makes a code that a person types, or follows as a link, to get a
// token of their own, once and soon. The device that gets it may be given a name.
// Older codes that nobody used in time are deleted.
func (p Paths) LoginCode(now time.Time, a sayso.Actor, device string) (string, error) {
	if !a.Kind.Looks() {
		return "", fmt.Errorf("%w: login codes are for people", sayso.ErrNotAllowed)
	}
	if device != "" {
		if err := checkName(device); err != nil {
			return "", err
		}
	}
	if err := errors.Join(p.Make(), MakeFolder(p.codeFolder())); err != nil {
		return "", err
	}
	if err := p.dropCodes(now); err != nil {
		return "", err
	}
	code := rand.Text()
	text, err := jcs.Marshal(login{a.Principal, a.Kind, device, now.Add(CodeLife).UTC()})
	if err != nil {
		return "", err
	}
	return code, Write(p.codeFile(code), text)
}

// Login changes a code into a token. The code is spent whatever happens: of
// two who use it at once, one gets the token. The token of a page is bound to
// its origin; an empty one is for other programs. A device that was given no name
// is called as it calls itself.
func (p Paths) Login(now time.Time, code, origin, device string) (secret string, t Token, err error) {
	path := p.codeFile(code)
	mine := path + "." + rand.Text()
	if err := os.Rename(path, mine); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("the code is unknown or was used")
		}
		return "", Token{}, fmt.Errorf("%w: %w", sayso.ErrNotAllowed, err)
	}
	l, err := readLogin(mine)
	if err = errors.Join(err, os.Remove(mine)); err != nil {
		return "", Token{}, err
	}
	if !now.Before(l.Expires) {
		return "", Token{}, fmt.Errorf("%w: the code expired", sayso.ErrNotAllowed)
	}
	return p.Tokens().Create(now, Token{Name: l.Name, Kind: l.Kind, Origin: origin, Device: cmp.Or(l.Device, device), Expires: now.Add(LoginLife).UTC().Truncate(time.Second)})
}
