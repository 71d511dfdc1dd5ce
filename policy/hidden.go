package policy

import "unicode"

// isInvisible reports whether a character cannot be seen where it stands: controls,
// bidirectional and other format characters, tags, fillers.
func isInvisible(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r < 0x80:
		return false
	case r == 0x2028, r == 0x2029, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// isInvisibleInCommand is hidden, but for the blanks that a shell knows.
func isInvisibleInCommand(r rune) bool { return r != '\t' && r != '\n' && isInvisible(r) }
