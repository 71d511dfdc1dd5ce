package address

import "strings"

// maxReadings is how often a path is decoded to see what it may become.
const maxReadings = 5

// Readings returns the paths that servers may take the path for besides Path:
// with what is escaped decoded, once or as often as there is something left to
// decode, with backslashes for slashes, with slashes in a row for one, without
// what stands behind a semicolon or a NUL, with its dot segments and without. It
// is for recognising what is forbidden. There are none for a path that every
// server reads alike; whole is false if there would be too many.
func (u URL) Readings() (paths []string, whole bool) {
	if !u.Escaped && !strings.Contains(u.Path, "//") && !strings.Contains(u.Path, ";") {
		return nil, true
	}
	for path := u.Path; len(paths) < maxReadings*4; {
		path = strings.ReplaceAll(path, `\`, "/")
		bare := withoutParameters(path)
		paths = append(paths, path, mergeSlashes(resolveDots(path)), mergeSlashes(bare), mergeSlashes(resolveDots(bare)))
		next := unescapeAll(path)
		if next == path {
			return paths, true
		}
		path = next
	}
	return paths, false
}

// withoutParameters cuts each segment at its first semicolon, and the path at
// its first NUL.
func withoutParameters(path string) string {
	path, _, _ = strings.Cut(path, "\x00")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i], _, _ = strings.Cut(s, ";")
	}
	return strings.Join(segments, "/")
}

func mergeSlashes(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}
