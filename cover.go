package sayso

import "slices"

// Cover says what a grant covers, from narrow to wide.
type Cover string

// The covers, the narrowest first.
const (
	CoverCall        Cover = "call"        // this exact call and nothing else
	CoverFingerprint Cover = "fingerprint" // what the tool itself takes for the same
	CoverPrefix      Cover = "prefix"      // commands that begin with the same words
	CoverDirectory   Cover = "directory"   // the same tool in the same folder and below
	CoverHost        Cover = "host"        // the same tool at the same scheme, host and port
	CoverTool        Cover = "tool"        // the same tool
	CoverKind        Cover = "kind"        // tools of the same kind
)

var covers = []Cover{CoverCall, CoverFingerprint, CoverPrefix, CoverDirectory, CoverHost, CoverTool, CoverKind}

// Covers lists the covers, the narrowest first.
func Covers() []Cover { return slices.Clone(covers) }

// Known reports whether c is one of the covers.
func (c Cover) Known() bool { return slices.Contains(covers, c) }

// CoverOffer is one way to remember a yes, as it is shown: what a person chose
// is covered, and nothing else.
type CoverOffer struct {
	Cover Cover  `json:"cover"`
	Label string `json:"label"` // in words
	// Pattern is what calls are compared with; empty for the exact call, which
	// the request shows.
	Pattern string `json:"pattern,omitempty"`
	// WouldHaveCovered is how many of the calls that were looked at, LookedAt,
	// this cover would have been a yes to, and Denied how many of these a person
	// denied. They are counted when one request is looked at; LookedAt is zero
	// where nothing was counted.
	WouldHaveCovered int `json:"would_have_covered"`
	Denied           int `json:"denied"`
	LookedAt         int `json:"looked_at,omitzero"`
}

// Covered is what a wide cover matches on: a grant covers a call if all of it
// is equal. It is taken from the call as it will run and from where its paths
// lead, never from a preview or a description.
type Covered struct {
	Cover      Cover
	Session    string
	Tool       string   // canonical; empty for a kind
	Server     string   // that the tool belongs to
	Definition string   // digest of the tool's definition, where it has one
	Place      string   // the workspace or the directory that it holds in
	Parts      []string // the words, the folder, the address, the payload or the kind
}

// Digest identifies what is covered. Another cover, another session, another
// definition of the tool have another.
func (c Covered) Digest() Digest {
	parts := make([][]byte, 0, 6+len(c.Parts))
	for _, p := range [...]string{string(c.Cover), c.Session, c.Tool, c.Server, c.Definition, c.Place} {
		parts = append(parts, []byte(p))
	}
	for _, p := range c.Parts {
		parts = append(parts, []byte(p))
	}
	return HashOf("sayso/cover/1", parts...)
}

// GrantKey is what a grant matches on: the digest of the call, or of what is
// covered; the contents of the files that the command names and the places where
// its paths lead, for covers that are bound to them; and the version of the
// policy that it was given under.
func GrantKey(cover Cover, matches, pins Digest, policy string) Digest {
	return HashOf("sayso/grant/1", []byte(cover), matches[:], pins[:], []byte(policy))
}

// Reach is how far a yes to all of these asks may be remembered: never if one of
// them says never, and no further than the exact call if one of them says so,
// takes a person, is about something that was not understood, or is a built-in,
// which speaks only where care is due.
func Reach(asks []Match) Remember {
	reach := RememberAny
	for _, m := range asks {
		switch {
		case m.Remember == RememberExact, m.Remember == RememberAny && (m.personal() || m.Cause == CauseBuiltin):
			reach = RememberExact
		case m.Remember != RememberAny:
			return RememberNever
		}
	}
	return reach
}
