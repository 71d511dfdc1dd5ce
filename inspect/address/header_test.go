package address_test

import (
	"testing"

	"github.com/sayso-dev/sayso/inspect/address"
)

func TestSettable(t *testing.T) {
	for header, want := range map[string]bool{
		"Authorization": true, "X-Api-Key": true, "x_key": true, "Cookie": true,
		"": false, "A B": false, "A:": false, "Hé": false, "mcp-session-id": false, "Content-Type": false, "Host": false, "Sayso-Token": false,
	} {
		if got := address.Settable(header); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}
