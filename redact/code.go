package redact

import "strings"

// typeNames and other words that stand after a telling name in code, schemas
// and documentation, and are no secrets.
var typeNames = set(`str string int integer number bool boolean bytes any object none null nil
	undefined true false void byte char text required optional uuid float unknown never yes no
	self this inherit write read omitted redacted hidden`)

// roots begin expressions that look a value up.
var roots = set(`process os env self this args config cfg settings conf req request ctx opts options
	params props state data secrets github var local module each system environment form event
	headers body flags viper app window document localstorage sessionstorage input inputs vars
	matrix steps needs runner session response res resp result user client vault std import`)

// maxCode bounds how far an expression is read to see whether it is one.
const maxCode = 512

// codeLen returns the length of the head of an expression at the start of s
// that computes or looks up a value, or 0 if s is a value itself. A call or a
// look-up is no secret and may be what a reader must see. What is inside its
// brackets is still searched.
func codeLen(s, name string) int {
	if s == "" {
		return 0
	}
	i := 0
	for _, kw := range []string{"await ", "new ", "yield ", "async ", "typeof ", "not "} {
		if strings.HasPrefix(s, kw) {
			i += len(kw)
		}
	}
	for i < len(s) && strings.IndexByte("&*!$", s[i]) >= 0 {
		i++
	}
	n := pathLen(s[i:])
	if n == 0 {
		if s[0] == '(' && strings.Contains(s, ")") {
			return 1
		}
		return 0
	}
	path, rest := s[i:i+n], s[i+n:]
	switch {
	case strings.HasPrefix(rest, "(") && callCloses(rest), strings.HasPrefix(rest, "[") && indexes(rest):
		return i + n
	case strings.HasPrefix(rest, "{") && (strings.Contains(path, ".") || i > 0):
		return i + n
	case !ends(rest):
		return 0
	case typeNames[strings.ToLower(path)]:
		return i + n
	case strings.EqualFold(path, name[strings.LastIndexByte(name, '.')+1:]), strings.ContainsAny(path, "_") && !strings.ContainsAny(path, "0123456789.") && namesSecret(path):
		return i + n
	case strings.ContainsAny(path, ".") && roots[strings.ToLower(path[:strings.IndexByte(path, '.')])]:
		return i + n
	}
	return 0
}

// namesSecret reports whether an identifier of several words is itself the
// name of a secret, so that it refers to one and is none.
func namesSecret(path string) bool {
	return names{}.anyTelling(words(path))
}

// pathLen returns the length of identifiers joined by dots or arrows.
func pathLen(s string) int {
	i := 0
	for i < len(s) && (isAlpha(s[i]) || s[i] == '_') {
		i += span0(s[i:], isVarName)
		step := 0
		for _, sep := range []string{"?.", "->", "::", "."} {
			if strings.HasPrefix(s[i:], sep) {
				step = len(sep)
				break
			}
		}
		if step == 0 || i+step >= len(s) || !isAlpha(s[i+step]) && s[i+step] != '_' {
			return i
		}
		i += step
	}
	return i
}

// callCloses reports whether the bracket at the start of s opens a call: it
// ends the line, or is closed and followed by what may follow a call.
func callCloses(s string) bool {
	if strings.TrimSpace(s) == "(" {
		return true
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return ends(s[i+1:]) || strings.IndexByte(".?[({", s[i+1]) >= 0
			}
		}
	}
	return strings.HasSuffix(strings.TrimSpace(s), "(") || strings.HasSuffix(strings.TrimSpace(s), ",")
}

// indexes reports whether s begins with an index in quotes or digits.
func indexes(s string) bool {
	n := strings.IndexByte(s, ']')
	return n > 1 && (isQuote(s[1]) || isDigits(s[1:n]))
}

// ends reports whether an expression may end before s.
func ends(s string) bool {
	return s == "" || isSpace(s[0]) || strings.IndexByte(",;)]}|&:<>\\\"'`", s[0]) >= 0
}
