package sayso

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// MaxCall is the largest call, in bytes of JSON, that is looked at; what is
// longer is refused.
const MaxCall = 4 << 20

// Args is the text of a JSON object: the arguments of a call as the tool will
// receive them.
type Args []byte

// MarshalJSON writes the text as it is, and {} for none.
func (a Args) MarshalJSON() ([]byte, error) {
	if len(a) == 0 {
		return []byte("{}"), nil
	}
	return a, nil
}

// UnmarshalJSON keeps the text as it is.
func (a *Args) UnmarshalJSON(text []byte) error {
	*a = append((*a)[:0], text...)
	return nil
}

// Annotations are what a server says of its tool. They can only tighten,
// unless policy trusts the server.
type Annotations struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

// Call is what an agent wants to do.
//
// Tool is the host's own name when Host is given, else one of ours; see
// [Call.Known]. Only Tool, Server, Args, Cwd, Session and DefinitionDigest are
// part of the call's identity, see [Call.Digest]; the rest is for people and
// for the log.
type Call struct {
	Tool             string            `json:"tool"`
	Host             string            `json:"host,omitempty"`
	Server           string            `json:"server,omitempty"`
	Kind             Kind              `json:"kind,omitempty"`
	Args             Args              `json:"args"`
	Cwd              string            `json:"cwd,omitempty"`
	Session          string            `json:"session,omitempty"`
	Run              string            `json:"run,omitempty"`
	CallID           string            `json:"call_id,omitempty"`
	Caller           string            `json:"caller,omitempty"`
	Tags             []string          `json:"tags,omitempty"`
	Metadata         map[string]any    `json:"metadata,omitempty"`
	Said             map[string]string `json:"said,omitempty"`
	Description      string            `json:"description,omitempty"`
	GroupID          string            `json:"group_id,omitempty"`
	Annotations      *Annotations      `json:"annotations,omitempty"`
	DefinitionDigest string            `json:"definition_digest,omitempty"`
}

// Unlisted reports whether the call is of a tool that its MCP server never
// listed.
func (c Call) Unlisted() bool { return c.Host == HostMCP && c.DefinitionDigest == "" }

// ParseCall reads one call from JSON, strictly: duplicate keys at any depth,
// unknown members, names in another case, arguments that are no object or that
// two readers could read differently are errors. Errors never quote values.
func ParseCall(text []byte) (Call, error) {
	if len(text) > MaxCall {
		return Call{}, fmt.Errorf("%w: a call may have %d bytes, this one has %d", ErrInvalid, MaxCall, len(text))
	}
	var c Call
	if err := jcs.Unmarshal(text, &c); err != nil {
		return Call{}, fmt.Errorf("%w: call: %w", ErrInvalid, err)
	}
	if !bytes.HasPrefix(bytes.TrimLeft(c.Args, " \t\r\n"), []byte("{")) {
		return Call{}, fmt.Errorf("%w: call: args must be an object; a call without arguments has {}", ErrInvalid)
	}
	if err := c.Validate(); err != nil {
		return Call{}, err
	}
	return c, nil
}

// Validate reports whether the members of the call besides its arguments are
// what they must be; [Call.Digest] looks at those.
func (c Call) Validate() error {
	if c.Tool == "" {
		return fmt.Errorf("%w: call: tool is missing", ErrInvalid)
	}
	if len(c.Args) > MaxCall {
		return fmt.Errorf("%w: call: args may have %d bytes", ErrInvalid, MaxCall)
	}
	if c.Kind != "" && !c.Kind.Known() {
		return fmt.Errorf("%w: call: kind is none of shell, read, write, edit, delete, list, fetch, search, delegate, mcp, other", ErrInvalid)
	}
	for _, f := range [...]struct{ name, text string }{
		{"tool", c.Tool}, {"host", c.Host}, {"server", c.Server}, {"session", c.Session},
		{"run", c.Run}, {"call_id", c.CallID}, {"caller", c.Caller}, {"group_id", c.GroupID},
		{"definition_digest", c.DefinitionDigest},
	} {
		if err := plain(f.name, f.text, 256); err != nil {
			return err
		}
	}
	if err := plain("cwd", c.Cwd, 4096); err != nil {
		return err
	}
	return nil
}

// plain refuses names that are too long, that are no text, or that hold
// control characters: they are shown, logged and compared.
func plain(name, text string, limit int) error {
	if len(text) > limit {
		return fmt.Errorf("%w: call: %s may have %d bytes", ErrInvalid, name, limit)
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%w: call: %s holds a control character or is not UTF-8", ErrInvalid, name)
	}
	return nil
}

// Digest is a SHA-256. The zero Digest stands for none and equals no other.
type Digest [sha256.Size]byte

// IsZero reports whether d is none.
func (d Digest) IsZero() bool { return d == Digest{} }

// String is sha256: and 64 hexadecimal digits, or empty for none.
func (d Digest) String() string {
	if d.IsZero() {
		return ""
	}
	return "sha256:" + hex.EncodeToString(d[:])
}

// MarshalText writes what String returns.
func (d Digest) MarshalText() ([]byte, error) { return d.AppendText(nil) }

// AppendText appends what String returns.
func (d Digest) AppendText(b []byte) ([]byte, error) {
	if d.IsZero() {
		return b, nil
	}
	return hex.AppendEncode(append(b, "sha256:"...), d[:]), nil
}

// UnmarshalText reads what String returns, and nothing else.
func (d *Digest) UnmarshalText(text []byte) error {
	*d = Digest{}
	if len(text) == 0 {
		return nil
	}
	hexed, ok := strings.CutPrefix(string(text), "sha256:")
	raw, err := hex.DecodeString(hexed)
	if !ok || err != nil || len(raw) != len(d) || hexed != strings.ToLower(hexed) {
		return fmt.Errorf("%w: a digest is sha256: and 64 lower-case hexadecimal digits", ErrInvalid)
	}
	copy(d[:], raw)
	return nil
}

// HashOf is the SHA-256 of parts, each framed by its length, under a domain
// that keeps hashes of different things apart.
func HashOf(domain string, parts ...[]byte) Digest {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if size > 1<<16 {
		return hashLong(domain, parts)
	}
	var room [1536]byte // enough for nearly everything
	b := appendFrame(room[:0], domain)
	for _, p := range parts {
		b = append(appendUint(b, uint64(len(p))), p...)
	}
	return sha256.Sum256(b)
}

// hashLong is HashOf without a copy of the parts.
func hashLong(domain string, parts [][]byte) Digest {
	h := sha256.New()
	h.Write(appendFrame(nil, domain))
	for _, p := range parts {
		h.Write(appendUint(nil, uint64(len(p))))
		h.Write(p)
	}
	return Digest(h.Sum(nil))
}

// Digest identifies exactly this call: the tool, its server, its arguments,
// the directory, the session and the tool's definition.
//
// It is the SHA-256 over RFC 8785 (with exact integers) of those members, with
// the tool by its canonical name, see [Call.Known]. It is taken before
// anything is hidden or cut: two calls that look alike on a screen still have
// different digests. Arguments that two readers could read differently have
// none and are an error.
func (c Call) Digest() (Digest, error) {
	args, err := jcs.Object(c.Args)
	if err != nil {
		return Digest{}, fmt.Errorf("%w: args: %w", ErrInvalid, err)
	}
	text, err := c.identity(args)
	if err != nil {
		return Digest{}, fmt.Errorf("%w: call: %w", ErrInvalid, err)
	}
	return sha256.Sum256(text), nil
}

// identity is what a digest is taken of: the canonical form of one object. Its
// members are in canonical order, and so are args.
func (c Call) identity(args []byte) ([]byte, error) {
	tool, server := c.CanonicalName()
	text := append(make([]byte, 0, len(args)+512), `{"args":`...)
	text = append(text, args...)
	for _, m := range [...]struct{ before, value string }{
		{`,"cwd":`, c.Cwd}, {`,"definition_digest":`, c.DefinitionDigest}, {`,"server":`, server},
		{`,"session":`, c.Session}, {`,"tool":`, tool},
	} {
		var err error
		if text, err = jcs.AppendString(append(text, m.before...), m.value); err != nil {
			return nil, err
		}
	}
	text = append(text, `,"v":1}`...)
	return text, jcs.Check(text) // the arguments may be nested as deep as any text, and stand in one
}
