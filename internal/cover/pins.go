package cover

import "github.com/sayso-dev/sayso"

// Pins is the digest of what a call named when it was judged: where its
// directory and its paths led, and what was in the files that a command runs or
// a change starts from. ok is false where not all of that is known, as for a
// command that may run files nobody can tell from its text: a remembered yes is
// then for one use. Content that a change starts from and that could not be read
// is no part of it; see [Way.Once].
func Pins(f sayso.Facts) (d sayso.Digest, ok bool) {
	parts := places(f)
	for _, o := range f.Operands {
		if !o.Digest.IsZero() {
			parts = append(parts, []byte("content"), []byte(o.Resolved), o.Digest[:])
		}
	}
	for _, file := range f.Files {
		parts = append(parts, []byte("file"), []byte(file.Path), file.Digest[:])
	}
	return pinned(parts), !f.Truncated
}

// changesUnread reports whether the call changes a file whose content is not
// known, because the file is too large or cannot be read, or because it is not
// known which file it is.
func (s *Subject) changesUnread() bool {
	if k := s.Call.EffectiveKind(); k != sayso.KindWrite && k != sayso.KindEdit {
		return false
	}
	for _, o := range s.Facts.Operands {
		if o.Digest.IsZero() && o.State != sayso.PathMissing && o.State != sayso.PathDir {
			return true
		}
	}
	return len(s.Facts.Operands) == 0 && s.Call.Known().Operand == sayso.OperandPath
}

// places are where the directory and the paths of a call led.
func places(f sayso.Facts) (parts [][]byte) {
	if f.Cwd != "" {
		parts = append(parts, []byte("cwd"), []byte(f.Cwd))
	}
	for _, o := range f.Operands {
		parts = append(parts, []byte("operand"), []byte(o.Arg), []byte(o.Resolved))
	}
	return parts
}

// pinned is the zero Digest for nothing.
func pinned(parts [][]byte) sayso.Digest {
	if len(parts) == 0 {
		return sayso.Digest{}
	}
	return sayso.HashOf("sayso/pins/1", parts...)
}
