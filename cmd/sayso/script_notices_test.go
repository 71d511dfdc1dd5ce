package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// receiving FILE starts a receiver of notices, whose address becomes HOOK, and
// which writes what it is told into a file, a line each. While there is a file
// FILE.no it says no.
func receiving(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: receiving FILE")
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, nil, 0o600))
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := os.Stat(path + ".no"); err == nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // whoever sent it went away
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		_, _ = f.WriteString(r.Header.Get("webhook-id") + " " + strings.ReplaceAll(string(body), "\n", " ") + "\n") // a script sees what is missing
		_ = f.Close()
	}))
	ts.Defer(s.Close)
	ts.Setenv("HOOK", s.URL)
}

// received FILE N waits until a receiver was told N times.
func received(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: received FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	until(ts, func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && strings.Count(string(text), "\n") >= n
	})
}

// book is what stands in the file of what could not be delivered.
type book struct {
	Targets map[string]struct {
		Letters []struct{} `json:"letters"`
	} `json:"targets"`
}

func readBook(ts *testscript.TestScript) (b book) {
	text, err := os.ReadFile(filepath.Join(ts.Getenv("SAYSO_HOME"), "notices", "notices.json"))
	if err == nil {
		err = jcs.UnmarshalLenient(text, &b)
	}
	if err != nil && !os.IsNotExist(err) {
		ts.Fatalf("the book: %v", err)
	}
	return b
}

// begun N waits until N targets are told what waits.
func begun(ts *testscript.TestScript, neg bool, args []string) {
	n := number(ts, neg, args)
	until(ts, func() bool { return len(readBook(ts).Targets) == n })
}

// kept N waits until N notices are kept that could not be delivered.
func kept(ts *testscript.TestScript, neg bool, args []string) {
	n := number(ts, neg, args)
	until(ts, func() bool {
		letters := 0
		for _, t := range readBook(ts).Targets {
			letters += len(t.Letters)
		}
		return letters == n
	})
}

func number(ts *testscript.TestScript, neg bool, args []string) int {
	if neg || len(args) != 1 {
		ts.Fatalf("one number is wanted")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	return n
}
