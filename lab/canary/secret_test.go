//go:build unix

package canary_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// alphabets that secrets are drawn from, with a length. None is of hexadecimal
// digits or lower case alone: digests and ids have parts like those by chance.
var alphabets = []struct {
	chars string
	n     int
}{
	{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 12},
	{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 20},
	{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 40},
	{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 32},
}

// part is how much of a secret must not be seen.
const part = 8

// nest holds the secrets of a run and knows them again in any text.
type nest struct {
	r *rand.Rand

	mu    sync.Mutex
	parts map[string]string // every part, and the secret that it is of
}

func newNest(seed uint64) *nest {
	return &nest{r: rand.New(rand.NewPCG(seed, 1)), parts: map[string]string{}}
}

// lay makes a secret.
func (n *nest) lay() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.layIn(alphabets[n.r.IntN(len(alphabets))].chars, alphabets[n.r.IntN(len(alphabets))].n)
}

// laySized makes a secret of letters and digits with a length, for shapes.
func (n *nest) laySized(length int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.layIn(alphabets[0].chars, length)
}

func (n *nest) layIn(chars string, length int) string {
	b := make([]byte, length)
	for i := range b {
		b[i] = chars[n.r.IntN(len(chars))]
	}
	b[0], b[1], b[length-1] = 'Q', '7', 'x' // no sign at an end, and no word of a language
	secret := string(b)
	for i := 0; i+part <= length; i++ {
		n.parts[secret[i:i+part]] = secret
	}
	return secret
}

// found returns a secret of which a part is in text, and that part.
func (n *nest) found(text string) (seen, secret string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := 0; i+part <= len(text); i++ {
		if s, ok := n.parts[text[i:i+part]]; ok {
			return text[i : i+part], s
		}
	}
	return "", ""
}

// clean fails the test if a surface shows a secret.
func (n *nest) clean(t *testing.T, surface, text string, about ...any) {
	t.Helper()
	seen, secret := n.found(text)
	if seen == "" {
		return
	}
	at := strings.Index(text, seen)
	t.Errorf("%s shows %q of %q%s:\n%s", surface, seen, secret, fmt.Sprint(about...), text[max(0, at-300):min(len(text), at+200)])
}

func TestNest_findsParts(t *testing.T) {
	n := newNest(1)
	for range 50 {
		s := n.lay()
		for _, text := range []string{s, "x" + s + "y", s[:part], s[len(s)-part:], s[2 : 2+part]} {
			if seen, secret := n.found(text); seen == "" || secret != s {
				t.Errorf("%q is not found in %q", s, text)
			}
		}
		if seen, _ := n.found(s[:part-1] + " " + s[part:part+1]); seen != "" {
			t.Errorf("%q is found where it is not", seen)
		}
	}
}
