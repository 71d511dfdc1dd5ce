//go:build unix

package page_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// certify writes a certificate for a name and its key, and returns the variables
// that tell the stories of them.
func certify(t *testing.T, dir, name string) (env []string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	shown, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		variable string
		block    pem.Block
	}{{"SAYSO_CERT", pem.Block{Type: "CERTIFICATE", Bytes: shown}}, {"SAYSO_KEY", pem.Block{Type: "PRIVATE KEY", Bytes: secret}}} {
		path := filepath.Join(dir, f.variable+".pem")
		if err := os.WriteFile(path, pem.EncodeToMemory(&f.block), 0o600); err != nil {
			t.Fatal(err)
		}
		env = append(env, f.variable+"="+path)
	}
	return env
}
