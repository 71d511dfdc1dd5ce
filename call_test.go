package sayso_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// vectors reads a file of testdata/vectors.
func vectors(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := jcs.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// digestVector is a line of digests.json.
type digestVector struct {
	Name   string       `json:"name"`
	Call   string       `json:"call"` // text, since some of it is no JSON
	Digest sayso.Digest `json:"digest"`
	Error  bool         `json:"error"`
}

func TestVectors_digests(t *testing.T) {
	var all []digestVector
	vectors(t, "digests.json", &all)
	for _, v := range all {
		c, err := sayso.ParseCall([]byte(v.Call))
		if v.Error {
			if !errors.Is(err, sayso.ErrInvalid) || c.Tool != "" || c.Args != nil {
				t.Errorf("%s: got %+v, %v, want that it is refused", v.Name, c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		if d, err := c.Digest(); d != v.Digest || err != nil {
			t.Errorf("%s: got %s, %v, want %s", v.Name, d, err, v.Digest)
		}
	}
}

// Which calls are one call. Every other pair of the vectors is two.
func TestDigest_pairs(t *testing.T) {
	equal := [][]string{
		{"a call", "members in another order, with white space", "escapes in strings", "the host's name of the tool", "what is not identity"},
		{"a number in three spellings, first", "a number in three spellings, second", "a number in three spellings, third"},
		{"a server's tool", "a server's tool in a host's spelling"},
		{"our own name", "its canonical name", "a host's name of it"},
	}
	class := map[string]int{}
	for i, names := range equal {
		for _, name := range names {
			class[name] = i + 1
		}
	}
	var all []digestVector
	vectors(t, "digests.json", &all)
	all = slices.DeleteFunc(all, func(v digestVector) bool { return v.Error })
	for i, a := range all {
		for _, b := range all[:i] {
			want := class[a.Name] != 0 && class[a.Name] == class[b.Name]
			if got := a.Digest == b.Digest; got != want {
				t.Errorf("%q and %q are one call: %v, want %v", a.Name, b.Name, got, want)
			}
		}
	}
}

// An error may be logged and shown to an agent: it names members, never values.
func TestParseCall_errorsQuoteNothing(t *testing.T) {
	const secret = "hunter2-hunter2"
	for _, text := range []string{
		`{"tool":"bash","args":{"a":"` + secret + `","a":"` + secret + `"}}`,
		`{"tool":"` + secret + `\u0000","args":{}}`,
		`{"tool":"bash","kind":"` + secret + `","args":{}}`,
		`{"tool":"bash","args":"` + secret + `"}`,
		`{"tool":"bash","args":{"a":"` + secret + `"`,
		`{"tool":"bash","args":{"a":` + secret + `}}`,
		`{"tool":"bash","args":{},"tags":"` + secret + `"}`,
		`{"tool":"bash","args":{},"annotations":{"read_only":"` + secret + `"}}`,
		`{"tool":"bash","args":{"a":"` + secret + `\ud800"}}`,
	} {
		_, err := sayso.ParseCall([]byte(text))
		if err == nil || strings.Contains(err.Error(), secret[:8]) || strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%s: the error is %v", text, err)
		}
	}
}

func TestParseCall_size(t *testing.T) {
	call := func(n int) []byte {
		const frame = `{"tool":"bash","args":{"a":""}}`
		return []byte(strings.Replace(frame, `""`, `"`+strings.Repeat("x", n-len(frame))+`"`, 1))
	}
	if _, err := sayso.ParseCall(call(sayso.MaxCall)); err != nil {
		t.Errorf("the largest call: %v", err)
	}
	if c, err := sayso.ParseCall(call(sayso.MaxCall + 1)); !errors.Is(err, sayso.ErrInvalid) || c.Tool != "" {
		t.Errorf("a byte more: %v", err)
	}
}

// Arguments reach the tool as they came, to the byte.
func TestParseCall_keepsArguments(t *testing.T) {
	const args = `{ "n": 1.50e+1, "s":"\u0061\/" , "big":12345678901234567890123 }`
	c, err := sayso.ParseCall([]byte(`{"tool":"t","args":` + args + `}`))
	if err != nil || string(c.Args) != args {
		t.Errorf("got %s, %v", c.Args, err)
	}
}

// A call made in Go, with arguments that are none, has no digest to approve.
func TestGR2_refused(t *testing.T) {
	deep := `{"a":` + strings.Repeat("[", jcs.MaxDepth) + strings.Repeat("]", jcs.MaxDepth) + `}`
	for _, args := range []string{deep, "", " ", "null", "[]", `"x"`, `{"a":1,"a":2}`, `{"a":1e999}`, `{"a":"\ud800"}`, "{} {}", "{\"a\":\"\xff\"}"} {
		d, err := sayso.Call{Tool: "bash", Args: sayso.Args(args)}.Digest()
		if !d.IsZero() || !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("arguments %q: got %s, %v", args, d, err)
		}
	}
	if d, err := (sayso.Call{Tool: "b\xff", Args: sayso.Args("{}")}).Digest(); err == nil {
		t.Errorf("a tool that is no text has digest %s", d)
	}
}

// What a digest is taken of is one canonical object, whatever the members hold.
func TestDigest_isOfOneObject(t *testing.T) {
	const most = jcs.MaxDepth
	for _, c := range []sayso.Call{
		{Tool: "Bash", Host: "claude-code", Args: sayso.Args(`{"b": 1.0, "a":"\u00e9"}`), Cwd: "/a b/é", Session: "s"},
		{Tool: "apply", Server: "deploy", Args: sayso.Args(`{}`), Session: "\" \\ \u2028 \t \x7f <&>", DefinitionDigest: "sha256:x"},
		{Tool: "t", Args: sayso.Args(`{"a":` + strings.Repeat("[", most-2) + strings.Repeat("]", most-2) + `}`)},
		{Tool: "t", Args: sayso.Args(`{"a":` + strings.Repeat("[", most-1) + strings.Repeat("]", most-1) + `}`)},
		{Tool: "t", Args: sayso.Args(`{}`), Cwd: "\xff"},
	} {
		tool, server := c.CanonicalName()
		text, err := jcs.Marshal(map[string]any{
			"args": c.Args, "cwd": c.Cwd, "definition_digest": c.DefinitionDigest, "server": server,
			"session": c.Session, "tool": tool, "v": 1,
		})
		if err == nil {
			text, err = jcs.Canonicalize(text)
		}
		got, gotErr := c.Digest()
		if (err == nil) != (gotErr == nil) || err != nil && !got.IsZero() {
			t.Errorf("%+v: digest %s, %v; canonical form: %v", c, got, gotErr, err)
		}
		if err == nil && got != sha256.Sum256(text) {
			t.Errorf("the digest of %+v is not that of %s", c, text)
		}
	}
}

func TestDigest_text(t *testing.T) {
	d := sayso.HashOf("x")
	var got sayso.Digest
	if err := got.UnmarshalText([]byte(d.String())); err != nil || got != d {
		t.Errorf("%s is read as %s, %v", d, got, err)
	}
	for _, s := range []string{
		"sha256:", d.String()[7:], strings.ToUpper(d.String()), "sha256:" + strings.ToUpper(d.String()[7:]), d.String() + "00", "sha512:" + d.String()[7:], d.String()[:70], " " + d.String(),
	} {
		got := d
		if err := got.UnmarshalText([]byte(s)); err == nil || !got.IsZero() {
			t.Errorf("%q is read as %s, %v", s, got, err)
		}
	}
	if (sayso.Digest{}).String() != "" {
		t.Error("the zero digest has a text, which could be compared with")
	}
}

func TestHashOf_frames(t *testing.T) {
	a := sayso.HashOf("d", []byte("ab"), []byte("c"))
	for name, b := range map[string]sayso.Digest{
		"a shifted border": sayso.HashOf("d", []byte("a"), []byte("bc")), "one part": sayso.HashOf("d", []byte("abc")),
		"an empty part more": sayso.HashOf("d", []byte("ab"), []byte("c"), nil), "another domain": sayso.HashOf("da", []byte("b"), []byte("c")),
	} {
		if a == b {
			t.Errorf("%s hashes to the same", name)
		}
	}
}

// However long the parts are, each stands behind its length in 64 bits.
func TestHashOf_long(t *testing.T) {
	for _, n := range []int{0, 1, 1500, 1 << 16, 1<<16 + 1, 1 << 18} {
		parts := [][]byte{bytes.Repeat([]byte("x"), n/2), []byte("yz"), bytes.Repeat([]byte("z"), n-n/2)}
		var framed []byte
		for _, p := range append([][]byte{[]byte("domain")}, parts...) {
			framed = append(binary.BigEndian.AppendUint64(framed, uint64(len(p))), p...)
		}
		if got := sayso.HashOf("domain", parts...); got != sha256.Sum256(framed) {
			t.Errorf("%d bytes hash to %s, not to what is framed", n, got)
		}
	}
}

// The name and kind of a tool decide which rules there are for it.
func TestCall_canonicalName(t *testing.T) {
	for _, c := range []struct {
		host, server, tool string
		claimed            sayso.Kind
		name, of           string
		kind               sayso.Kind
	}{
		{"", "", "bash", "", "bash", "", sayso.KindShell},
		{"", "", "bash", sayso.KindRead, "bash", "", sayso.KindShell}, // a claim makes nothing laxer
		{"", "", "file-read", sayso.KindShell, "file-read", "", sayso.KindShell},
		{"", "", "read_file", "", "file-read", "", sayso.KindRead},
		{"", "", "Bash", "", "Bash", "", sayso.KindOther},
		{"", "", "bash ", "", "bash ", "", sayso.KindOther},
		{"", "", "nobody-knows", sayso.KindRead, "nobody-knows", "", sayso.KindOther},
		{"claude-code", "", "Bash", "", "bash", "", sayso.KindShell},
		{"claude-code", "", "NotebookEdit", "", "file-edit", "", sayso.KindEdit},
		{"codex", "", "exec_command", "", "bash", "", sayso.KindShell},
		{"codex-of-tomorrow", "", "Bash", "", "Bash", "", sayso.KindOther},
		{"", "evil", "bash", "", "bash", "evil", sayso.KindMCP},
		{"claude-code", "evil", "Read", sayso.KindRead, "Read", "evil", sayso.KindMCP},
		{"claude-code", "", "mcp__evil__Read", sayso.KindRead, "Read", "evil", sayso.KindMCP},
		{"", "", "mcp__a__b__c", "", "b__c", "a", sayso.KindMCP},
		{"", "", "mcp__a", "", "mcp__a", "", sayso.KindOther},
		{"", "", "mcp____x", "", "mcp____x", "", sayso.KindOther},
		{"", "", "mcp__a__", "", "mcp__a__", "", sayso.KindOther},
	} {
		call := sayso.Call{Host: c.host, Server: c.server, Tool: c.tool, Kind: c.claimed}
		name, of := call.CanonicalName()
		if kind := call.EffectiveKind(); name != c.name || of != c.of || kind != c.kind {
			t.Errorf("%q of host %q and server %q: got %q of %q, %s, want %q of %q, %s", c.tool, c.host, c.server, name, of, kind, c.name, c.of, c.kind)
		}
	}
}

// What is parsed has a digest, and it stays the same however the call is
// written.
func FuzzParseCall(f *testing.F) {
	var all []digestVector
	vectors(f, "digests.json", &all)
	for _, v := range all {
		f.Add([]byte(v.Call))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := sayso.ParseCall(text)
		if err != nil {
			if !errors.Is(err, sayso.ErrInvalid) || c.Tool != "" || c.Args != nil {
				t.Fatalf("a refused call is %+v, %v", c, err)
			}
			return
		}
		want, err := c.Digest()
		if err != nil || want.IsZero() {
			t.Fatalf("a call without a digest: %v", err)
		}
		written, err := jcs.Marshal(c)
		if err != nil {
			t.Fatalf("a call that cannot be written: %v", err)
		}
		for name, again := range map[string][]byte{"written": written, "canonical": canonical(t, text), "turned round": turned(t, text)} {
			c, err := sayso.ParseCall(again)
			if err != nil {
				t.Fatalf("%s: %s is refused: %v", name, again, err)
			}
			if got, err := c.Digest(); got != want || err != nil {
				t.Fatalf("%s: %s has digest %s, %v, want %s", name, again, got, err, want)
			}
		}
		if c.Session += "x"; digest(t, c) == want {
			t.Fatal("another session has the same digest")
		}
	})
}

func digest(t *testing.T, c sayso.Call) sayso.Digest {
	t.Helper()
	d, err := c.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func canonical(t *testing.T, text []byte) []byte {
	t.Helper()
	out, err := jcs.Canonicalize(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// turned writes an object with its members, and those of the objects in it, in
// the reverse of their canonical order.
func turned(t *testing.T, text []byte) []byte {
	t.Helper()
	var members map[string]sayso.Args
	if err := jcs.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString(" {\n")
	names := slices.Sorted(maps.Keys(members))
	slices.Reverse(names)
	for i, name := range names {
		if i > 0 {
			out.WriteString(" ,\t")
		}
		value := bytes.TrimSpace(members[name])
		if bytes.HasPrefix(value, []byte("{")) {
			value = turned(t, value)
		}
		quoted, err := jcs.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s : %s", quoted, value)
	}
	out.WriteString("}\r\n")
	return out.Bytes()
}
