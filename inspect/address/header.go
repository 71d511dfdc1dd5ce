package address

import "regexp"

var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	// ownHeader are headers that are those of the protocol of a server of tools, or of
	// the connection to it.
	ownHeader = regexp.MustCompile(`(?i)^(mcp-.*|accept|content-.*|host|connection|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*|last-event-id|sayso-.*|user-agent|expect)$`)
)

// Settable reports whether a person may name a header that a server of tools is sent:
// the protocol's, and those of the connection, are set by whoever speaks it.
func Settable(header string) bool {
	return headerName.MatchString(header) && !ownHeader.MatchString(header)
}
