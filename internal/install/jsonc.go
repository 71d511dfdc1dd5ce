package install

import "bytes"

// parseLoose reads a file that may have comments, and commas behind the last
// entry, as the readers of some hosts take them. Places in the text are as they
// are in the file.
func parseLoose(text []byte) (*node, error) { return parse(bare(text)) }

// bare is text with blanks in the place of comments and of commas behind the
// last entry.
func bare(text []byte) []byte {
	out := bytes.Clone(text)
	comma := -1    // behind which nothing stood yet
	entry := false // something stood before it
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			i, comma, entry = behindString(out, i), -1, true
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := behindComment(out, i)
			blank(out[i:end])
			i = end
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case (c == '}' || c == ']') && comma >= 0:
			out[comma] = ' '
			i, comma, entry = i+1, -1, true
		case c == ',' && entry:
			i, comma, entry = i+1, i, false
		default:
			i, comma, entry = i+1, -1, c != '{' && c != '[' && c != ','
		}
	}
	return out
}

func behindString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// behindComment is where a comment ends. One that does not end is left to the
// reader, who refuses it.
func behindComment(text []byte, i int) int {
	if text[i+1] == '/' {
		if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
			return i + n
		}
		return len(text)
	}
	if n := bytes.Index(text[i+2:], []byte("*/")); n >= 0 {
		return i + 2 + n + 2
	}
	return i + 1
}

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}
