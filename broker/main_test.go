package broker_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives the tests. Those inside a bubble of time cannot outlive
// their own test either: synctest would report them.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
