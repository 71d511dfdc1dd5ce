package gateway

// SetMaxMessage has messages that are longer pass in pieces, until the returned
// function is called.
func SetMaxMessage(n int) (reset func()) {
	before := maxMessage
	maxMessage = n
	return func() { maxMessage = before }
}
