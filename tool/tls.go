package tool

import (
	"crypto/tls"
	"crypto/x509"
)

// tlsWith checks certificates by the given authorities.
func tlsWith(roots *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}
