package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// write puts a file in a folder.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reads is what a file holds; a missing one holds "-".
func reads(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type obj = map[string]any

// calls is a call of a tool.
func calls(t testing.TB, tool string, args any) sayso.Call {
	t.Helper()
	text, err := jcs.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return sayso.Call{Tool: tool, Args: text, Session: "s"}
}

// has reports whether an error says something; an empty text is no error.
func has(err error, text string) bool {
	if text == "" || err == nil {
		return text == "" && err == nil
	}
	return strings.Contains(err.Error(), text)
}
