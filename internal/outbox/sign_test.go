package outbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/outbox"
)

// The vector is the one of the standard's own libraries.
func TestSignatures(t *testing.T) {
	at := time.Unix(1614265330, 0)
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	sign := func(secrets string) (string, error) {
		return outbox.Signatures(secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, []byte(`{"test": 2432232314}`))
	}
	if got, err := sign(secret); err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	// While a secret is replaced there are two.
	other := "whsec_" + strings.Repeat("A", 32)
	if got, err := sign(other + "\n" + secret + "\n"); err != nil || !strings.HasSuffix(got, " "+want) || strings.Count(got, "v1,") != 2 {
		t.Errorf("got %s, %v", got, err)
	}
	for _, bad := range []string{"", "\n", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_short", "whsec_", "whsec_AAAA", "whsec_" + strings.Repeat("A", 88), secret + "\nx", "whsec_!fKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		if got, err := sign(bad); err == nil || got != "" || bad != "" && strings.TrimSpace(bad) != "" && strings.Contains(err.Error(), "KQ9r8") {
			t.Errorf("%q: %q, %v", bad, got, err)
		}
	}
}
