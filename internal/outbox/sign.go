package outbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

var errSecret = errors.New("the secret must be whsec_ and 24 to 64 bytes in base64; type: echo whsec_$(head -c 32 /dev/urandom | base64)")

// signatures signs a message as Standard Webhooks says, with each of the secrets
// that stand one a line: while one is being replaced there are two.
func signatures(secrets, id string, at time.Time, body []byte) (string, error) {
	var list []string
	for line := range strings.Lines(secrets) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		encoded, ok := strings.CutPrefix(line, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) < 24 || len(key) > 64 {
			return "", errSecret
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		list = append(list, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	if len(list) == 0 {
		return "", errSecret
	}
	return strings.Join(list, " "), nil
}
