package sqlite_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

func TestPromises(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		path := place(t)
		return func(t *testing.T) sayso.Log {
			l, err := sqlite.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
	})
}
