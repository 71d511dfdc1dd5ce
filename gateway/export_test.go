package gateway

// LongAnswer reports whether the pieces of a message would pass as an answer that
// is too long to be looked at whole.
func LongAnswer(pieces ...[]byte) bool {
	var o outline
	for i, piece := range pieces {
		if o.look(piece, i == len(pieces)-1) != nil {
			return false
		}
	}
	return len(pieces) > 0
}

// SetMaxMessage has messages that are longer pass in pieces, until the returned
// function is called.
func SetMaxMessage(n int) (reset func()) {
	before := maxMessage
	maxMessage = n
	return func() { maxMessage = before }
}
