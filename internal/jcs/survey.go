package jcs

// survey looks for what the library does not refuse by itself: nesting beyond
// MaxDepth and numbers that no double can hold. plain tells that every number
// is canonical as it stands. On text that is not JSON the answer means nothing
// and the library's own refusal is still to come; on JSON it is exact.
func survey(src []byte) (plain bool, _ error) {
	plain = true
	depth := 0
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '"':
			i = endOfString(src, i)
			continue
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return false, at(src, i, TooDeep)
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || '0' <= c && c <= '9':
			end := endOfNumber(src, i)
			if num := src[i:end]; !isPlain(num) {
				plain = false
				if !fitsDouble(num) {
					return false, at(src, i, NumberRange)
				}
			}
			i = end
			continue
		}
		i++
	}
	return plain, nil
}

// endOfString returns the index after the string whose opening quote is src[i],
// or the length of src when the string does not end.
func endOfString[T []byte | string](src T, i int) int {
	for i++; i < len(src); i++ {
		switch src[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(src)
}
