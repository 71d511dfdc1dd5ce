package sayso

import (
	"fmt"
	"strings"
	"time"
)

// ID names a request, a grant or an event: 48 bits of time in milliseconds and
// 128 random bits, in 36 characters that sort by time. The alphabet is
// Crockford's base 32 in lower case, which has no i, l, o or u to misread.
type ID string

const (
	idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	idTime     = 10 // characters of time
	idLen      = 36
)

// NewID makes an ID from a time and 128 bits that the caller took from a
// cryptographic source.
func NewID(at time.Time, random [16]byte) ID {
	var b [idLen]byte
	ms := uint64(max(at.UnixMilli(), 0))
	for i := idTime - 1; i >= 0; i-- {
		b[i] = idAlphabet[ms&31]
		ms >>= 5
	}
	var acc, bits uint
	n := idTime
	for _, r := range random {
		acc, bits = acc<<8|uint(r), bits+8
		for bits >= 5 {
			bits -= 5
			b[n] = idAlphabet[acc>>bits&31]
			n++
		}
	}
	b[n] = idAlphabet[acc<<(5-bits)&31]
	return ID(b[:])
}

// ParseID accepts exactly what NewID makes.
func ParseID(s string) (ID, error) {
	if len(s) != idLen || !idChars(s) {
		return "", fmt.Errorf("%w: an id has %d characters of %s", ErrInvalid, idLen, idAlphabet)
	}
	return ID(s), nil
}

// Time is when an ID was made, to the millisecond; the zero time for what is no
// ID.
func (id ID) Time() time.Time {
	if len(id) != idLen || !idChars(string(id)) {
		return time.Time{}
	}
	var ms int64
	for _, c := range string(id[:idTime]) {
		ms = ms<<5 | int64(strings.IndexRune(idAlphabet, c))
	}
	return time.UnixMilli(ms).UTC()
}

// Short is the part of an ID that people type: the first four of its random
// characters. It may be ambiguous; [ID.Matches] accepts longer ones.
func (id ID) Short() string {
	if len(id) != idLen {
		return string(id)
	}
	return string(id[idTime : idTime+4])
}

// Matches reports whether typed names this ID: all of it, or at least four
// characters from its short form on.
func (id ID) Matches(typed string) bool {
	if typed == string(id) {
		return len(typed) == idLen
	}
	return len(id) == idLen && len(typed) >= 4 && strings.HasPrefix(string(id[idTime:]), typed)
}

// idChars reports whether s is made of the alphabet alone.
func idChars(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune(idAlphabet, r)
	}) < 0
}
