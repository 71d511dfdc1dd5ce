package jcs

import "github.com/go-json-experiment/json/jsontext"

// AppendString appends s as a JSON string, in its canonical form, to dst. It
// refuses text that is not UTF-8; nothing is appended then.
func AppendString(dst []byte, s string) ([]byte, error) {
	if isPlainText(s) {
		return append(append(append(dst, '"'), s...), '"'), nil
	}
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		return dst, &SyntaxError{Reason: InvalidUTF8}
	}
	return out, nil
}

// isPlainText reports whether a string is written as it is: ASCII without
// control characters, quotes and backslashes.
func isPlainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// AppendValue appends one JSON value as [Marshal] writes one that it is given as
// text. ok is false, and nothing is appended, for none and for what Marshal
// refuses.
func AppendValue(dst, value []byte) (_ []byte, ok bool) {
	if len(value) == 0 {
		return dst, false
	}
	out, err := jsontext.AppendFormat(dst, value)
	if err != nil {
		return dst, false
	}
	return out, true
}
