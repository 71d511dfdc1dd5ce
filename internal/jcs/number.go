package jcs

import (
	"bytes"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxPlainDigits is how long a whole number may be before RFC 8785 writes it
// with an exponent.
const maxPlainDigits = 21

// isNumberByte reports whether c can stand inside a JSON number.
func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

// endOfNumber returns the index after the number that starts at src[i].
func endOfNumber(src []byte, i int) int {
	for i < len(src) && isNumberByte(src[i]) {
		i++
	}
	return i
}

// isPlain reports whether a valid number is already in canonical form by being
// a short whole number, which nearly all numbers are.
func isPlain(num []byte) bool {
	digits := bytes.TrimPrefix(num, []byte("-"))
	if len(digits) == 0 || len(digits) > maxPlainDigits {
		return false
	}
	if digits[0] == '0' && len(num) > 1 { // -0, and fractions
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// fitsDouble reports whether some double holds num: it neither overflows to
// infinity nor, unless it is zero, underflows to zero. Text that is no number
// fits; the grammar is for the decoder to judge.
func fitsDouble(num []byte) bool {
	f, err := strconv.ParseFloat(string(num), 64)
	if err != nil {
		return !math.IsInf(f, 0)
	}
	return f != 0 || !hasSignificand(num)
}

// hasSignificand reports whether num has a digit other than zero before its
// exponent.
func hasSignificand(num []byte) bool {
	for _, c := range num {
		if c == 'e' || c == 'E' {
			return false
		}
		if '1' <= c && c <= '9' {
			return true
		}
	}
	return false
}

// respellNumbers appends the JSON value src to dst with every number in its
// canonical form. src must be valid.
func respellNumbers(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		end := i + 1
		switch c := src[i]; {
		case c == '"':
			end = endOfString(src, i)
		case c == '-' || '0' <= c && c <= '9':
			end = endOfNumber(src, i)
			dst = appendNumber(dst, src[i:end])
			i = end
			continue
		}
		dst = append(dst, src[i:end]...)
		i = end
	}
	return dst
}

// appendNumber appends the canonical form of num, a valid number that fits a
// double. Whole numbers keep every digit. Fractions are what their double is,
// unless that double is whole: then they keep their digits too, for else
// 0.99999999999999999999 would be the same as 1.
func appendNumber(dst, num []byte) []byte {
	if isPlain(num) {
		return append(dst, num...)
	}
	d := parseDecimal(num)
	if len(d.digits) == 0 {
		return append(dst, '0')
	}
	if d.isWhole() {
		return d.append(dst)
	}
	f, err := strconv.ParseFloat(string(num), 64)
	if err != nil || f == math.Trunc(f) {
		return d.append(dst)
	}
	return jsontext.AppendFloat(dst, f, 64)
}

// decimal is the exact value 0.DIGITS x 10^point. Its digits neither start nor
// end with a zero; zero has no digits.
type decimal struct {
	negative bool
	digits   []byte
	point    int
}

// parseDecimal reads a valid JSON number exactly.
func parseDecimal(num []byte) decimal {
	var d decimal
	num, d.negative = bytes.CutPrefix(num, []byte("-"))
	mantissa, exponent := num, 0
	if i := bytes.IndexAny(num, "eE"); i >= 0 {
		mantissa, exponent = num[:i], parseExponent(num[i+1:])
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	all := append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	significant := bytes.TrimLeft(all, "0")
	d.point = len(whole) - (len(all) - len(significant)) + exponent
	d.digits = bytes.TrimRight(significant, "0")
	return d
}

// parseExponent reads the digits after the e. A value too large for its type
// belongs to a zero, for the number is known to fit a double.
func parseExponent(text []byte) int {
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return 0
	}
	return n
}

func (d decimal) isWhole() bool { return len(d.digits) <= d.point }

// append writes d as ECMAScript writes a double (which RFC 8785 prescribes),
// but with d's own digits. d is whole or rounds to a whole number other than
// zero, so its point is never left of its digits.
func (d decimal) append(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	k, n := len(d.digits), d.point
	switch {
	case k <= n && n <= maxPlainDigits:
		return appendZeros(append(dst, d.digits...), n-k)
	case 0 < n && n <= maxPlainDigits:
		return append(append(append(dst, d.digits[:n]...), '.'), d.digits[n:]...)
	case n == 0:
		return append(append(dst, '0', '.'), d.digits...)
	}
	return d.appendExponent(dst)
}

func (d decimal) appendExponent(dst []byte) []byte {
	dst = append(dst, d.digits[0])
	if len(d.digits) > 1 {
		dst = append(append(dst, '.'), d.digits[1:]...)
	}
	return strconv.AppendInt(append(dst, 'e', '+'), int64(d.point-1), 10)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}
