package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// VersionHeader carries the release, both ways.
const VersionHeader = "Sayso-Version"

// ChannelHeader with the value ChannelAgent says that an answering program found
// itself under an agent. It can only ever take rights away.
const (
	ChannelHeader = "Sayso-Channel"
	ChannelAgent  = "agent-process"
)

// CheckVersions reports whether a server and a client may talk: one release
// apart at most. A program that names no release, or is no release, may talk
// to any.
func CheckVersions(server, client string) error {
	s, okS := release(server)
	c, okC := release(client)
	if !okS || !okC || (s.major == c.major && max(s.minor, c.minor)-min(s.minor, c.minor) <= 1) {
		return nil
	}
	hint := "`make install` where the client is"
	if c.major > s.major || (c.major == s.major && c.minor > s.minor) {
		hint = "`make install` where the server is, and start `sayso serve` again"
	}
	return fmt.Errorf("%w: the server is %d.%d and the client %d.%d; type %s", ErrSkew, s.major, s.minor, c.major, c.minor, hint)
}

type version struct{ major, minor int }

// release reads v1.2.3 or 1.2.3; the patch does not count.
func release(s string) (v version, ok bool) {
	parts := strings.SplitN(strings.TrimPrefix(s, "v"), ".", 3)
	if len(parts) < 2 {
		return version{}, false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return version{major, minor}, err1 == nil && err2 == nil && major >= 0 && minor >= 0
}
