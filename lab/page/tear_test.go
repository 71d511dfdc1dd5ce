//go:build unix

package page_test

import (
	"fmt"
	"os"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestMain is the tests or, where a story wants that, what breaks a database as a
// failing disk does.
func TestMain(m *testing.M) {
	path, request := os.Getenv("TEAR"), os.Getenv("TEAR_REQUEST")
	if path == "" {
		os.Exit(m.Run())
	}
	if err := tear(path, request); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tear takes from a database the text of a request.
func tear(path, request string) error {
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := sqlitex.ExecuteScript(c, "DROP TRIGGER content_only_empties", nil); err != nil {
		return err
	}
	err = sqlitex.Execute(c, "UPDATE content SET body = x'7b' WHERE seq IN (SELECT seq FROM events WHERE stream = 'request/' || ?)", &sqlitex.ExecOptions{Args: []any{request}})
	if err == nil && c.Changes() == 0 {
		return fmt.Errorf("nothing is kept of request %s", request)
	}
	return err
}
